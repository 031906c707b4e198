import type { Collection, SpreadPrefix } from './collection.js';

/** How the entries of a geo index are divided between partitions. */
export interface Spreading extends Pick<Collection, 'writeShards' | 'geoSlot'> {
  readonly spread?: Collection['spread'] | undefined;
}

/** How a prefix is spread; undefined if it is not. */
export function spreadOf({ geoSlot, spread = [] }: Spreading, prefix: string): SpreadPrefix | undefined {
  return spread.find((each) => each.prefix === prefix && each.geoSlot === geoSlot);
}

/** The number of shards of a prefix for writers. */
export function writtenShards(layout: Spreading, prefix: string): number {
  const spread = spreadOf(layout, prefix);
  return spread?.phase === 'SPREAD' ? spread.shards : layout.writeShards;
}

/** The number of Query calls that read a prefix. */
export function queriesOf(layout: Spreading, prefix: string): number {
  const { writeShards } = layout;
  const shards = spreadOf(layout, prefix)?.shards ?? 0;
  // A single partition has another name than the shards.
  return writeShards === 1 ? 1 + shards : Math.max(writeShards, shards);
}
