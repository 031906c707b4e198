import { FINEST_STORED } from '../../model/cell.js';
import { HALF_AROUND, circleArea, ringRelation } from '../../geo/circle.js';
import { distance } from '../../geo/distance.js';
import { cellBounds, latBits } from '../../geo/geohash.js';
import type { Point } from '../../geo/point.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { rangeKeys } from '../../plan/explain.js';
import type { KnownCounts, PlannedRange } from '../../plan/markers.js';
import { type Expected, type Ring, distanceFor, expectedAround, planRing } from '../../plan/rings.js';
import { cellsOfBlock, knownCounts } from '../cells/known-counts.js';
import type { MapContext } from '../context.js';
import type { MarkerFilter } from '../filter.js';
import { eachInTurns } from '../../turns.js';
import { BEGIN, type NearMarker, type NearPosition, compareNear, nearestFirst, positionOf } from './by-distance.js';

export interface NearQuery {
  readonly collection: Collection;
  readonly center: Point;
  /** In metres. */
  readonly radius: number;
  /** Only markers after this position. */
  readonly after?: NearPosition | undefined;
  readonly filter?: MarkerFilter | undefined;
  readonly wanted: number;
  readonly budget: Budget;
  /** Query calls of the budget that only a first ring may spend. */
  readonly reserve: number;
}

export interface Outward {
  /** The nearest first, at most as many as wanted. */
  readonly found: readonly NearMarker[];
  /** Where the next page resumes; undefined if nothing is left. */
  readonly resumeAfter: NearPosition | undefined;
  /** If nothing was emitted because the next ring takes too much to read at once: how far to scan it, in metres. */
  readonly scanUpTo?: number | undefined;
}

/** How far to read counts at first, and how much farther each time: once for anything up to 50 km. */
const FIRST_LOOK = 50_000;
const FARTHER = 16;
/** Query calls that one read of coarse counts, and one of finer ones, may take. */
const COUNT_RANGES = 4;
/** More than this are worth finer counts. */
const WORTH_FINER = 64;
/** The first ring if nothing is known, in metres, and how much wider the next may be. */
const FIRST_RING = 1_500;
const WIDER = 8;
const NARROWEST = 15;
/** How many more markers than wanted a ring should have: estimates are rough, and another ring costs Query calls. */
const SPARE = 1.25;
const FEWEST = 16;
/** Minimum number of markers of one range that are read at once. */
const ITEMS = 1_000;
/** How often a ring with too many markers is made narrower. */
const NARROWINGS = 8;
/** Base items that a filter may look up. */
const LOOKUPS = 1_000;

/** How often a ring is halved that takes too many Query calls, and how many of its cells may be read. */
const HALVINGS = 12;
const LEAST_HALVINGS = 3;
const REFINED = 200;

/** Markers that a ring scanned over several pages should have: as many as a cursor can keep. */
const SCANNED = 128;
/** The width of such a ring in partitions if nothing is known: the narrowest ring crosses half as many. */
const SCANNED_PARTITIONS = 1;

/** What is known of the markers up to a distance. */
interface NearCounts {
  readonly upTo: number;
  readonly counts: KnownCounts | undefined;
  readonly expected: Expected | undefined;
}

/**
 * Reads markers by distance, ring by ring. Counts, or the ring before, determine how wide a ring must be to have as
 * many as are wanted. It is read completely before any of it is emitted, so that nothing unread can be nearer. It ends
 * when enough are found, at the radius, when the budget is spent, or at a ring that no page may read at once.
 */
export function walkOutward(context: MapContext, query: NearQuery): Promise<Outward> {
  return new OutwardWalk(context, query).run();
}

class OutwardWalk {
  readonly #context: MapContext;
  readonly #query: NearQuery;
  readonly #radius: number;
  #resumeAfter: NearPosition;
  #found: NearMarker[] = [];
  /** Whether a ring was emitted: the first one may spend the reserve. */
  #emitted = false;
  #lookups = LOOKUPS;
  /** Of the markers seen, how many passed the filter. */
  #seen = 0;
  #passed = 0;
  #near: NearCounts | undefined;
  /** The last ring and the markers in it, from which the next is estimated. */
  #last: { readonly from: number; readonly to: number; readonly held: number } | undefined;
  /** No ring extends farther than this until one is emitted, because a wider one held too much. */
  #cap: number;
  #limit = ITEMS;
  #narrowed = 0;

  constructor(context: MapContext, query: NearQuery) {
    this.#context = context;
    this.#query = query;
    this.#radius = Math.min(query.radius, HALF_AROUND);
    this.#cap = this.#radius;
    this.#resumeAfter = query.after ?? BEGIN;
  }

  async run(): Promise<Outward> {
    const { wanted } = this.#query;
    for (;;) {
      if (this.#resumeAfter.distance > this.#radius) return this.#end(undefined);
      const ended = await this.#readRing();
      if (ended) return ended;
      if (this.#found.length >= wanted) return this.#end(this.#resumeAfter);
    }
  }

  #end(resumeAfter: NearPosition | undefined): Outward {
    return { found: this.#found, resumeAfter };
  }

  /** Reads and emits one ring, or makes it narrower; returns the result where that ends the walk. */
  async #readRing(): Promise<Outward | undefined> {
    const { collection, center, filter, wanted, budget, reserve } = this.#query;
    const { itemsPerField } = this.#context.limits;
    const { distance: from } = this.#resumeAfter;
    await this.#context.turn();
    const rate = filter ? (this.#passed + 1) / (this.#seen + 1) : 1;
    const goal = Math.min(itemsPerField / 2, FEWEST + (SPARE * (wanted - this.#found.length)) / rate);
    const { expected, counts, upTo } = (this.#near = await this.#look(from, goal));
    await this.#context.turn();
    const endFor = (many: number) =>
      Math.min(this.#cap, expected ? distanceFor(expected, many, from, upTo) : this.#guess(from, many));
    const stop = (): Outward => {
      if (this.#emitted) return this.#end(this.#resumeAfter);
      const wide = expected ? this.#radius : from + SCANNED_PARTITIONS * partitionWidth(collection.prefixLength);
      return { ...this.#end(this.#resumeAfter), scanUpTo: Math.min(wide, endFor(Math.min(goal, SCANNED / rate))) };
    };

    const ring = { center, from, to: endFor(goal) };
    await this.#context.turn();
    const spent = budget.items < 1;
    const unreserved = budget.calls - reserve;
    const planned =
      (unreserved >= 0 ? await this.#plan(ring, counts, unreserved) : undefined) ??
      (this.#emitted ? undefined : await this.#plan(ring, counts, budget.calls));
    if (!planned || spent) return stop();

    const { to, ranges } = planned;
    const most = Math.min(itemsPerField, Math.max(this.#limit, 4 * goal));
    const { markers, complete } = await this.#read(ranges, most, this.#emitted ? budget.upTo(unreserved) : budget);
    const { turn } = this.#context;
    await turn();
    const near: NearMarker[] = [];
    await eachInTurns([...markers], turn, (marker) => {
      near.push({ distance: distance(center, marker.position), marker });
    });
    await turn();
    const inRing = nearestFirst(
      near.filter((one) => one.distance <= to && compareNear(positionOf(one), this.#resumeAfter) > 0),
    );
    if (!complete) {
      const enough = inRing[Math.ceil(goal) - 1]?.distance ?? to;
      // A narrower ring has enough markers, unless a crowd is at one position, or between its ranges.
      if (enough < to && this.#narrowed++ < NARROWINGS) this.#cap = enough;
      else if (most < itemsPerField) this.#limit *= 4;
      else return stop();
      return undefined;
    }
    this.#last = { from, to, held: inRing.length };
    if (!(await this.#emit(inRing))) return this.#end(this.#resumeAfter);
    if (this.#found.length >= wanted) return undefined;
    this.#emitted = true;
    this.#cap = this.#radius;
    this.#narrowed = 0;
    this.#resumeAfter = { distance: to, key: null };
    return to >= this.#radius ? this.#end(undefined) : undefined;
  }

  /** Reads counts as far as needed to expect the wanted number of markers beyond a distance. */
  async #look(from: number, goal: number): Promise<NearCounts> {
    let far = this.#near ?? (await this.#lookTo(Math.min(this.#radius, Math.max(FIRST_LOOK, 2 * from)), from, goal));
    while (far.expected && far.upTo < this.#radius && far.expected(far.upTo) - far.expected(from) < goal) {
      far = await this.#lookTo(Math.min(this.#radius, far.upTo * FARTHER), from, goal);
    }
    return far;
  }

  async #lookTo(upTo: number, from: number, goal: number): Promise<NearCounts> {
    const { collection, center, budget } = this.#query;
    const open = ({ cells }: KnownCounts) => {
      const expected = expectedAround(center, cells);
      return expected(upTo) - expected(from) > Math.max(goal, WORTH_FINER);
    };
    const question = { area: circleArea(center, upTo), precision: FINEST_STORED, open, most: COUNT_RANGES, budget };
    const counts = await knownCounts(this.#context, collection, question);
    await this.#context.turn();
    return { upTo, counts, expected: counts && expectedAround(center, counts.cells) };
  }

  /** Where a ring with the wanted number of markers may end, without counts. */
  #guess(from: number, goal: number): number {
    const widest = WIDER * from + FIRST_RING;
    const narrowest = 1.2 * from + NARROWEST;
    if (!this.#last) return from * 1.5 + FIRST_RING;
    if (this.#last.held === 0) return widest;
    const density = this.#last.held / (this.#last.to ** 2 - this.#last.from ** 2);
    return Math.min(widest, Math.max(narrowest, Math.sqrt(from ** 2 + goal / density)));
  }

  /**
   * The ring, or as much of it as takes no more than this many Query calls; undefined if none does. Finer counts come
   * first, as they show more partitions to be empty, then a narrower ring.
   */
  async #plan(ring: Ring, counts: KnownCounts | undefined, calls: number) {
    const { prefixLength, writeShards } = this.#query.collection;
    const most = Math.floor(calls / writeShards);
    let { to } = ring;
    for (let halved = 0; halved <= HALVINGS; halved++) {
      const narrow = { ...ring, to };
      let fine = counts;
      do {
        // Cells wider than partitions do not show which partitions are empty.
        const isFine = !fine || fine.precision >= Math.min(prefixLength, FINEST_STORED);
        const ranges = isFine ? planRing(narrow, { prefixLength, counts: fine, most }) : undefined;
        if (ranges) return { to, ranges };
        fine = fine && (await this.#refine(narrow, fine));
      } while (fine);
      to = ring.from + (to - ring.from) / 2;
      // A ring this much narrower than partitions crosses no fewer of them when it is halved again.
      if (halved >= LEAST_HALVINGS && to - ring.from < partitionWidth(prefixLength) / 16) break;
    }
    return undefined;
  }

  /** The ring's counts by cells that are one character longer; undefined if there are too many, or none stored. */
  async #refine({ from, to }: Ring, { precision, cells }: KnownCounts): Promise<KnownCounts | undefined> {
    if (precision >= FINEST_STORED) return undefined;
    const { loaders, keys } = this.#context;
    const relation = ringRelation(this.#query.center, from, to);
    const parents = [...cells.keys()].filter((geohash) => relation(cellBounds(geohash)) !== 'outside');
    if (parents.length > REFINED) return undefined;
    const scope = keys.scope(this.#query.collection);
    const blocks = await Promise.all(parents.map((parent) => loaders.block(scope, parent)));
    const finer = new Map(blocks.flatMap(cellsOfBlock).map(({ geohash, count }) => [geohash, count]));
    return { precision: precision + 1, cells: finer };
  }

  /** All markers of the ranges, of several copies the newest; and whether that is all of them. */
  async #read(ranges: readonly PlannedRange[], limit: number, budget: Budget) {
    const { loaders, keys } = this.#context;
    const { collection } = this.#query;
    const reads = ranges.flatMap(({ prefix, ...range }) =>
      rangeKeys({ prefix, ...range }, collection, keys).map((keyRange) => ({ prefix, range: keyRange })),
    );
    const shares = reads.map((read) => ({ ...read, budget: budget.share(reads.length) }));
    const answers = await Promise.all(
      shares.map(({ prefix, ...read }) => loaders.markers(collection, prefix, { ...read, limit })),
    );
    const newest = new Map<string, MapMarker>();
    for (const { marker } of answers.flatMap(({ markers }) => markers)) {
      const other = newest.get(marker.key);
      if (!other || other.mapVersion < marker.mapVersion) newest.set(marker.key, marker);
    }
    return { markers: newest.values(), complete: answers.every(({ complete }) => complete) };
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

/** How wide a partition is from north to south, in metres. */
const partitionWidth = (prefixLength: number) => HALF_AROUND / 2 ** latBits(prefixLength);
