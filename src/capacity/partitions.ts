/** DynamoDB's published limits of one partition, and so of one partition key, a second. */
export const PARTITION_LIMITS = { readUnits: 3_000, writeUnits: 1_000, gigabytes: 10 } as const;

/** What a table serves at its peak, a second, and what it stores. */
export interface Demand {
  readonly rcu: number;
  readonly wcu: number;
  /** 2^30 bytes. */
  readonly gb: number;
}

export interface Partitions {
  readonly byThroughput: number;
  readonly byStorage: number;
  readonly total: number;
  /** What each partition has of the table's units, if its keys share them evenly. */
  readonly rcuEach: number;
  readonly wcuEach: number;
}

/**
 * How many partitions DynamoDB makes of a table: by throughput ceil(RCU / 3,000 + WCU / 1,000), by storage ceil(GB / 10),
 * in all the greater of the two, and at least one. (AWS published this for provisioned tables; tables on demand split by the same
 * limits.)
 */
export function partitionsOf({ rcu, wcu, gb }: Demand): Partitions {
  const { readUnits, writeUnits, gigabytes } = PARTITION_LIMITS;
  // One division: of two quotients, a third and two thirds might add up to more than 1.
  const byThroughput = Math.max(1, Math.ceil((rcu * writeUnits + wcu * readUnits) / (readUnits * writeUnits)));
  const byStorage = Math.max(1, Math.ceil(gb / gigabytes));
  const total = Math.max(byThroughput, byStorage);
  return { byThroughput, byStorage, total, rcuEach: rcu / total, wcuEach: wcu / total };
}
