/** DynamoDB's published limits of one partition, and so of one partition key, a second. */
export const PARTITION_LIMITS = { readUnits: 3_000, writeUnits: 1_000, gigabytes: 10 } as const;

/** DynamoDB's published limits of one request: keys, items or PartiQL statements. */
export const REQUEST_LIMITS = { batchGet: 100, batchWrite: 25, batchExecute: 25, transactWrite: 100 } as const;
