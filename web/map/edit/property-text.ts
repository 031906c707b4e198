/**
 * The JSON value of a text in a form: numbers, true, false, null, lists and objects as in JSON; anything else
 * is a string, which may be quoted as in JSON.
 */
export function valueFrom(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  // A long number, for example of an article, would lose digits.
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== text;
  return isRounded || value === Infinity || value === -Infinity ? text : value;
}

/** The text for a value, from which `valueFrom` makes the same value. */
export function textFor(value: unknown): string {
  return typeof value === 'string' && valueFrom(value) === value ? value : JSON.stringify(value);
}
