const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** The rank of a code unit in UTF-8 order, where characters beyond U+FFFF (surrogates here) come last. */
function rank(unit: number): number {
  if (unit < SURROGATES) return unit;
  return unit < AFTER_SURROGATES ? unit + 0x2000 : unit - 0x800;
}

/**
 * Compares two strings by their UTF-8 bytes, as DynamoDB sorts keys. Negative if `a` comes first. JavaScript's `<`
 * compares UTF-16 code units, which puts an emoji before U+FF5E where DynamoDB puts it after.
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i);
    if (difference !== 0) return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
  }
  return a.length - b.length;
}

/** Whether a key comes before another one. */
export const isBefore = (a: string, b: string): boolean => compareBytes(a, b) < 0;
