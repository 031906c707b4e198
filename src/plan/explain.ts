import { boundsAround, type Bounds } from '../geo/bounds.js';
import { halves, WORLD, type Halving } from '../geo/cover.js';
import { fromZ, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import type { Key, Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { PlannedRead } from '../pages/plan-reads.js';
import type { BlockPlan } from './blocks.js';
import type { MarkerPlan, PlannedRange } from './markers.js';

/** The part of a collection that its keys depend on. */
export type ScopedCollection = Pick<Collection, 'key' | 'code' | 'prefixLength' | 'writeShards' | 'geoSlot' | 'spread'>;

/** The key ranges read for one range of a plan: one per write shard, in groups to be read one after the other. */
export function rangeGroups(range: PlannedRange, collection: ScopedCollection, keys: Keyspace): KeyRange[][] {
  const { prefixLength, geoSlot } = collection;
  const first = fromZ(range.from, LONGEST_Z);
  const last = fromZ(range.to - 1, LONGEST_Z);
  const { from, to } = keys.geoSortRange(prefixLength, first, last);
  return keys
    .spreadPartitions(keys.scope(collection), collection, range.prefix)
    .map((partitions) => partitions.map((pk) => ({ index: `geo${geoSlot}`, pk, from, to })));
}

/** The same in one list. */
export function rangeKeys(range: PlannedRange, collection: ScopedCollection, keys: Keyspace): KeyRange[] {
  return rangeGroups(range, collection, keys).flat();
}

/** The key ranges read for a plan of blocks: one per range. */
export function blockKeyRanges(plan: BlockPlan, scope: string, keys: Keyspace): KeyRange[] {
  return plan.ranges.map(({ from, to }) => ({
    index: 'derived',
    ...keys.cellRange(scope, fromZ(from, plan.length), fromZ(to - 1, plan.length)),
  }));
}

/** A key range for display, with the bounding box of its cells. */
export interface ExplainedRange extends Omit<KeyRange, 'index'> {
  /** A geo index, or `pages`. */
  readonly index: KeyRange['index'] | 'pages';
  readonly bounds: Bounds;
}

/** A plan for markers as key ranges for display, one per range and write shard. */
export function explainMarkers(plan: MarkerPlan, collection: ScopedCollection, keys: Keyspace): ExplainedRange[] {
  return plan.ranges.flatMap((range) => {
    const bounds = rangeBounds(range);
    return rangeKeys(range, collection, keys).map((keyRange) => ({ ...keyRange, bounds }));
  });
}

/** Planned reads of pages as key ranges: one per Query, and one per page that is read by key. */
export function explainPages(reads: readonly PlannedRead[], keyOf: (begin: string) => Key): ExplainedRange[] {
  return reads.flatMap(({ pages, first, last, by }) => {
    const rangeOf = (start: number, end: number): ExplainedRange[] => {
      const [from, to] = [pages.hints[start], pages.hints[end]];
      if (!from || !to) return [];
      const { pk } = keyOf(from.begin);
      return [{ index: 'pages', pk, from: from.begin, to: to.begin, bounds: rangeBounds(pages.range(start, end)) }];
    };
    if (by === 'query') return rangeOf(first, last);
    return Array.from({ length: last - first + 1 }, (_, at) => rangeOf(first + at, first + at)).flat();
  });
}

/** The bounding box of the cells of a range of Z-order at length 10, in degrees. */
export function rangeBounds({ from, to }: ZRange): Bounds {
  const inside: Bounds[] = [];
  const visit = (cell: Halving) => {
    const size = 2 ** (5 * LONGEST_Z - cell.depth);
    const begin = cell.z * size;
    if (begin >= to || begin + size <= from) return;
    if (from <= begin && begin + size <= to) inside.push(cell);
    else halves(cell).forEach(visit);
  };
  visit(WORLD);
  return boundsAround(inside);
}
