import { HALF_AROUND } from '../../geo/circle.js';
import { distance } from '../../geo/distance.js';
import { latBits } from '../../geo/geohash.js';
import type { Budget } from '../../loaders/budget.js';
import type { MapMarker } from '../../model/marker.js';
import { rangeKeys } from '../../plan/explain.js';
import type { PlannedRange } from '../../plan/markers.js';
import { type Ring, planRing } from '../../plan/rings.js';
import { eachInTurns } from '../../turns.js';
import type { MapContext } from '../context.js';
import { compareNear } from './by-distance.js';
import type { NearQuery, ReadRing, RingQuestion, Rings } from './rings.js';

/** The first ring, in metres, and how much wider the next may be. */
const FIRST_RING = 1_500;
const WIDER = 8;
const NARROWEST = 15;
/** Minimum number of markers of one range that are read at once. */
const ITEMS = 1_000;
/** How often a ring with too many markers is made narrower. */
const NARROWINGS = 8;
/** How often a ring is halved that takes too many Query calls. */
const HALVINGS = 12;
const LEAST_HALVINGS = 3;
/** The width in partitions of a ring that is scanned over several pages: the narrowest ring crosses half as many. */
const SCANNED_PARTITIONS = 1;

/** How wide a partition is from north to south, in metres. */
const partitionWidth = (prefixLength: number) => HALF_AROUND / 2 ** latBits(prefixLength);

/** Reads rings from the geo index. The ring before determines how wide a ring must be to have as many markers as are wanted. */
export class IndexRings implements Rings {
  readonly #context: MapContext;
  readonly #query: NearQuery;
  /** The last ring and the markers in it, from which the next is estimated. */
  #last: { readonly from: number; readonly to: number; readonly held: number } | undefined;

  constructor(context: MapContext, query: NearQuery) {
    this.#context = context;
    this.#query = query;
  }

  async next({ after, goal, emitted }: RingQuestion): Promise<ReadRing | { readonly scanUpTo: number }> {
    const { distance: from } = after;
    const { collection, center, radius, budget, reserve } = this.#query;
    const { itemsPerField } = this.#context.limits;
    /** No ring extends farther than this, because a wider one held too much. */
    let cap = radius;
    let limit = ITEMS;
    for (let narrowed = 0; ;) {
      const ring = { center, from, to: Math.min(cap, this.#guess(from, goal)) };
      const unreserved = budget.calls - reserve;
      const planned =
        (unreserved >= 0 ? this.#plan(ring, unreserved) : undefined) ??
        (emitted ? undefined : this.#plan(ring, budget.calls));
      const wide = from + SCANNED_PARTITIONS * partitionWidth(collection.prefixLength);
      const stop = { scanUpTo: Math.min(wide, ring.to) };
      if (!planned || budget.items < 1) return stop;
      const { to, ranges } = planned;
      const most = Math.min(itemsPerField, Math.max(limit, 4 * goal));
      const { markers, complete } = await this.#read(ranges, most, emitted ? budget.upTo(unreserved) : budget);
      const inRing: number[] = [];
      await eachInTurns(markers, this.#context.turn, ({ key, position }) => {
        const far = distance(center, position);
        if (far <= to && compareNear({ distance: far, key }, after) > 0) inRing.push(far);
      });
      if (complete) {
        this.#last = { from, to, held: inRing.length };
        return { to, markers };
      }
      inRing.sort((a, b) => a - b);
      const enough = inRing[Math.ceil(goal) - 1] ?? to;
      // A narrower ring has enough markers, unless a crowd is at one position, or between its ranges.
      if (enough < to && narrowed++ < NARROWINGS) cap = enough;
      else if (most < itemsPerField) limit *= 4;
      else return stop;
      await this.#context.turn();
    }
  }

  /** Where a ring with the wanted number of markers may end. */
  #guess(from: number, goal: number): number {
    const widest = WIDER * from + FIRST_RING;
    const narrowest = 1.2 * from + NARROWEST;
    if (!this.#last) return from * 1.5 + FIRST_RING;
    if (this.#last.held === 0) return widest;
    const density = this.#last.held / (this.#last.to ** 2 - this.#last.from ** 2);
    return Math.min(widest, Math.max(narrowest, Math.sqrt(from ** 2 + goal / density)));
  }

  /** The ring, or as much of it as takes no more than this many Query calls; undefined if none does. */
  #plan(ring: Ring, calls: number): { readonly to: number; readonly ranges: readonly PlannedRange[] } | undefined {
    const { prefixLength, writeShards } = this.#query.collection;
    let { to } = ring;
    for (let halved = 0; halved <= HALVINGS; halved++) {
      const ranges = planRing({ ...ring, to }, prefixLength, Math.floor(calls / writeShards));
      if (ranges) return { to, ranges };
      to = ring.from + (to - ring.from) / 2;
      // A ring this much narrower than partitions crosses no fewer of them when it is halved again.
      if (halved >= LEAST_HALVINGS && to - ring.from < partitionWidth(prefixLength) / 16) break;
    }
    return undefined;
  }

  /** All markers of the ranges, of several copies the newest; and whether that is all of them. */
  async #read(ranges: readonly PlannedRange[], limit: number, budget: Budget) {
    const { loaders, keys } = this.#context;
    const { collection } = this.#query;
    const reads = ranges.flatMap((range) =>
      rangeKeys(range, collection, keys).map((keyRange) => ({ prefix: range.prefix, range: keyRange })),
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
    return { markers: [...newest.values()], complete: answers.every(({ complete }) => complete) };
  }
}
