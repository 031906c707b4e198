import { PARTITION_LIMITS } from '../model/dynamodb-limits.js';
import { LAYOUT_LIMITS } from '../model/limits.js';
import type { Distribution } from './distribution.js';
import { costOnIndex, meanOf, MOST_MARKERS, type ReadCost, type View } from './views.js';

/** Tolerance for floating-point errors in a quotient. */
const ROUNDING = 1e-9;

/** Peak load of a collection's geo index per second, and its stored size. */
export interface IndexLoad {
  readonly readUnits: number;
  readonly writeUnits: number;
  /** In units of 2^30 bytes. */
  readonly gigabytes: number;
}

/** A prefix length with the fewest write shards that keep its hottest partition key within DynamoDB's limits. */
export interface Candidate {
  readonly prefixLength: number;
  readonly writeShards: number;
  /** Whether the limits are kept: the hottest key may need more shards than the maximum. */
  readonly fits: boolean;
  /** The prefix with the most markers, and its share of all markers, 0 to 1. */
  readonly hottest: { readonly prefix: string; readonly share: number };
  /** The load of its hottest partition key: one shard of that prefix. */
  readonly hottestKey: IndexLoad;
  /** Mean cost of reading a map of at most 2,000 markers from the index. */
  readonly map: ReadCost;
}

/**
 * For each prefix length, the required shards and the cost of maps. Reads and writes are assumed to be distributed like
 * markers.
 */
export function candidatesOf(
  distribution: Distribution,
  views: readonly View[],
  load: IndexLoad,
  entryBytes: number,
): Candidate[] {
  const some = views.filter(({ inside }) => inside <= MOST_MARKERS);
  const counted = some.length > 0 ? some : views;
  return Array.from({ length: LAYOUT_LIMITS.prefixLength + 1 }, (_, prefixLength) => {
    const hottest = distribution.hottest(prefixLength);
    const parts = [
      load.readUnits / PARTITION_LIMITS.readUnits,
      load.writeUnits / PARTITION_LIMITS.writeUnits,
      load.gigabytes / PARTITION_LIMITS.gigabytes,
    ];
    const needed = Math.max(1, ...parts.map((part) => Math.ceil(part * hottest.share - ROUNDING)));
    const writeShards = Math.min(LAYOUT_LIMITS.writeShards, needed);
    const part = hottest.share / writeShards;
    return {
      prefixLength,
      writeShards,
      fits: needed <= LAYOUT_LIMITS.writeShards,
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
 * The candidate that keeps all partition keys within the limits and needs the fewest Query calls per map; of equal
 * ones, the shortest prefix. If none keeps the limits, the one whose hottest key exceeds them least.
 */
export function bestOf(candidates: readonly Candidate[]): Candidate {
  const fitting = candidates.filter(({ fits }) => fits);
  const rank = fitting.length > 0 ? ({ map }: Candidate) => map.calls : ({ hottest }: Candidate) => hottest.share;
  const [first, ...others] = fitting.length > 0 ? fitting : candidates;
  if (!first) throw new Error('there are no candidates');
  return others.reduce((best, each) => (rank(each) < rank(best) ? each : best), first);
}
