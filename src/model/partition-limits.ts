/** DynamoDB's published limits of one partition, and so of one partition key, a second. */
export const PARTITION_LIMITS = { readUnits: 3_000, writeUnits: 1_000, gigabytes: 10 } as const;
