import { HALF_AROUND, circleArea, ringRelation } from '../../geo/circle.js';
import { distance } from '../../geo/distance.js';
import { cellBounds, latBits } from '../../geo/geohash.js';
import type { Point } from '../../geo/point.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { rangeKeys } from '../../plan/explain.js';
import type { KnownCounts, PlannedRange } from '../../plan/markers.js';
import { type Expected, type Ring, distanceFor, expectedAround, planRing } from '../../plan/rings.js';
import { BEGIN, type NearMarker, type Reached, compareReached, nearestFirst, reachedBy } from './by-distance.js';
import type { MapContext } from '../context.js';
import type { MarkerFilter } from '../filter.js';
import { FINEST_STORED, knownCounts } from '../cells/known-counts.js';
import { cellsOfBlock } from '../cells/occupied.js';

export interface OutwardQuestion {
  readonly collection: Collection;
  readonly center: Point;
  /** In metres. */
  readonly radius: number;
  /** Only markers after this place. */
  readonly after?: Reached | undefined;
  readonly filter?: MarkerFilter | undefined;
  readonly wanted: number;
  /** Query calls after which no further ring is begun. */
  readonly calls: number;
}

export interface Outward {
  /** The nearest first, at most as many as wanted. */
  readonly found: readonly NearMarker[];
  /** Up to where everything is told; undefined where that is all there is. */
  readonly reached: Reached | undefined;
  /** Where nothing is told, as the ring next to it takes too much to be read at once: how far that one may reach, in metres. */
  readonly wall?: number | undefined;
  /** Query calls that it took at most. */
  readonly calls: number;
}

/** How far to look at counts at first, and how much farther each time: once for anything up to 50 km. */
const FIRST_LOOK = 50_000;
const FARTHER = 16;
/** Query calls that one look at coarse counts, and another at finer ones, may take. */
const COUNT_RANGES = 4;
/** More than this are worth finer counts. */
const WORTH_FINER = 64;
/** The first ring where nothing is known, in metres, and how much wider the next may be. */
const FIRST_RING = 1_500;
const WIDER = 8;
const NARROWEST = 15;
/** How many more are asked for than wanted: an estimate is seldom right, and a further ring costs Query calls. */
const SPARE = 1.25;
const FEWEST = 16;
/** Markers of one range, at least, that are read at once. */
const ITEMS = 1_000;
/** How often a ring that holds too much is made narrower. */
const NARROWINGS = 8;
/** Base items that a filter may look into. */
const LOOKUPS = 1_000;

/** How often a ring is halved that takes too many Query calls, and how many cells of it may be looked into. */
const HALVINGS = 12;
const LEAST_HALVINGS = 3;
const REFINED = 200;

/** Markers that a ring should hold which is looked at over several pages: as many as a cursor can keep. */
const SWEPT = 128;
/** How many partitions such a ring is wide where nothing is known: the narrowest there is goes through half as many. */
const SWEPT_PARTITIONS = 1;

/** What is known of the markers up to a distance. */
interface Sight {
  readonly upTo: number;
  readonly counts: KnownCounts | undefined;
  readonly expected: Expected | undefined;
}

/**
 * Markers in the order of their distances, ring by ring: each is as wide as counts, or the ring before, let expect as many
 * as are wanted, and is read whole before anything of it is told, so that nothing unseen can be nearer. It ends where
 * enough are found, at the radius, at its ceiling of reads, or at a wall: a ring that no page may read at once.
 */
export async function walkOutward(context: MapContext, question: OutwardQuestion): Promise<Outward> {
  const { loaders, keys, limits } = context;
  const { collection, center, filter, wanted } = question;
  const radius = Math.min(question.radius, HALF_AROUND);
  const { prefixLength, writeShards: shards } = collection;
  let reached: Reached = question.after ?? BEGIN;
  let found: NearMarker[] = [];
  let told = false;
  let calls = 0;
  let items = 0;
  let lookups = LOOKUPS;
  /** Of the markers seen, how many passed the filter. */
  let seen = 0;
  let passed = 0;
  let sight: Sight | undefined;
  /** The last ring and the markers in it, where the next is guessed from. */
  let last: { readonly from: number; readonly to: number; readonly held: number } | undefined;

  /** Looks as far as it takes to expect so many markers beyond a distance. */
  async function look(from: number, goal: number): Promise<Sight> {
    let far = sight ?? (await lookTo(Math.min(radius, Math.max(FIRST_LOOK, 2 * from)), from, goal));
    while (far.expected && far.upTo < radius && far.expected(far.upTo) - far.expected(from) < goal) {
      far = await lookTo(Math.min(radius, far.upTo * FARTHER), from, goal);
    }
    return far;
  }

  async function lookTo(upTo: number, from: number, goal: number): Promise<Sight> {
    const open = (counts: KnownCounts) => {
      const expected = expectedAround(center, counts.cells);
      return expected(upTo) - expected(from) > Math.max(goal, WORTH_FINER);
    };
    const area = circleArea(center, upTo);
    const answer = await knownCounts(context, collection, { area, precision: FINEST_STORED, open, most: COUNT_RANGES });
    calls += answer.calls;
    const { counts } = answer;
    return { upTo, counts, expected: counts && expectedAround(center, counts.cells) };
  }

  /** Where a ring may end that holds so many, without counts. */
  function guess(from: number, goal: number): number {
    const widest = WIDER * from + FIRST_RING;
    const narrowest = 1.2 * from + NARROWEST;
    if (!last) return from * 1.5 + FIRST_RING;
    if (last.held === 0) return widest;
    const density = last.held / (last.to ** 2 - last.from ** 2);
    return Math.min(widest, Math.max(narrowest, Math.sqrt(from ** 2 + goal / density)));
  }

  /**
   * The ring, or as much of it as takes no more than so many Query calls; undefined where none does. Finer counts come
   * first, as they show more partitions to be empty, then a narrower ring.
   */
  async function plan(ring: Ring, counts: KnownCounts | undefined, budget: number) {
    const most = Math.floor(budget / shards);
    let { to } = ring;
    for (let halved = 0; halved <= HALVINGS; halved++) {
      const narrow = { ...ring, to };
      let fine = counts;
      do {
        // Cells that are wider than partitions do not tell which of these are empty.
        const tells = !fine || fine.precision >= Math.min(prefixLength, FINEST_STORED);
        const ranges = tells ? planRing(narrow, { prefixLength, counts: fine, most }) : undefined;
        if (ranges) return { to, ranges };
        fine = fine && (await refine(narrow, fine));
      } while (fine);
      to = ring.from + (to - ring.from) / 2;
      // A ring so much narrower than partitions goes through no fewer of them when it is halved again.
      if (halved >= LEAST_HALVINGS && to - ring.from < partitionWidth(prefixLength) / 16) break;
    }
    return undefined;
  }

  /** The ring's counts by cells that are one character longer; undefined where there are too many, or none stored. */
  async function refine({ from, to }: Ring, { precision, cells }: KnownCounts): Promise<KnownCounts | undefined> {
    if (precision >= FINEST_STORED) return undefined;
    const relation = ringRelation(center, from, to);
    const parents = [...cells.keys()].filter((geohash) => relation(cellBounds(geohash)) !== 'outside');
    if (parents.length > REFINED) return undefined;
    const scope = keys.scope(collection);
    const blocks = await Promise.all(parents.map((parent) => loaders.block(scope, parent)));
    const finer = new Map(blocks.flatMap(cellsOfBlock).map(({ geohash, count }) => [geohash, count]));
    return { precision: precision + 1, cells: finer };
  }

  /** All markers of the ranges, of several copies the newest; and whether that is all of them. */
  async function read(ranges: readonly PlannedRange[], limit: number, budget: number) {
    const maxCalls = Math.max(1, Math.floor(budget / (ranges.length * shards)));
    const answers = await Promise.all(
      ranges.flatMap((range) =>
        rangeKeys(range, collection, keys).map((keyRange) =>
          loaders.markers(collection, range.prefix, { range: keyRange, limit, maxCalls }),
        ),
      ),
    );
    const newest = new Map<string, MapMarker>();
    for (const { markers, calls: made } of answers) {
      calls += made;
      items += markers.length;
      for (const { marker } of markers) {
        const other = newest.get(marker.key);
        if (!other || other.mapVersion < marker.mapVersion) newest.set(marker.key, marker);
      }
    }
    return { markers: newest.values(), complete: answers.every(({ complete }) => complete) };
  }

  /** Takes in a ring that is read whole; false where base items end it. */
  async function take(ring: readonly NearMarker[]): Promise<boolean> {
    for (let next = 0; next < ring.length && found.length < wanted;) {
      const chunk: NearMarker[] = [];
      const unknown: NearMarker[] = [];
      for (; next < ring.length && chunk.length < wanted - found.length; next++) {
        const one = ring[next];
        if (!one) break;
        const verdict = filter?.verdict(one.marker, collection) ?? 'pass';
        if (verdict === 'unknown' && unknown.length === lookups) break;
        if (verdict === 'unknown') unknown.push(one);
        if (verdict !== 'fail') chunk.push(one);
        reached = reachedBy(one);
        seen++;
      }
      lookups -= unknown.length;
      const bases = await Promise.all(unknown.map(({ marker: { key } }) => loaders.marker({ collection, key })));
      const failed = new Set(unknown.filter((_, index) => !(bases[index] && filter?.passes(bases[index]))));
      const passing = chunk.filter((one) => !failed.has(one));
      passed += passing.length;
      // A marker that moves outwards meanwhile is found twice; the higher map version is the newer one and counts.
      const before = new Map(found.map(({ marker }) => [marker.key, marker.mapVersion]));
      const newer = passing.filter(({ marker: { key, mapVersion } }) => mapVersion > (before.get(key) ?? -Infinity));
      const again = new Set(newer.map(({ marker: { key } }) => key));
      found = [...found.filter(({ marker: { key } }) => !again.has(key)), ...newer];
      if (next < ring.length && lookups === 0 && found.length < wanted) return false;
    }
    return true;
  }

  /** No ring reaches farther than this until one is told: what was read of a wider one says so. */
  let cap = radius;
  let limit = ITEMS;
  let narrowed = 0;
  for (;;) {
    const from = reached.distance;
    if (from > radius) return { found, reached: undefined, calls };
    const rate = filter ? (passed + 1) / (seen + 1) : 1;
    const goal = Math.min(limits.itemsPerField / 2, FEWEST + (SPARE * (wanted - found.length)) / rate);
    sight = await look(from, goal);
    const { expected, counts, upTo } = sight;
    const endFor = (many: number) =>
      Math.min(cap, expected ? distanceFor(expected, many, from, upTo) : guess(from, many));
    const stop = (): Outward => {
      if (told) return { found, reached, calls };
      const wide = expected ? radius : from + SWEPT_PARTITIONS * partitionWidth(prefixLength);
      return { found, reached, wall: Math.min(wide, endFor(Math.min(goal, SWEPT / rate))), calls };
    };

    const left = question.calls - calls;
    const allowed = Math.max(question.calls, limits.rangesPerPage) - calls;
    const ring = { center, from, to: endFor(goal) };
    const planned = (await plan(ring, counts, left)) ?? (told ? undefined : await plan(ring, counts, allowed));
    if (!planned || items > limits.itemsPerField) return stop();

    const { to, ranges } = planned;
    const most = Math.min(limits.itemsPerField, Math.max(limit, 4 * goal));
    const answer = await read(ranges, most, told ? left : allowed);
    const near = Array.from(answer.markers, (marker) => ({ distance: distance(center, marker.position), marker }));
    const inRing = nearestFirst(
      near.filter((one) => one.distance <= to && compareReached(reachedBy(one), reached) > 0),
    );
    if (!answer.complete) {
      const enough = inRing[Math.ceil(goal) - 1]?.distance ?? to;
      // A narrower ring has enough, but where a crowd stands at one place, or between its ranges.
      if (enough < to && narrowed++ < NARROWINGS) cap = enough;
      else if (most < limits.itemsPerField) limit *= 4;
      else return stop();
      continue;
    }
    last = { from, to, held: inRing.length };
    if (!(await take(inRing))) return { found, reached, calls };
    if (found.length >= wanted) return { found, reached, calls };
    told = true;
    cap = radius;
    narrowed = 0;
    reached = { distance: to, key: null };
    if (to >= radius) return { found, reached: undefined, calls };
  }
}

/** How wide a partition is from north to south, in metres. */
const partitionWidth = (prefixLength: number) => HALF_AROUND / 2 ** latBits(prefixLength);
