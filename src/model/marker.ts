import type { Bounds, Point } from '../geo/bounds.js';
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

/** When the first of some markers expires, in milliseconds since 1970; Infinity for never. */
export const firstExpiry = (markers: readonly Pick<MapMarker, 'expiresAt'>[]): number =>
  markers.reduce((first, { expiresAt = Infinity }) => Math.min(first, expiresAt), Infinity);

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

/** What a zone's item says about its geometry, wherever that is stored. */
export interface GeometryFacts {
  /** Number of positions, including those that close rings. */
  readonly vertices: number;
  /** Hash of the stored bytes, in hexadecimal. */
  readonly sha256: string;
  /** Number of stored bytes. */
  readonly bytes: number;
  /** Number of bytes of the uncompressed GeoJSON. */
  readonly jsonBytes: number;
}

/** Where a zone's geometry is stored: as gzipped GeoJSON in the zone's item, or in an object of this name. */
export interface StoredGeometry extends GeometryFacts {
  readonly body: Uint8Array | undefined;
  readonly object: string | undefined;
}

/** An area or a line on the map, from its item. */
export interface Zone {
  /** Key of its collection. */
  readonly collection: string;
  readonly key: string;
  /** The name of its collection in keys. */
  readonly scope: string;
  readonly name: string | null;
  readonly properties: Properties;
  /** Its bounding box; west > east if it crosses the antimeridian. */
  readonly bounds: Bounds;
  /** Geohashes of the cells that cover it. */
  readonly cells: readonly string[];
  readonly geometry: StoredGeometry;
  /** Distinguishes it from earlier zones with the same key. */
  readonly incarnation: string;
  readonly version: number;
}
