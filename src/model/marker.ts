import type { Point } from '../geo/point.js';
import type { Place } from './place.js';

export type Properties = Readonly<Record<string, unknown>>;

/** Those of some properties that have these names. */
export function pickProperties(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(properties, name)).map((name) => [name, properties[name]]),
  );
}

/** A marker as projected by the geo index: everything that a map draws. */
export interface MapMarker {
  /** Key of its collection. */
  readonly collection: string;
  readonly key: string;
  /** Exactly as given; longitude 180 stays 180. */
  readonly position: Point;
  /** Of length 10: where it is indexed. */
  readonly geohash: string;
  readonly name: string | null;
  readonly category: string | null;
  /** Raised only when a projected attribute changes; of two copies, the one with the higher version is newer. */
  readonly mapVersion: number;
  /** The map properties of the collection, others while these change, or all properties if `complete`. */
  readonly mapProperties: Properties;
  /** Whether `mapProperties` has all of the marker's properties. */
  readonly complete: boolean;
  /** When it expires, in milliseconds since 1970; missing if it does not, or if DynamoDB alone decides. */
  readonly expiresAt?: number;
  /** Its place in a hierarchy; missing in copies from indexes that do not project it. */
  readonly place?: Place;
}

/** A copy of a marker with other map properties. A marker of a page cannot be copied by `...`. */
export function withMapProperties(marker: MapMarker, mapProperties: Properties): MapMarker {
  const { collection, key, position, geohash, name, category, mapVersion, complete, expiresAt, place } = marker;
  return {
    collection,
    key,
    position,
    geohash,
    name,
    category,
    mapVersion,
    mapProperties,
    complete,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(place === undefined ? {} : { place }),
  };
}

/** A marker with all its attributes, from its base item. */
export interface Marker extends MapMarker {
  readonly properties: Properties;
  readonly place: Place;
  /** A UUID; null if the collection has no global IDs. */
  readonly globalId: string | null;
  /** Distinguishes it from earlier markers with the same key; empty if Cellport did not create it. */
  readonly incarnation: string;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}
