/**
 * Parses a form text as a JSON value: numbers, true, false, null, lists and objects as in JSON; anything else is a
 * string, which may be quoted as in JSON.
 */
export function valueFrom(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  // A long number, such as an article number, would lose digits.
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== text;
  return isRounded || value === Infinity || value === -Infinity ? text : value;
}

/** Formats a value as text that `valueFrom` parses to the same value. */
export function textFor(value: unknown): string {
  return typeof value === 'string' && valueFrom(value) === value ? value : JSON.stringify(value);
}
