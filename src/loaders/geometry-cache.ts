import { LRUCache } from 'lru-cache';

import type { ZoneGeometry } from '../geo/antimeridian.js';
import type { Shape } from '../geo/polygon.js';
import { Simplifier } from '../geo/simplify.js';
import { shapeOfGeometry } from '../geo/zone-geometry.js';
import { parseGeometry } from '../store/zone/zone-geometry.js';

/** A geometry in memory. Expensive derived values are computed once, on demand. */
export class LoadedGeometry {
  /** GeoJSON in UTF-8. */
  readonly json: Buffer;
  #geometry: ZoneGeometry | undefined;
  #shape: Shape | undefined;
  #simplifier: Simplifier | undefined;

  constructor(json: Buffer) {
    this.json = json;
  }

  get geometry(): ZoneGeometry {
    this.#geometry ??= parseGeometry(this.json);
    return this.#geometry;
  }

  get shape(): Shape {
    this.#shape ??= shapeOfGeometry(this.geometry);
    return this.#shape;
  }

  /** The GeoJSON with at most `maxVertices` positions, 4 or more. */
  simplified(maxVertices: number): Buffer {
    if (this.shape.vertices <= maxVertices) return this.json;
    this.#simplifier ??= new Simplifier(this.geometry);
    return Buffer.from(JSON.stringify(this.#simplifier.at(maxVertices)));
  }
}

/** Geometry shared by all requests of a process, by the hash of its bytes, so entries never go stale. */
export interface GeometryCache {
  get(sha256: string): LoadedGeometry | undefined;
  put(sha256: string, geometry: LoadedGeometry): void;
}

/** Bytes of memory that a byte of GeoJSON may come to: the text, its numbers, and an index of its edges. */
const BYTES_A_BYTE = 6;

/** A cache with a bound in bytes, 0 for none at all. */
export function createGeometryCache({ maxBytes }: { readonly maxBytes: number }): GeometryCache {
  const entries =
    maxBytes > 0
      ? new LRUCache<string, LoadedGeometry>({
          maxSize: maxBytes,
          sizeCalculation: ({ json }) => BYTES_A_BYTE * json.length + 200,
        })
      : null;
  return {
    get: (sha256) => entries?.get(sha256),
    put: (sha256, geometry) => void entries?.set(sha256, geometry),
  };
}
