import type { Bounds } from '../geo/bounds.js';
import type { Properties } from './marker.js';

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
