import { withMapProperties, type MapMarker, type Marker, type Properties } from './marker.js';

/** What a principal may do with a collection. `record` is to store readings, `admin` to change the collection itself. */
export const ACTIONS = ['read', 'write', 'record', 'admin'] as const;
export type Action = (typeof ACTIONS)[number];

/** The properties that copies of a collection's markers have. */
export interface Drawn {
  readonly mapProperties: readonly string[];
}

/** Decides which markers match. */
export interface MarkerFilter {
  /** Whether a marker matches according to its copy in the index; `unknown` if only the base item can tell. */
  verdict(marker: MapMarker, collection: Drawn): 'pass' | 'fail' | 'unknown';
  /** Whether a marker matches according to its base item. */
  passes(marker: Marker): boolean;
}

/** The part of a collection that the principal of a request may see or change. */
export interface Grant {
  /** Which of its markers; undefined for all. */
  readonly rows: MarkerFilter | undefined;
  /** Names of properties that do not exist for the principal. */
  readonly hidden: ReadonlySet<string>;
  /** What encrypts cursors that may tell of markers that the principal does not see. The same for all. */
  readonly cursorSecret: Uint8Array;
  /** The largest marker that the principal may write, in bytes; undefined for any. */
  readonly bytesPerMarker?: number | undefined;
  /** Throws if there is no room for what some writes add. Called before the first of them. */
  readonly admit?: ((writes: () => readonly GrantedWrite[]) => Promise<void>) | undefined;
}

/** The item of a marker before and after a write; undefined if it does not exist. */
export interface GrantedWrite {
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>> | undefined;
}

/** Those of some properties that exist for the principal. */
export const shownProperties = ({ hidden }: Grant, properties: Properties): Properties =>
  hidden.size === 0 ? properties : Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name)));

/** The properties of a marker or zone that are hidden from the principal: its changes leave them as they are. */
export const hiddenOf = ({ grant }: Granted, { properties }: { readonly properties: Properties }): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => grant?.hidden.has(name)));

/** What may be granted in part: see `Collection`. */
interface Granted {
  readonly grant?: Grant | undefined;
}

/** A marker without the properties that are hidden from the principal. */
export function withoutHidden<M extends MapMarker>({ grant }: Granted, marker: M): M {
  if (grant === undefined || grant.hidden.size === 0) return marker;
  const mapProperties = shownProperties(grant, marker.mapProperties);
  if (!('properties' in marker)) return withMapProperties(marker, mapProperties) as M;
  return { ...marker, mapProperties, properties: shownProperties(grant, marker.properties as Properties) };
}

/** What a principal may do with each collection. */
export interface Grants {
  /** The part of the collection with this key that the action is allowed on; undefined if it is not. */
  grant(action: Action, key: string): Grant | undefined;
  /** Keys of the collections that may be read, or beginnings of keys and `*`; undefined if all of them may be, whole. */
  readonly readable: readonly string[] | undefined;
}

/** Whether the principal's rows have a marker. */
export const isInRows = ({ grant }: Granted, marker: Marker): boolean => grant?.rows?.passes(marker) ?? true;

/** A marker as the principal sees it; null if it is not in its rows. */
export const seen = (collection: Granted, marker: Marker | null): Marker | null =>
  marker !== null && isInRows(collection, marker) ? withoutHidden(collection, marker) : null;

/** Whether stored counts, which are of all markers, are those of a question. */
export const isCounted = ({ grant }: Granted, filter?: MarkerFilter): boolean =>
  filter === undefined && grant?.rows === undefined;

/** Whether a principal sees less than all of a collection. */
export const isPartial = ({ grant }: Granted): boolean =>
  grant !== undefined && (grant.rows !== undefined || grant.hidden.size > 0);

/**
 * The filter of a question, for the principal's rows. `passes` leaves them to what reads base items, which returns only
 * markers as the principal sees them.
 */
export function withinRows(collection: Granted, filter: MarkerFilter | undefined): MarkerFilter | undefined {
  const { rows, hidden } = collection.grant ?? {};
  if (rows === undefined && (hidden === undefined || filter === undefined)) return filter;
  return {
    verdict(marker, of) {
      const own = rows?.verdict(marker, of) ?? 'pass';
      const asked = own === 'fail' ? own : (filter?.verdict(withoutHidden(collection, marker), of) ?? 'pass');
      return asked === 'fail' || own === 'pass' ? asked : own;
    },
    passes: (marker) => filter?.passes(marker) ?? true,
  };
}

/** Markers that match one of several filters. */
export const anyOf = (filters: readonly MarkerFilter[]): MarkerFilter => ({
  verdict(marker, of) {
    const verdicts = filters.map((filter) => filter.verdict(marker, of));
    return verdicts.includes('pass') ? 'pass' : verdicts.includes('unknown') ? 'unknown' : 'fail';
  },
  passes: (marker) => filters.some((filter) => filter.passes(marker)),
});
