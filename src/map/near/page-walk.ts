import { leastDistance } from '../../geo/circle.js';
import { cellBounds, GEOHASH_ALPHABET, type ZRange } from '../../geo/geohash.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { MapMarker } from '../../model/marker.js';
import { partitionRange } from '../../pages/directory.js';
import { MARKERS_AN_ITEM } from '../../pages/ordered-marker.js';
import { PagesOutward, type PageAhead } from '../../pages/outward.js';
import { planChosen, type PlannedRead } from '../../pages/plan-reads.js';
import { passing } from '../../read/passing.js';
import type { SearchContext, SearchedPages } from '../../read/search.js';
import { eachInTurns } from '../../scheduling/turns.js';
import {
  compareNear,
  nearMarker,
  type NearMarker,
  type NearPosition,
  type NearQuery,
  type NearResult,
} from './by-distance.js';

/** The greatest error of a distance, in meters. */
const TOLERANCE = 1;
/** So far around the center, in meters, the directory is read at least. */
const DIRECTORY_AHEAD = 1_000_000;
/** Pages of a batch after the first: at least so many, and so many times those that were read before it. */
const LEAST_PAGES = 8;
const GROWTH = 4;
/** Most requests of a batch: for a few markers, and one more for so many of them. */
const FEW_REQUESTS = 2;
const MARKERS_A_REQUEST = 50;
/** Base items that a filter may look up. */
const LOOKUPS = 1_000;

/**
 * Reads markers by distance from pages, those first whose stretch is nearest (Hjaltason and Samet 1999), in growing
 * batches: until no unread page can have a nearer marker than those wanted, or until the budget is spent.
 */
export class PageWalk {
  readonly #context: SearchContext;
  readonly #query: NearQuery;
  readonly #pages: SearchedPages;
  /** When the walk began: a later one may move a marker to where the walk has passed. */
  readonly #recent: readonly { readonly mapVersion: number; readonly key: string; readonly near?: NearMarker }[];
  readonly #ahead: PagesOutward;
  /** Partitions whose directory is not read, the nearest last. */
  readonly #partitions: { readonly range: ZRange; readonly far: number }[];
  /** Markers of all pages that were read, by key. */
  readonly #markers = new Map<string, NearMarker>();
  readonly #done: PlannedRead[] = [];
  #pagesRead = 0;
  #resumeAfter: NearPosition;
  #found: NearMarker[] = [];
  /** Those that were found, or do not match the filter. */
  readonly #decided = new Set<NearMarker>();
  #lookups = LOOKUPS;
  /** Of the markers seen, how many passed the filter. */
  #seen = 0;

  constructor(context: SearchContext, query: NearQuery, pages: SearchedPages) {
    const { center, cursor } = query;
    this.#context = context;
    this.#query = query;
    this.#pages = pages;
    // Made once, because decisions are remembered by object.
    this.#recent = Array.from(pages.recent.values(), ({ entry, ...write }) => {
      return entry ? { ...write, near: nearMarker(center, entry.marker) } : write;
    });
    this.#resumeAfter = cursor.resumeAfter;
    this.#ahead = new PagesOutward(center, cursor.resumeAfter.distance);
    this.#partitions = Array.from(GEOHASH_ALPHABET, (partition) => ({
      range: partitionRange(partition),
      far: leastDistance(center, cellBounds(partition)),
    })).sort((a, b) => b.far - a.far);
  }

  async run(): Promise<NearResult> {
    const { filter, wanted, radius } = this.#query;
    for (;;) {
      const rate = filter ? (this.#found.length + 1) / (this.#seen + 1) : 1;
      const to = await this.#reach(Math.ceil((wanted - this.#found.length) / rate));
      const isWhole = to !== undefined && (await this.#emit(to));
      if (isWhole && to >= radius) return { found: this.#found, rest: undefined };
      if (!isWhole || this.#found.length >= wanted) break;
    }
    return { found: this.#found, rest: { resumeAfter: this.#resumeAfter } };
  }

  /**
   * Reads until all markers up to the distance that is returned are known, and so many of them are still to be emitted,
   * if there are; up to a lesser distance if the budget ends. Undefined if nothing more can be known.
   */
  async #reach(goal: number): Promise<number | undefined> {
    const { radius, budget } = this.#query;
    for (;;) {
      const left = [...this.#markers.values()].filter((one) => compareNear(one, this.#resumeAfter) > 0);
      const last = left.map(({ distance: far }) => far).sort((a, b) => a - b)[goal - 1];
      const enough = Math.min(radius, last ?? Infinity);
      const next = await this.#next(enough);
      if (!next) return enough;
      if (next.gap || budget.calls < 1 || budget.items < 1) {
        const to = next.distance - TOLERANCE;
        return to > this.#resumeAfter.distance ? to : undefined;
      }
      await this.#readBatch(enough, goal, goal - left.length);
    }
  }

  /**
   * The nearest unread page, if it may have markers within a distance; a gap in the directory if the budget does not
   * allow reading it.
   */
  async #next(distanceTo: number): Promise<PageAhead | undefined> {
    for (;;) {
      const page = this.#ahead.peek();
      const nearest = this.#partitions.at(-1);
      const far = Math.min(page?.distance ?? Infinity, distanceTo + TOLERANCE);
      if (nearest && nearest.far <= far) {
        await this.#begin(Math.min(distanceTo + TOLERANCE, Math.max(2 * nearest.far, DIRECTORY_AHEAD)));
        continue;
      }
      if (!page || page.distance > far) return undefined;
      if (!page.gap || this.#query.budget.calls < 2) return page;
      await this.#open([page.gap], Infinity);
    }
  }

  /** Reads the directories of the partitions within a distance, or their first parts if they are long. */
  async #begin(distanceTo: number): Promise<void> {
    const first = this.#partitions.findIndex((partition) => partition.far <= distanceTo);
    const ranges = this.#partitions.splice(first).map(({ range }) => range);
    ranges.sort((a, b) => a.from - b.from);
    await this.#open(ranges, 0);
  }

  async #open(ranges: readonly ZRange[], markers: number): Promise<void> {
    const { directory } = await this.#pages.directory(ranges, markers, this.#query.budget);
    for (const [partition, pages] of directory) this.#ahead.add(partition, pages);
  }

  /**
   * Reads the nearest pages: as many as may have the markers that are missing, and further ones that may have nearer
   * ones.
   */
  async #readBatch(distanceTo: number, goal: number, missing: number): Promise<void> {
    const { budget } = this.#query;
    const few = this.#pagesRead === 0 ? 1 : Math.max(LEAST_PAGES, GROWTH * this.#pagesRead);
    const most = REQUEST_LIMITS.batchGet * budget.calls;
    const chosen: PageAhead[] = [];
    let expected = 0;
    for (;;) {
      const next = await this.#next(distanceTo);
      if (!next || next.gap || chosen.length >= most) break;
      if (chosen.length > 0 && expected >= MARKERS_AN_ITEM * budget.items) break;
      if (chosen.length >= few && expected >= missing) break;
      this.#ahead.take(next);
      chosen.push(next);
      expected += next.page.markers;
    }
    this.#pagesRead += chosen.length;
    const calls = Math.min(budget.calls, FEW_REQUESTS + Math.floor(goal / MARKERS_A_REQUEST));
    await this.#read(planChosen(chosen, calls));
  }

  async #read(reads: readonly PlannedRead[]): Promise<void> {
    const { center, budget } = this.#query;
    const { entries } = await this.#pages.read(reads, this.#done, budget);
    this.#done.push(...reads);
    const versionOf = (key: string) => this.#markers.get(key)?.marker.mapVersion ?? -1;
    const add = (marker: MapMarker) => this.#markers.set(marker.key, nearMarker(center, marker));
    await eachInTurns(entries, this.#context.turn, ({ marker }) => {
      if (marker.mapVersion > versionOf(marker.key)) add(marker);
    });
    for (const { key, mapVersion, near } of this.#recent) {
      if (versionOf(key) > mapVersion) continue;
      if (near) this.#markers.set(key, near);
      else this.#markers.delete(key);
    }
  }

  /**
   * Emits what is still to be emitted up to a distance; false if it ends before, with what is wanted or with the last
   * look-up.
   */
  async #emit(to: number): Promise<boolean> {
    const { collection, cursor, filter, wanted } = this.#query;
    // A marker that has moved since it was emitted is where it was found last.
    this.#found = this.#found.filter((one) => this.#markers.get(one.marker.key) === one);
    const isLeft = (one: NearMarker) =>
      one.distance <= to && !this.#decided.has(one) && compareNear(one, cursor.resumeAfter) > 0;
    const ring = [...this.#markers.values()].filter(isLeft).sort(compareNear);
    for (let next = 0; next < ring.length;) {
      const chunk = ring.slice(next, next + Math.max(1, wanted - this.#found.length));
      const [nearest] = chunk;
      const last = this.#found[wanted - 1];
      // Nearer ones may have been seen since the connection was full.
      if (!nearest || (last && compareNear(nearest, last) > 0)) return false;
      await this.#context.turn();
      const { passed, decided, lookups } = await passing(this.#context, collection, filter, chunk, this.#lookups);
      const farthest = chunk[decided - 1];
      if (!farthest) return this.#endBefore(nearest);
      this.#found = [...this.#found, ...passed].sort(compareNear);
      for (const one of chunk.slice(0, decided)) this.#decided.add(one);
      this.#lookups -= lookups;
      this.#seen += decided;
      if (compareNear(farthest, this.#resumeAfter) > 0) this.#resumeAfter = farthest;
      next += decided;
    }
    this.#resumeAfter = { distance: to, key: null };
    return true;
  }

  /**
   * Leaves a marker that could not be decided to the next connection, with what lies beyond it and was emitted before.
   */
  #endBefore(left: NearPosition): false {
    if (compareNear(this.#resumeAfter, left) < 0) return false;
    const nearer = [...this.#decided].filter((one) => compareNear(one, left) < 0);
    const end = nearer.sort(compareNear).at(-1) ?? this.#query.cursor.resumeAfter;
    this.#found = this.#found.filter((one) => compareNear(one, end) <= 0);
    this.#resumeAfter = end;
    return false;
  }
}
