import type { Bounds } from '../geo/bounds.js';
import { LONGEST_Z, cellBounds, fromZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { BlockPlan } from './blocks.js';
import type { MarkerPlan, PlannedRange } from './markers.js';

/** What a collection's keys are made from. */
export type ScopedCollection = Pick<Collection, 'key' | 'code' | 'prefixLength' | 'writeShards' | 'geoSlot'>;

/** What one range of a plan reads: one key range for each of the collection's write shards. */
export function rangeKeys(range: PlannedRange, collection: ScopedCollection, keys: Keyspace): KeyRange[] {
  const { prefixLength, writeShards, geoSlot } = collection;
  const first = fromZ(range.from, LONGEST_Z);
  const last = fromZ(range.to - 1, LONGEST_Z);
  const { from, to } = keys.geoSortRange(prefixLength, first, last);
  return keys
    .geoPartitions(keys.scope(collection), range.prefix, writeShards)
    .map((pk) => ({ index: `geo${geoSlot}`, pk, from, to }));
}

/** What a plan of blocks reads, one key range for each of its ranges. */
export function blockKeyRanges(plan: BlockPlan, scope: string, keys: Keyspace): KeyRange[] {
  return plan.ranges.map(({ from, to }) => ({
    index: 'cells',
    ...keys.cellRange(scope, fromZ(from, plan.length), fromZ(to - 1, plan.length)),
  }));
}

/** A range of a plan with what it reads and the bounding box of its cells, to be shown. */
export interface ExplainedRange extends KeyRange {
  readonly bounds: Bounds;
}

/** A plan of markers as key ranges that can be shown, one for each range and write shard. */
export function explainMarkers(plan: MarkerPlan, collection: ScopedCollection, keys: Keyspace): ExplainedRange[] {
  return plan.ranges.flatMap((range) => {
    const bounds = rangeBounds(range);
    return rangeKeys(range, collection, keys).map((keyRange) => ({ ...keyRange, bounds }));
  });
}

/** The bounding box of the cells of a range of Z-order at length 10, in degrees. */
export function rangeBounds({ from, to }: ZRange): Bounds {
  let { west, south, east, north } = cellBounds(fromZ(from, LONGEST_Z));
  // From one character's border to the next, whole cells of the largest length that begins here and fits.
  for (let z = from; z < to;) {
    let length = LONGEST_Z;
    let size = 1;
    while (length > 0 && z % (size * 32) === 0 && z + size * 32 <= to) {
      size *= 32;
      length--;
    }
    const cell = cellBounds(fromZ(z / size, length));
    west = Math.min(west, cell.west);
    south = Math.min(south, cell.south);
    east = Math.max(east, cell.east);
    north = Math.max(north, cell.north);
    z += size;
  }
  return { west, south, east, north };
}
