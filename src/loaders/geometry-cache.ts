import { LRUCache } from 'lru-cache';

import type { ZoneGeometry } from '../geo/antimeridian.js';
import { coarsened } from '../geo/coarsen.js';
import { type Shape, coverForSearch } from '../geo/polygon.js';
import type { ZRange } from '../geo/ranges.js';
import { Simplifier } from '../geo/simplify.js';
import type { Steps } from '../geo/steps.js';
import { shapeInSteps } from '../geo/zone-geometry.js';
import { parseGeometry } from '../store/zone/zone-geometry.js';
import { inTurns, takeTurn } from '../turns.js';

/** Coarser copies of a geometry that are kept. */
const COARSENED = 6;

/**
 * A geometry in memory. Expensive derived values are computed once, on demand, for all requests that wait for them: so no
 * request's end stops that.
 */
export class LoadedGeometry {
  /** GeoJSON in UTF-8. */
  readonly json: Buffer;
  #geometry: ZoneGeometry | undefined;
  #shape: Promise<Shape> | undefined;
  #cover: Promise<readonly ZRange[]> | undefined;
  #simplifier: Promise<Simplifier> | undefined;
  /** By tolerance, the oldest first: maps ask for those of whole zooms. */
  readonly #coarsened = new Map<number, Promise<Buffer>>();

  constructor(json: Buffer) {
    this.json = json;
  }

  get geometry(): ZoneGeometry {
    this.#geometry ??= parseGeometry(this.json);
    return this.#geometry;
  }

  get shape(): Promise<Shape> {
    this.#shape ??= this.#inTurns(shapeInSteps);
    return this.#shape;
  }

  /** The ranges of Z-order that cover it. */
  get cover(): Promise<readonly ZRange[]> {
    this.#cover ??= this.shape.then((shape) => inTurns(coverForSearch(shape), takeTurn));
    return this.#cover;
  }

  /** The GeoJSON with at most `maxVertices` positions, 4 or more. */
  async simplified(maxVertices: number): Promise<Buffer> {
    if ((await this.shape).vertices <= maxVertices) return this.json;
    this.#simplifier ??= this.#inTurns((geometry) => Simplifier.of(geometry));
    return Buffer.from(JSON.stringify((await this.#simplifier).at(maxVertices)));
  }

  /** The GeoJSON without details smaller than a tolerance in degrees. */
  coarsened(tolerance: number): Promise<Buffer> {
    const known = this.#coarsened.get(tolerance);
    if (known) return known;
    const coarse = this.#inTurns((geometry) => coarsened(geometry, tolerance)).then((geometry) =>
      Buffer.from(JSON.stringify(geometry)),
    );
    for (const oldest of this.#coarsened.keys()) {
      if (this.#coarsened.size < COARSENED) break;
      this.#coarsened.delete(oldest);
    }
    this.#coarsened.set(tolerance, coarse);
    return coarse;
  }

  async #inTurns<Result>(derive: (geometry: ZoneGeometry) => Steps<Result>): Promise<Result> {
    await takeTurn();
    const { geometry } = this;
    await takeTurn();
    return inTurns(derive(geometry), takeTurn);
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
