import { LRUCache } from 'lru-cache';

import type { ZoneGeometry } from '../geo/antimeridian.js';
import { type Shape, coverForSearch } from '../geo/polygon.js';
import type { ZRange } from '../geo/ranges.js';
import { Simplifier } from '../geo/simplify.js';
import type { Steps } from '../geo/steps.js';
import { shapeInSteps } from '../geo/zone-geometry.js';
import { parseGeometry } from '../store/zone/zone-geometry.js';
import { inTurns, takeTurn } from '../turns.js';

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
