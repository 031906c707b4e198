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
