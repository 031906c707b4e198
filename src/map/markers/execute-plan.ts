import { LONGEST_Z, fromZ, toZ } from '../../geo/geohash.js';
import { compareBytes } from '../../keys/byte-order.js';
import { AFTER_SEPARATOR } from '../../keys/escape.js';
import type { Budget } from '../../loaders/budget.js';
import type { IndexedMarkers } from '../../loaders/loaders.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { rangeKeys } from '../../plan/explain.js';
import type { PlannedRange } from '../../plan/markers.js';
import type { MapContext } from '../context.js';
import type { CursorPosition } from '../cursor.js';
import type { MarkerFilter } from '../filter.js';
import { type SearchPlanner, affordableRanges, nextPart } from './planners.js';

/** A marker and its position in the order of its collection. */
export interface OrderedMarker {
  readonly cursorPosition: CursorPosition;
  readonly marker: MapMarker;
}

export interface MarkerQuery {
  readonly collection: Collection;
  readonly planner: SearchPlanner;
  readonly budget: Budget;
  /** Only markers after this position. */
  readonly after?: CursorPosition | undefined;
  /** Whether a marker is a match: ranges extend beyond the search. */
  readonly accept: (found: OrderedMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** How many markers are wanted, Infinity for all. More may be returned. */
  readonly wanted: number;
}

export interface QueryResult {
  /** In order, each marker once: of several copies the newest. */
  readonly found: readonly OrderedMarker[];
  /** Where the next page resumes if the budget ended this one; undefined if it did not. */
  readonly resumeAfter: CursorPosition | undefined;
  /** Whether nothing is left to read. */
  readonly ended: boolean;
}

/** Ranges read concurrently: few if a small page will probably be full after the first ones. */
const WAVE = 16;
const SMALL_WAVE = 4;
const SMALL_PAGE = 100;
/** Markers of a range that may be outside the search before another read is needed. */
const SPARE = 50;
/** Markers that are tested between two turns. */
const STEP = 256;
const KEYS_IN_A_BATCH = 100;
/** The part of a page's Query calls kept for looking up base items that a filter needs, so that each page makes progress. */
const KEPT_FOR_LOOKUPS = 1 / 16;

/**
 * Reads markers by a plan, in order, until enough are found, the plan ends, or the budget is spent. A marker that moves
 * during the read may be seen at both positions; the higher map version is the newer one and counts.
 */
export function executePlan(context: MapContext, query: MarkerQuery): Promise<QueryResult> {
  return new Execution(context, query).run();
}

/** One page, or one field without pages, being read. */
class Execution {
  readonly #context: MapContext;
  readonly #query: MarkerQuery;
  /** Base items that may be looked up before another batch is charged. */
  #lookups = 0;
  /** Everything up to here is emitted. */
  #resumeAfter: CursorPosition;
  readonly #versions = new Map<string, number>();
  #found: OrderedMarker[] = [];

  constructor(context: MapContext, query: MarkerQuery) {
    this.#context = context;
    this.#query = query;
    this.#resumeAfter = query.after ?? fromZ(0, LONGEST_Z);
    if (!query.filter) return;
    const batches = Math.ceil(context.limits.rangesPerPage * KEPT_FOR_LOOKUPS);
    query.budget.debit({ calls: batches });
    this.#lookups = batches * KEYS_IN_A_BATCH;
  }

  async run(): Promise<QueryResult> {
    const { collection, planner, budget } = this.#query;
    for (let next: number | undefined = toZ(this.#resumeAfter.slice(0, LONGEST_Z)); next !== undefined;) {
      if (affordableRanges(budget, collection) < 1) return this.#cut();
      const plan = await nextPart(planner, collection, budget, next);
      let { ranges } = plan;
      while (ranges.length > 0) {
        const rest = await this.#readWave(ranges);
        if (!rest) return this.#cut();
        if (this.#wanted() <= 0) return { found: this.#found, resumeAfter: undefined, ended: false };
        ranges = rest;
        await this.#context.turn();
      }
      next = plan.next;
      if (next !== undefined) this.#resumeAfter = fromZ(next, LONGEST_Z);
    }
    return { found: this.#found, resumeAfter: undefined, ended: true };
  }

  #cut(): QueryResult {
    return { found: this.#found, resumeAfter: this.#resumeAfter, ended: false };
  }

  #wanted(): number {
    return this.#query.wanted - this.#found.length;
  }

  /** Reads the first of some ranges concurrently; returns the remaining ones, undefined if the budget ends it. */
  async #readWave(ranges: readonly PlannedRange[]): Promise<readonly PlannedRange[] | undefined> {
    const { collection, budget } = this.#query;
    const most = affordableRanges(budget, collection);
    if (most < 1 || budget.items < 1) return undefined;
    const wave = ranges.slice(0, waveSize(ranges, this.#wanted(), most));
    const share = () => budget.share(wave.length * collection.writeShards);
    const limit = Math.min(budget.items, 2 * this.#wanted() + SPARE);
    const reads = await Promise.all(wave.map((range) => this.#read(range, limit, share)));
    await this.#context.turn();
    for (const [index, range] of wave.entries()) {
      const { markers = [], cutAt } = reads[index] ?? {};
      if (!(await this.#emit(markers))) return undefined;
      this.#resumeAfter = cutAt ?? endOf(range);
      // What was read beyond the cut is discarded, unless the page is full.
      if (cutAt !== undefined) return ranges.slice(index);
    }
    return ranges.slice(wave.length);
  }

  /** Reads the rest of a range as far as its share of the budget goes: all its write shards, merged. */
  async #read(range: PlannedRange, limit: number, share: () => Budget) {
    const { loaders, keys } = this.#context;
    const { collection } = this.#query;
    const start = fromZ(range.from, LONGEST_Z);
    const from = compareBytes(this.#resumeAfter, start) > 0 ? this.#resumeAfter : start;
    const requests = rangeKeys(range, collection, keys).map((keyRange) => ({
      range: { ...keyRange, from: from.slice(range.prefix.length) },
      limit,
      budget: share(),
    }));
    const shards = await Promise.all(requests.map((request) => loaders.markers(collection, range.prefix, request)));
    return mergeShards(range.prefix, from, shards);
  }

  /** Adds what was read, in order; false if the budget does not cover the base items that a filter needs. */
  async #emit(read: readonly OrderedMarker[]): Promise<boolean> {
    const { collection, accept, filter } = this.#query;
    let passing: OrderedMarker[] = [];
    const undecided: OrderedMarker[] = [];
    const first = read.findIndex(({ cursorPosition }) => compareBytes(cursorPosition, this.#resumeAfter) > 0);
    let paid = true;
    let steps = 0;
    for (const one of first < 0 ? [] : read.slice(first)) {
      if (++steps % STEP === 0) await this.#context.turn();
      const { marker, cursorPosition } = one;
      const known = this.#versions.get(marker.key);
      if (known !== undefined && known >= marker.mapVersion) continue;
      const verdict = accept(one) ? (filter?.verdict(marker, collection) ?? 'pass') : 'fail';
      paid = verdict !== 'unknown' || this.#payLookup();
      if (!paid) break;
      this.#resumeAfter = cursorPosition;
      this.#versions.set(marker.key, marker.mapVersion);
      // The copy found before is older: the marker is no longer there.
      if (known !== undefined) {
        const others = (other: OrderedMarker) => other.marker.key !== marker.key;
        this.#found = this.#found.filter(others);
        passing = passing.filter(others);
      }
      if (verdict !== 'fail') passing.push(one);
      if (verdict === 'unknown') undecided.push(one);
    }
    const { loaders } = this.#context;
    const bases = await Promise.all(undecided.map(({ marker: { key } }) => loaders.marker({ collection, key })));
    const failed = new Set(
      undecided.filter((_, index) => {
        const base = bases[index];
        return !base || !filter?.passes(base);
      }),
    );
    for (const one of passing) if (!failed.has(one)) this.#found.push(one);
    return paid;
  }

  #payLookup(): boolean {
    if (this.#lookups === 0) {
      if (this.#query.budget.calls < 1) return false;
      this.#query.budget.debit({ calls: 1 });
      this.#lookups = KEYS_IN_A_BATCH;
    }
    this.#lookups--;
    return true;
  }
}

/** The markers of a range's shards in order, up to the position at which the first of them was cut. */
function mergeShards(prefix: string, from: CursorPosition, shards: readonly IndexedMarkers[]) {
  const cuts = shards
    .filter(({ complete }) => !complete)
    .map(({ resumeAfter }) => (resumeAfter === undefined ? from : prefix + resumeAfter));
  const cutAt = cuts.length === 0 ? undefined : cuts.reduce((a, b) => (compareBytes(b, a) < 0 ? b : a));
  const [only] = shards;
  if (only && shards.length === 1) return { markers: only.markers, cutAt };
  const markers = shards
    .flatMap((shard) => shard.markers)
    .filter(({ cursorPosition }) => cutAt === undefined || compareBytes(cursorPosition, cutAt) <= 0)
    .sort((a, b) => compareBytes(a.cursorPosition, b.cursorPosition));
  return { markers, cutAt };
}

/** The position after all markers of a range. */
const endOf = ({ to }: PlannedRange): CursorPosition =>
  to < 32 ** LONGEST_Z ? fromZ(to, LONGEST_Z) : 'z'.repeat(LONGEST_Z) + AFTER_SEPARATOR;

/** How many of the next ranges to read at once. */
function waveSize(ranges: readonly PlannedRange[], wanted: number, most: number): number {
  let expected = 0;
  let count = 0;
  const wave = wanted < SMALL_PAGE && ranges[0]?.expected === undefined ? SMALL_WAVE : WAVE;
  while (count < Math.min(ranges.length, most, wave) && expected < wanted) {
    expected += ranges[count]?.expected ?? 0;
    count++;
  }
  return Math.max(1, count);
}
