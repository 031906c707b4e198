/** DynamoDB's published limits of one partition, and so of one partition key, a second. */
export const PARTITION_LIMITS = { readUnits: 3_000, writeUnits: 1_000, gigabytes: 10 } as const;

/** DynamoDB's published limits of one request: keys, items or PartiQL statements. */
export const REQUEST_LIMITS = { batchGet: 100, batchWrite: 25, batchExecute: 25, transactWrite: 100 } as const;

/** Magnitudes that DynamoDB's numbers can have. */
export const NUMBER_LIMITS = { smallest: 1e-130, largest: 9.9e125 } as const;

/** Whether neither DynamoDB nor JSON would change a number. */
export function isStorable(value: number): boolean {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  const magnitude = Math.abs(value);
  return magnitude === 0 || (magnitude >= NUMBER_LIMITS.smallest && magnitude <= NUMBER_LIMITS.largest);
}
