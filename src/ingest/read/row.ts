import type { Properties } from '../../model/marker.js';
import type { RowOffset } from './row-offset.js';

/** What a row of a file says of a marker, not yet validated: the store's own rules decide on keys, positions and sizes. */
export interface MarkerRow {
  readonly key: string;
  readonly position: { readonly lng: unknown; readonly lat: unknown };
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  /** Undefined where the row says nothing of it. */
  readonly place: readonly string[] | undefined;
}

/** Why a row is not what it should be. */
export interface Reason {
  readonly reason: string;
}

/** Whether a row was not understood. */
export function isReason<C extends object>(content: C | Reason): content is Reason {
  return 'reason' in content;
}

/** What a row of markers says. */
export interface MarkerContent {
  readonly marker: MarkerRow;
}

/** One row of a file, of markers unless something else is said. */
export interface Row<C = MarkerContent> extends RowOffset {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The row as it stood in the file, for the rejects file. */
  readonly source: unknown;
  readonly content: C | Reason;
}

/** How the rows of a file in one format are read. */
export interface RowReader<C = MarkerContent> {
  /** All rows in their order, some at a time. Throws BAD_USER_INPUT where the file as a whole is none of the format. */
  rows(): AsyncGenerator<readonly Row<C>[]>;
  /** What rows say by their bytes alone, once `rows` has been through; the bytes are those of rows that were understood. */
  contents(rows: readonly Buffer[]): readonly (C | Reason)[];
}

/** What a JSON value of a file says. Throws RowFault where it is not what it should be. */
export type ReadValue<C> = (value: unknown) => C;

/** How rows are read: `keyField` names the field or property that holds the key, instead of the usual ones. */
export interface ReadOptions {
  readonly keyField?: string | undefined;
}

/** A row that cannot be a marker; the message is the reason that the rejects file gives. */
export class RowFault extends Error {}

/** What stands in a file, with the names of its fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value parsed from JSON is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs `make` and gives the row's content: what it made, or the reason of the RowFault that it threw. */
export function contentOf<C>(make: () => C): C | Reason {
  try {
    return make();
  } catch (error) {
    if (error instanceof RowFault) return { reason: error.message };
    throw error;
  }
}

/** A key of a file as text: strings as they are, whole numbers by their digits (those beyond 2^53 come as bigint). Throws RowFault. */
export function keyText(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return String(value);
  if (value === undefined || value === null || value === '') {
    throw new RowFault(`it has no ${field}, which would be its key (--key-field names another field)`);
  }
  throw new RowFault(`its ${field} is neither a text nor a whole number`);
}

/** A name or category: texts as they are, numbers and booleans as they are written, null where there is nothing. */
export function label(field: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new RowFault(`its ${field} is not a text`);
}

/**
 * A place in a hierarchy, where a value is one: a list of texts. Files have fields called `place` that hold all sorts of
 * other things, and those are properties.
 */
function placeIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string') ? value : undefined;
}

/** The fields without those that were used for something else. */
export function without(fields: Fields, used: readonly (string | undefined)[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.includes(name)));
}

/** The member of a Feature that holds a marker's name, category and place where they are not among its properties. */
export const OWN_MEMBER = 'cellport';

/** A name or category in that member, in which an empty text is one. */
export function ownLabel(field: string, value: unknown): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  throw new RowFault(`the ${field} in its member ${OWN_MEMBER} is not a text`);
}

/** What a Feature says of its marker beside key and position. Throws RowFault. */
function contentOfFeature(
  own: unknown,
  properties: Fields,
): Pick<MarkerRow, 'name' | 'category' | 'place' | 'properties'> {
  if (isFields(own)) {
    const { name, category, place = [] } = own;
    const names = placeIn(place);
    if (names === undefined) throw new RowFault(`the place in its member ${OWN_MEMBER} is no list of texts`);
    return { name: ownLabel('name', name), category: ownLabel('category', category), place: names, properties };
  }
  const place = placeIn(properties['place']);
  return {
    name: label('name', properties['name']),
    category: label('category', properties['category']),
    place,
    properties: without(properties, ['name', 'category', ...(place === undefined ? [] : ['place'])]),
  };
}

/** A Feature's geometry, key and properties. Throws RowFault where it is none. */
export function partsOfFeature(feature: unknown, { keyField }: ReadOptions) {
  if (!isFields(feature) || feature['type'] !== 'Feature') throw new RowFault('it is no GeoJSON Feature');
  const { geometry } = feature;
  if (!isFields(geometry)) throw new RowFault('the feature has no geometry');
  const properties = feature['properties'] ?? {};
  if (!isFields(properties)) throw new RowFault('its properties are no object');
  return {
    geometry,
    /** Read when it is asked for: what is wrong with the geometry is told first. */
    key: () => (keyField === undefined ? keyText('id', feature['id']) : keyText(keyField, properties[keyField])),
    properties,
    own: feature[OWN_MEMBER],
  };
}

/**
 * A marker from a GeoJSON Feature: its `id` is the key, `name` and `category` come from its properties, the rest are
 * properties. Where it has a member `cellport`, as `export` writes it, that tells name, category and place, and all
 * properties are properties. An altitude is left out. Throws RowFault.
 */
export function markerOfFeature(feature: unknown, options: ReadOptions): MarkerRow {
  const { geometry, key, properties, own } = partsOfFeature(feature, options);
  if (geometry['type'] !== 'Point') {
    throw new RowFault(
      `its geometry is a ${String(geometry['type'])}; a marker is a Point (--zones imports areas and lines)`,
    );
  }
  const { coordinates } = geometry;
  if (!Array.isArray(coordinates) || coordinates.length < 2) throw new RowFault('its Point has no coordinates');
  return {
    key: key(),
    position: { lng: coordinates[0] as unknown, lat: coordinates[1] as unknown },
    ...contentOfFeature(own, properties),
  };
}

/** Under which names the parts of a marker stand in a table or a flat object, the first that is there wins. */
export const FIELD_NAMES = {
  key: ['key', 'id'],
  lng: ['lng', 'lon', 'long', 'longitude', 'x'],
  lat: ['lat', 'latitude', 'y'],
  name: ['name'],
  category: ['category'],
  place: ['place'],
} as const;

/** Which field of a file holds which part of a marker. */
export type FieldMap = Readonly<Partial<Record<keyof typeof FIELD_NAMES, string>>>;

/** For each part, the first of its names that is among the names of fields, whatever their case and the blanks around them. */
export function findFields<Part extends string>(
  names: readonly string[],
  partNames: Readonly<Record<Part, readonly string[]>>,
): Partial<Record<Part, string>> {
  const byPlainName = new Map<string, string>();
  for (const name of names) {
    const plain = name.trim().toLowerCase();
    if (!byPlainName.has(plain)) byPlainName.set(plain, name);
  }
  const found: Partial<Record<Part, string>> = {};
  for (const part of Object.keys(partNames) as Part[]) {
    const hit = partNames[part].find((name) => byPlainName.has(name));
    const name = hit === undefined ? undefined : byPlainName.get(hit);
    if (name !== undefined) found[part] = name;
  }
  return found;
}

/** Finds the parts of a marker among the names of fields. `keyField`, where given, must be among them as it is written. */
export function mapFields(names: readonly string[], { keyField }: ReadOptions): FieldMap {
  const found = findFields(names, FIELD_NAMES);
  if (keyField !== undefined) {
    delete found.key;
    if (names.includes(keyField)) found.key = keyField;
  }
  return found;
}

/** A marker from named fields, e.g. a row of a table; what `map` does not name is a property. Throws RowFault. */
export function markerOfFields(fields: Fields, map: FieldMap, { keyField }: ReadOptions): MarkerRow {
  const value = (part: keyof typeof FIELD_NAMES): unknown => (map[part] === undefined ? undefined : fields[map[part]]);
  const place = placeIn(value('place'));
  const { key, place: placeField, ...others } = map;
  // A field that was named as the key stays a property, as it does in GeoJSON; so does a `place` that is none.
  const used = [...Object.values(others), keyField === undefined ? key : undefined, place && placeField];
  return {
    key: keyText(keyField ?? key ?? 'key', value('key')),
    position: { lng: value('lng'), lat: value('lat') },
    name: label('name', value('name')),
    category: label('category', value('category')),
    properties: without(fields, used),
    place,
  };
}
