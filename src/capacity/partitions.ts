import { PARTITION_LIMITS } from '../model/dynamodb-limits.js';

/** Peak load of a table per second, and its stored size. */
export interface Demand {
  readonly rcu: number;
  readonly wcu: number;
  /** In units of 2^30 bytes. */
  readonly gb: number;
}

export interface Partitions {
  readonly byThroughput: number;
  readonly byStorage: number;
  readonly total: number;
  /** Units per partition, if the table's keys share them evenly. */
  readonly rcuEach: number;
  readonly wcuEach: number;
}

/**
 * The number of partitions that DynamoDB creates for a table: by throughput ceil(RCU / 3,000 + WCU / 1,000), by storage
 * ceil(GB / 10), in total the larger of the two, and at least one. (AWS published this for provisioned tables;
 * on-demand tables split by the same limits.)
 */
export function partitionsOf({ rcu, wcu, gb }: Demand): Partitions {
  const { readUnits, writeUnits, gigabytes } = PARTITION_LIMITS;
  // A single division: with two quotients, a third and two thirds might add up to more than 1.
  const byThroughput = Math.max(1, Math.ceil((rcu * writeUnits + wcu * readUnits) / (readUnits * writeUnits)));
  const byStorage = Math.max(1, Math.ceil(gb / gigabytes));
  const total = Math.max(byThroughput, byStorage);
  return { byThroughput, byStorage, total, rcuEach: rcu / total, wcuEach: wcu / total };
}
