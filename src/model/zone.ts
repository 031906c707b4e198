import type { Bounds } from '../geo/bounds.js';
import type { Properties } from './marker.js';

/** Where a zone's geometry lies: gzipped GeoJSON in the zone's item, or an object of this name. */
export interface StoredGeometry {
  /** Positions, those that close rings included. */
  readonly vertices: number;
  /** Of the bytes as they are stored, in hexadecimal digits. */
  readonly sha256: string;
  /** Bytes as they are stored. */
  readonly bytes: number;
  /** Bytes of the GeoJSON. */
  readonly jsonBytes: number;
  readonly body: Uint8Array | undefined;
  readonly object: string | undefined;
}

/** An area or a line on the map, as its item holds it. */
export interface Zone {
  /** Key of its collection. */
  readonly collection: string;
  readonly key: string;
  /** How keys name its collection. */
  readonly scope: string;
  readonly name: string | null;
  readonly properties: Properties;
  /** The least rectangle around it; west > east where that crosses the antimeridian. */
  readonly bounds: Bounds;
  /** Geohashes of the cells that cover it. */
  readonly cells: readonly string[];
  readonly geometry: StoredGeometry;
  /** Tells it from other zones that had its key before. */
  readonly incarnation: string;
  readonly version: number;
}
