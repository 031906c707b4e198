/** DynamoDB's published limits of one partition, and so of one partition key, a second. */
export const PARTITION_LIMITS = { readUnits: 3_000, writeUnits: 1_000, gigabytes: 10 } as const;

/** DynamoDB's published limits of one request: keys, items or PartiQL statements. */
export const REQUEST_LIMITS = { batchGet: 100, batchWrite: 25, batchExecute: 25, transactWrite: 100 } as const;

/** Whether neither DynamoDB, whose numbers have such magnitudes, nor JSON would change a number. */
export function isStorable(value: number): boolean {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  const magnitude = Math.abs(value);
  return magnitude === 0 || (magnitude >= 1e-130 && magnitude <= 9.9e125);
}
