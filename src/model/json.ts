const rounded = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);

/**
 * A value as JSON. Integers of more than 53 bits, which only other programs write, are rounded. Looking for them beforehand
 * would take three times as long; `again` is called if there are some.
 */
export function jsonOf(value: unknown, again?: () => void): string {
  try {
    return JSON.stringify(value);
  } catch {
    again?.();
    return JSON.stringify(value, rounded);
  }
}

/**
 * Converts a DynamoDB value to JSON: sets become lists, bytes base64, and numbers that a double cannot represent text.
 */
export function jsonOfStored(value: unknown): unknown {
  if (typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return String(value);
  if (value instanceof Set) return [...value].map(jsonOfStored);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(jsonOfStored);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, jsonOfStored(part)]));
}
