import type { Distribution } from './distribution.js';
import { PARTITION_LIMITS } from './partitions.js';
import { MOST_MARKERS, type ReadCost, type View, costOnIndex, meanOf } from './views.js';

const LONGEST_PREFIX = 6;
export const MOST_SHARDS = 32;
/** What floating point may add to a quotient. */
const ROUNDING = 1e-9;

/** What the geo index of a collection bears at its peak, a second, and what it stores. */
export interface IndexLoad {
  readonly readUnits: number;
  readonly writeUnits: number;
  /** 2^30 bytes. */
  readonly gigabytes: number;
}

/** A prefix length with the fewest write shards that keep its hottest partition key within DynamoDB's limits. */
export interface Candidate {
  readonly prefixLength: number;
  readonly writeShards: number;
  /** Whether the limits are kept: the hottest key may need more shards than there can be. */
  readonly fits: boolean;
  /** The prefix with the most markers, and its part of all of them, 0 to 1. */
  readonly hottest: { readonly prefix: string; readonly share: number };
  /** What its hottest partition key bears: one shard of that prefix. */
  readonly hottestKey: IndexLoad;
  /** What it costs on average to read a map of at most 2,000 markers from the index. */
  readonly map: ReadCost;
}

/** Each prefix length with the shards that it needs, and what it costs maps. Reads and writes are spread as markers are. */
export function candidatesOf(
  distribution: Distribution,
  views: readonly View[],
  load: IndexLoad,
  entryBytes: number,
): Candidate[] {
  const some = views.filter(({ inside }) => inside <= MOST_MARKERS);
  const counted = some.length > 0 ? some : views;
  return Array.from({ length: LONGEST_PREFIX + 1 }, (_, prefixLength) => {
    const hottest = distribution.hottest(prefixLength);
    const parts = [
      load.readUnits / PARTITION_LIMITS.readUnits,
      load.writeUnits / PARTITION_LIMITS.writeUnits,
      load.gigabytes / PARTITION_LIMITS.gigabytes,
    ];
    const needed = Math.max(1, ...parts.map((part) => Math.ceil(part * hottest.share - ROUNDING)));
    const writeShards = Math.min(MOST_SHARDS, needed);
    const part = hottest.share / writeShards;
    return {
      prefixLength,
      writeShards,
      fits: needed <= MOST_SHARDS,
      hottest,
      hottestKey: {
        readUnits: load.readUnits * part,
        writeUnits: load.writeUnits * part,
        gigabytes: load.gigabytes * part,
      },
      map: meanOf(counted.map((view) => costOnIndex(distribution, view, { prefixLength, writeShards, entryBytes }))),
    };
  });
}

/**
 * The candidate with which no partition key exceeds the limits and a map takes the fewest Query calls; of equals the one with the
 * shorter prefix. If none keeps the limits, the one whose hottest key exceeds them least.
 */
export function bestOf(candidates: readonly Candidate[]): Candidate {
  const fitting = candidates.filter(({ fits }) => fits);
  const rank = fitting.length > 0 ? ({ map }: Candidate) => map.calls : ({ hottest }: Candidate) => hottest.share;
  const [first, ...others] = fitting.length > 0 ? fitting : candidates;
  if (!first) throw new Error('there are no candidates');
  return others.reduce((best, each) => (rank(each) < rank(best) ? each : best), first);
}
