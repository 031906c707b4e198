import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

import type { ZoneGeometry } from '../geo/antimeridian.js';
import { coarsened } from '../geo/coarsen.js';
import type { ZRange } from '../geo/geohash.js';
import { coverForSearch, type Shape } from '../geo/polygon.js';
import { Simplifier } from '../geo/simplify.js';
import type { Steps } from '../geo/steps.js';
import { shapeInSteps } from '../geo/zone-geometry.js';
import { ownBuffer } from '../model/memory.js';
import { inTurns, type Turn } from '../scheduling/turns.js';
import { parseGeometry } from '../store/zone/zone-geometry.js';
import { CacheUse } from './cache-use.js';
import { remembered } from './remembered.js';

/** A geometry is parsed for a coarse copy only when its turn comes: those of the world at once would take 150 MB. */
const oneAtATime = pLimit(1);

/**
 * A geometry in memory. Expensive derived values are computed once, on demand, for all requests that wait for them, so
 * the end of one request does not abort the computation.
 */
export class LoadedGeometry {
  /** GeoJSON in UTF-8. */
  readonly json: Buffer;
  /** The hash by which it is cached. */
  readonly sha256: string;
  readonly #turn: Turn;
  #geometry: ZoneGeometry | undefined;
  #shape: Promise<Shape> | undefined;
  #cover: Promise<readonly ZRange[]> | undefined;
  #simplifier: Promise<Simplifier> | undefined;
  /** Copies being computed, by tolerance. */
  readonly #coarsening = new Map<number, Promise<Buffer>>();

  constructor(json: Buffer, sha256: string, turn: Turn) {
    this.json = json;
    this.sha256 = sha256;
    this.#turn = turn;
  }

  get geometry(): ZoneGeometry {
    this.#geometry ??= parseGeometry(this.json);
    return this.#geometry;
  }

  get shape(): Promise<Shape> {
    this.#shape ??= this.#inTurns(shapeInSteps);
    return this.#shape;
  }

  /** Z-order ranges that cover it. */
  get cover(): Promise<readonly ZRange[]> {
    this.#cover ??= this.shape.then((shape) => inTurns(coverForSearch(shape), this.#turn));
    return this.#cover;
  }

  /** The GeoJSON with at most `maxVertices` positions, 4 or more. */
  async simplified(maxVertices: number): Promise<Buffer> {
    if ((await this.shape).vertices <= maxVertices) return this.json;
    this.#simplifier ??= this.#inTurns((geometry) => Simplifier.of(geometry));
    const simplifier = await this.#simplifier;
    // All who wait for it resume at once.
    await this.#turn();
    return Buffer.from(JSON.stringify(simplifier.at(maxVertices)));
  }

  /** The GeoJSON without details smaller than a tolerance in degrees. */
  coarsened(tolerance: number): Promise<Buffer> {
    return remembered(this.#coarsening, tolerance, () =>
      oneAtATime(() => this.#coarse(tolerance)).finally(() => this.#coarsening.delete(tolerance)),
    );
  }

  async #coarse(tolerance: number): Promise<Buffer> {
    await this.#turn();
    const geometry = this.#geometry ?? parseGeometry(this.json);
    await this.#turn();
    return ownBuffer(JSON.stringify(await inTurns(coarsened(geometry, tolerance), this.#turn)));
  }

  async #inTurns<Result>(derive: (geometry: ZoneGeometry) => Steps<Result>): Promise<Result> {
    await this.#turn();
    const { geometry } = this;
    await this.#turn();
    return inTurns(derive(geometry), this.#turn);
  }
}

export const coarseName = (sha256: string, tolerance: number): string => `${sha256} ${tolerance}`;

/** Memory for a position of a geometry: its numbers, those of its shape, and what simplifies it. */
const POSITION_BYTES = 260;
/** Overhead of an entry, and of one with the ranges that cover it. */
const ENTRY_BYTES = 200;
const COVER_BYTES = 20_000;

/** The approximate memory of a geometry with everything derived from it: each of its positions is a list. */
function bytesOf({ json }: LoadedGeometry): number {
  let lists = 0;
  for (let at = json.indexOf('['); at >= 0; at = json.indexOf('[', at + 1)) lists += 1;
  return COVER_BYTES + json.length + POSITION_BYTES * lists;
}

/**
 * Share of the cache for coarse copies: those of the world for several zooms, whose full geometries would exceed the
 * whole cache.
 */
const COARSE_SHARE = 1 / 4;

/**
 * Creates a cache of geometries for all requests of a process, by the hash of their bytes, so entries never become
 * stale. It is limited in bytes; with 0, no geometry fits into it.
 */
export function createGeometryCache({ maxBytes }: { readonly maxBytes: number }) {
  const use = new CacheUse();
  const geometries = new LRUCache<string, LoadedGeometry>({
    maxSize: Math.ceil(maxBytes * (1 - COARSE_SHARE)) || 1,
    sizeCalculation: bytesOf,
  });
  /** GeoJSON without details smaller than a tolerance, by `coarseName`. */
  const coarse = new LRUCache<string, Buffer>({
    maxSize: Math.ceil(maxBytes * COARSE_SHARE) || 1,
    sizeCalculation: (json) => json.length + ENTRY_BYTES,
  });
  const figures = () => use.figures(geometries.calculatedSize + coarse.calculatedSize);
  return { geometries, coarse, use, figures };
}

export type GeometryCache = ReturnType<typeof createGeometryCache>;
