import { normalizeBounds, type Bounds } from '../../src/geo/bounds.js';
import type { View } from '../rig/places.js';

/** The three questions that a map asks. */
export const KINDS = ['markers', 'auto', 'count'] as const;
export type Kind = (typeof KINDS)[number];

/** Maximum number of markers of an answer; `auto` gives clusters if there would be more. */
export const MOST: Readonly<Record<Kind, number>> = { markers: 2_000, auto: 300, count: 0 };
/** Distance in px below which clusters are merged. */
export const RADIUS = 60;

/** A marker as every side answers with it. */
export interface PeerMarker {
  readonly key: string;
  readonly name: string | null;
  readonly category: string | null;
  readonly position: { readonly lng: number; readonly lat: number };
}

/** What an answer says, in one form for all sides: keys, sorted, or clusters' counts. */
export interface Said {
  readonly keys?: readonly string[];
  readonly count?: number;
}

/** The rectangles of a view, none of which crosses the antimeridian. */
export function rectanglesOf({ bounds }: View): readonly Bounds[] {
  // An end at exactly 180 is a line at -180 for Cellport; the others keep 180 as it is.
  return normalizeBounds('bounds', bounds).parts.flatMap((part) =>
    part.west === -180 && part.east === -180 ? [part, { ...part, west: 180, east: 180 }] : [part],
  );
}

const sortedKeys = (markers: readonly PeerMarker[]) => markers.map(({ key }) => key).sort();

/** What markers say of which there may be more than were asked for: then any of them are right. */
export const saidOf = (markers: readonly PeerMarker[], most: number): Said =>
  markers.length >= most ? { count: most } : { keys: sortedKeys(markers) };
