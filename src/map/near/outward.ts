import { HALF_AROUND } from '../../geo/circle.js';
import { distance } from '../../geo/distance.js';
import { cannotRead } from '../../loaders/pages/page-loader.js';
import { eachInTurns } from '../../turns.js';
import type { MapContext } from '../context.js';
import { BEGIN, type NearMarker, type NearPosition, compareNear, nearestFirst, positionOf } from './by-distance.js';
import { IndexRings } from './index-rings.js';
import { PageRings } from './page-rings.js';
import type { NearQuery, ReadRing, Rings } from './rings.js';

export interface Outward {
  /** The nearest first, at most as many as wanted. */
  readonly found: readonly NearMarker[];
  /** Where the next page resumes; undefined if nothing is left. */
  readonly resumeAfter: NearPosition | undefined;
  /** If nothing was emitted because the next ring takes too much to read at once: how far to scan it, in metres. */
  readonly scanUpTo?: number | undefined;
}

/** How many more markers than wanted a ring should have: estimates are rough, and another ring costs Query calls. */
const SPARE = 1.25;
const FEWEST = 16;
/** Base items that a filter may look up. */
const LOOKUPS = 1_000;

/**
 * Reads markers by distance, ring by ring, from pages or, while these cannot be trusted, from the geo index. A ring is read
 * completely before any of it is emitted, so that nothing unread can be nearer. It ends when enough are found, at the radius,
 * when the budget is spent, or at a ring that no page may read at once.
 */
export async function walkOutward(context: MapContext, asked: NearQuery): Promise<Outward> {
  const query = { ...asked, radius: Math.min(asked.radius, HALF_AROUND) };
  const { pages } = context.loaders;
  const open = await pages.open(query.collection);
  if (open) {
    try {
      return await new OutwardWalk(context, query).run(new PageRings(context, query, open), 1);
    } catch (error) {
      if (!cannotRead(error)) throw error;
      pages.giveUp(query.collection);
    }
  }
  return new OutwardWalk(context, query).run(new IndexRings(context, query), SPARE);
}

class OutwardWalk {
  readonly #context: MapContext;
  readonly #query: NearQuery;
  #resumeAfter: NearPosition;
  #found: NearMarker[] = [];
  #lookups = LOOKUPS;
  /** Of the markers seen, how many passed the filter. */
  #seen = 0;
  #passed = 0;

  constructor(context: MapContext, query: NearQuery) {
    this.#context = context;
    this.#query = query;
    this.#resumeAfter = query.after ?? BEGIN;
  }

  /** `spare`: how many times as many markers as are wanted a ring should have. */
  async run(rings: Rings, spare: number): Promise<Outward> {
    const { filter, wanted, radius } = this.#query;
    const { itemsPerField } = this.#context.limits;
    for (let emitted = false; ; emitted = true) {
      const { distance: from } = this.#resumeAfter;
      if (from > radius) return this.#end(undefined);
      await this.#context.turn();
      const rate = filter ? (this.#passed + 1) / (this.#seen + 1) : 1;
      const left = (wanted - this.#found.length) / rate;
      const goal = Math.min(itemsPerField / 2, spare === 1 ? left : FEWEST + spare * left);
      const ring = await rings.next({ after: this.#resumeAfter, goal, emitted });
      if ('scanUpTo' in ring) {
        if (emitted) return this.#end(this.#resumeAfter);
        return { ...this.#end(this.#resumeAfter), scanUpTo: ring.scanUpTo };
      }
      if (!(await this.#emit(await this.#inRing(ring)))) return this.#end(this.#resumeAfter);
      if (this.#found.length >= wanted) return this.#end(this.#resumeAfter);
      this.#resumeAfter = { distance: ring.to, key: null };
      if (ring.to >= radius) return this.#end(undefined);
    }
  }

  #end(resumeAfter: NearPosition | undefined): Outward {
    return { found: this.#found, resumeAfter };
  }

  /** The markers of a ring that are still to be emitted, in their order. */
  async #inRing({ to, markers }: ReadRing): Promise<NearMarker[]> {
    const { turn } = this.#context;
    const near: NearMarker[] = [];
    await eachInTurns([...markers], turn, (marker) => {
      const one = { distance: distance(this.#query.center, marker.position), marker };
      if (one.distance <= to && compareNear(positionOf(one), this.#resumeAfter) > 0) near.push(one);
    });
    await turn();
    return nearestFirst(near);
  }

  /** Adds a ring that was read completely; false if no more base items may be looked up. */
  async #emit(ring: readonly NearMarker[]): Promise<boolean> {
    const { collection, filter, wanted } = this.#query;
    for (let next = 0; next < ring.length && this.#found.length < wanted;) {
      const chunk: NearMarker[] = [];
      const unknown: NearMarker[] = [];
      for (; next < ring.length && chunk.length < wanted - this.#found.length; next++) {
        const one = ring[next];
        if (!one) break;
        const verdict = filter?.verdict(one.marker, collection) ?? 'pass';
        if (verdict === 'unknown' && unknown.length === this.#lookups) break;
        if (verdict === 'unknown') unknown.push(one);
        if (verdict !== 'fail') chunk.push(one);
        this.#resumeAfter = positionOf(one);
        this.#seen++;
      }
      this.#lookups -= unknown.length;
      const { loaders } = this.#context;
      const bases = await Promise.all(unknown.map(({ marker: { key } }) => loaders.marker({ collection, key })));
      const failed = new Set(unknown.filter((_, index) => !(bases[index] && filter?.passes(bases[index]))));
      const passing = chunk.filter((one) => !failed.has(one));
      this.#passed += passing.length;
      // A marker that moves outwards during the read is found twice; the higher map version is the newer one and counts.
      const before = new Map(this.#found.map(({ marker }) => [marker.key, marker.mapVersion]));
      const newer = passing.filter(({ marker: { key, mapVersion } }) => mapVersion > (before.get(key) ?? -Infinity));
      const again = new Set(newer.map(({ marker: { key } }) => key));
      this.#found = [...this.#found.filter(({ marker: { key } }) => !again.has(key)), ...newer];
      if (next < ring.length && this.#lookups === 0 && this.#found.length < wanted) return false;
    }
    return true;
  }
}
