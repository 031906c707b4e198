import { type Area, type Bounds, areaOverlapsCell } from '../../geo/bounds.js';
import { GEOHASH_ALPHABET, LONGEST_Z, cellBounds, fromZ, toZ } from '../../geo/geohash.js';
import type { ZRange } from '../../geo/ranges.js';
import type { Collection } from '../../model/collection.js';
import { type KnownCounts, type PlannedRange, markerPlanner } from '../../plan/markers.js';
import type { MapContext } from '../context.js';
import { FINEST_STORED, knownCounts } from '../cells/known-counts.js';

/** Ranges to read from a place in Z-order on, at most `ceiling` of them, and where to go on after them. */
export interface Planned {
  readonly ranges: readonly PlannedRange[];
  readonly next: number | undefined;
}

/** Tells which ranges hold the markers of a question, a part at a time. */
export interface RangeSource {
  plan(after: number, ceiling: number, wanted: number): Promise<Planned>;
  /** Query calls that making it took. */
  readonly calls: number;
  /** As many markers as there can be, by counts that can be trusted; undefined without such. */
  readonly atMost?: number | undefined;
}

/** Where reading more markers than this is expected, finer cells save more than they cost: by trial on real cities. */
const WORTH_FINER = 300;

/** Where markers are looked for, where that has another form than a rectangle. */
export interface Region {
  /** A rectangle around it. */
  readonly area: Area;
  /** Ranges of Z-order that hold all of it, sorted and apart; those of the area where left out. */
  readonly cover?: readonly ZRange[];
  /** Whether some position of it may belong to a cell. */
  readonly overlaps: (cell: Bounds) => boolean;
}

/**
 * The ranges of a region, planned with what is known of how many markers stand where. `enough` is for who wants to know
 * whether there are more than so many: where coarse cells leave it open, finer ones are looked at.
 */
export async function regionSource(
  context: MapContext,
  collection: Collection,
  { area, cover, overlaps: overlapsCell }: Region,
  precision: number,
  enough = Infinity,
): Promise<RangeSource> {
  const { prefixLength } = collection;
  const overlaps = (geohash: string) => overlapsCell(cellBounds(geohash));
  let planner:
    { readonly counts: KnownCounts | undefined; readonly plan: ReturnType<typeof markerPlanner> } | undefined;
  const plannerFor = (counts: KnownCounts | undefined) => {
    if (planner?.counts !== counts || !planner) {
      planner = { counts, plan: markerPlanner({ area, cover, prefixLength, counts }) };
    }
    return planner.plan;
  };
  const most = (counts: KnownCounts) =>
    [...counts.cells].reduce((sum, [geohash, count]) => sum + (overlaps(geohash) ? count : 0), 0);
  const open = (counts: KnownCounts) => {
    const { expected } = plannerFor(counts)({ ceiling: context.limits.rangesPerPage });
    return (expected ?? 0) > WORTH_FINER || (enough < Infinity && most(counts) > enough);
  };
  const { counts, calls } = await knownCounts(context, collection, { area, precision, open });
  /** Told when it is asked for: a region of many vertices takes its time to tell which cells it overlaps. */
  const told = {
    calls,
    get atMost() {
      return counts && most(counts);
    },
  };
  if (counts && counts.precision < Math.min(prefixLength, FINEST_STORED)) {
    // These cells are too coarse to tell which of the partitions inside them are empty.
    return Object.assign(told, { plan: occupiedPartitions(context, collection, '', overlaps) });
  }
  return Object.assign(told, {
    plan: async (after: number, ceiling: number, wanted: number) => plannerFor(counts)({ after, ceiling, wanted }),
  });
}

/** The ranges of an area. */
export function areaSource(
  context: MapContext,
  collection: Collection,
  area: Area,
  precision: number,
  enough?: number,
): Promise<RangeSource> {
  const region = { area, overlaps: (cell: Bounds) => areaOverlapsCell(area, cell) };
  return regionSource(context, collection, region, precision, enough);
}

/** Ranges that are known from the outset, each within one partition. */
export function fixedSource(ranges: readonly ZRange[], { prefixLength }: Collection, calls: number): RangeSource {
  const partition = 32 ** (LONGEST_Z - prefixLength);
  return {
    calls,
    async plan(after, ceiling) {
      const left = ranges.filter(({ to }) => to > after);
      const taken = left.slice(0, ceiling).map(({ from, to }) => ({
        prefix: fromZ(Math.floor(from / partition), prefixLength),
        from: Math.max(from, after),
        to,
        expected: undefined,
      }));
      return { ranges: taken, next: left[ceiling]?.from };
    },
  };
}

/**
 * Partitions that hold markers, by descending from a cell ('' for the whole collection) through the occupied cells that
 * are `asked` for; in order, from a place on.
 */
function occupiedPartitions(
  { loaders, keys }: MapContext,
  collection: Collection,
  root: string,
  asked: (geohash: string) => boolean,
) {
  const { prefixLength } = collection;
  return async (after: number, ceiling: number): Promise<Planned> => {
    const scope = keys.scope(collection);
    let nodes: { readonly hash: string; readonly count: number | undefined }[] = [{ hash: root, count: undefined }];
    let next: number | undefined;
    for (let length = root.length; length < Math.min(prefixLength, FINEST_STORED); length++) {
      const blocks = await Promise.all(nodes.map((node) => loaders.block(scope, node.hash)));
      const children = blocks
        .flatMap(({ parent, children: known }) =>
          Array.from(GEOHASH_ALPHABET, (character) => ({
            hash: parent + character,
            count: known.get(character)?.count ?? 0,
          })),
        )
        .filter(({ hash, count }) => count > 0 && (toZ(hash) + 1) * sizeOf(length + 1) > after && asked(hash));
      nodes = children.slice(0, ceiling);
      const beyond = children[ceiling];
      if (beyond) next = toZ(beyond.hash) * sizeOf(length + 1);
    }
    const ranges: PlannedRange[] = [];
    for (const { hash, count } of nodes) {
      const size = sizeOf(hash.length);
      const cell = { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
      const part = partitionsOf(cell, prefixLength, after, ceiling - ranges.length, count, asked);
      ranges.push(...part.ranges);
      if (part.next !== undefined) return { ranges, next: part.next };
    }
    return { ranges, next };
  };
}

const anywhere = () => true;

/** Places of length 10 in a cell of this length. */
const sizeOf = (length: number) => 32 ** (LONGEST_Z - length);

/** The partitions from one place to another that are `asked` for, from `after` on. */
function partitionsOf(
  { from, to }: ZRange,
  prefixLength: number,
  after: number,
  most: number,
  expected: number | undefined,
  asked: (geohash: string) => boolean,
): Planned {
  const partition = sizeOf(prefixLength);
  const ranges: PlannedRange[] = [];
  let start = Math.max(from, Math.floor(after / partition) * partition);
  for (; start < to && ranges.length < most; start += partition) {
    const prefix = fromZ(start / partition, prefixLength);
    if (asked(prefix)) ranges.push({ prefix, from: Math.max(start, after), to: start + partition, expected });
  }
  return { ranges, next: start < to ? start : undefined };
}

/**
 * The ranges of one cell ('' for the whole collection). Where it spreads over several partitions, those without markers
 * are left out while counts can be trusted; else they are gone through one after the other.
 */
export function cellSource(context: MapContext, collection: Collection, geohash: string): RangeSource {
  const { prefixLength } = collection;
  const hash = geohash.slice(0, LONGEST_Z);
  const size = sizeOf(hash.length);
  const cell = { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
  const occupied = occupiedPartitions(context, collection, hash, anywhere);
  return {
    calls: 0,
    async plan(after, ceiling) {
      if (hash.length >= prefixLength) {
        const range = {
          prefix: hash.slice(0, prefixLength),
          from: Math.max(cell.from, after),
          to: cell.to,
          expected: undefined,
        };
        return { ranges: range.from < range.to ? [range] : [], next: undefined };
      }
      return context.countsTrusted()
        ? occupied(after, ceiling)
        : partitionsOf(cell, prefixLength, after, ceiling, undefined, anywhere);
    },
  };
}
