import type { Bounds } from '../geo/bounds.js';
import { cellBounds, fromZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { BlockPlan } from './blocks.js';
import type { MarkerPlan, PlannedRange } from './markers.js';

/** Geohash length of index entries. */
const ENTRY_LENGTH = 10;

/** What each range of a plan reads: one key range a shard. */
export function markerKeyRanges(plan: MarkerPlan, collection: Collection, keys: Keyspace): KeyRange[] {
  return plan.ranges.flatMap((range) => rangeKeys(range, collection, keys));
}

/** What one range of a plan reads: one key range for each of the collection's write shards. */
export function rangeKeys(range: PlannedRange, collection: Collection, keys: Keyspace): KeyRange[] {
  const { prefixLength, writeShards, geoSlot } = collection;
  const first = fromZ(range.from, ENTRY_LENGTH);
  const last = fromZ(range.to - 1, ENTRY_LENGTH);
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

/** The rectangle around all cells of a range of Z-order. */
export function rangeBounds({ from, to }: ZRange): Bounds {
  const bounds = [cellBounds(fromZ(from, ENTRY_LENGTH)), cellBounds(fromZ(to - 1, ENTRY_LENGTH))];
  return {
    west: Math.min(...bounds.map((cell) => cell.west)),
    south: Math.min(...bounds.map((cell) => cell.south)),
    east: Math.max(...bounds.map((cell) => cell.east)),
    north: Math.max(...bounds.map((cell) => cell.north)),
  };
}
