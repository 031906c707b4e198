import { united, type IdRange } from './s2.js';

/** Number of digits of the largest ID. */
const MAX_DIGITS = 19;
const ID_END = 2n ** 63n;

const digitsOf = (id: bigint) => String(id < 0n ? -id : id).length;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

/** The library's hash key of an ID: its first `length` digits, not counting the sign. */
export function hashKeyOf(id: bigint, length: number): bigint {
  const digits = digitsOf(id);
  return digits <= length ? id : id / 10n ** BigInt(digits - length);
}

/** The IDs that share a hash key, sorted: one range per number of digits that may have been cut off. */
function idsUnder(hashKey: bigint, length: number): IdRange[] {
  const digits = digitsOf(hashKey);
  const longest = digits < length ? 0 : MAX_DIGITS - digits;
  const ranges = Array.from({ length: longest + 1 }, (_, cut) => {
    const size = 10n ** BigInt(cut);
    // Digits are truncated towards zero for either sign.
    if (hashKey < 0n) return { from: greatest(-ID_END, (hashKey - 1n) * size + 1n), to: hashKey * size + 1n };
    return { from: hashKey * size, to: least(ID_END, (hashKey + 1n) * size) };
  });
  return united(ranges.filter(({ from, to }) => from < to));
}

/** The hash keys of the IDs in these ranges, sorted, disjoint and not adjacent: `from <= key < to`. */
export function hashKeysOf(ranges: readonly IdRange[], length: number): IdRange[] {
  const keys: IdRange[] = [];
  for (const { from, to } of ranges) {
    for (let digits = 1; digits <= MAX_DIGITS; digits++) {
      const low = digits === 1 ? 0n : 10n ** BigInt(digits - 1);
      const high = 10n ** BigInt(digits);
      for (const same of [
        { from: greatest(from, low), to: least(to, high) },
        { from: greatest(from, 1n - high), to: least(to, 1n - low) },
      ]) {
        if (same.from >= same.to) continue;
        keys.push({ from: hashKeyOf(same.from, length), to: hashKeyOf(same.to - 1n, length) + 1n });
      }
    }
  }
  return united(keys);
}

/** The parts of sorted ranges whose IDs have this hash key, sorted. */
export function partsUnder(hashKey: bigint, length: number, ranges: readonly IdRange[]): IdRange[] {
  const own = idsUnder(hashKey, length);
  return ranges.flatMap((range) =>
    own
      .map(({ from, to }) => ({ from: greatest(range.from, from), to: least(range.to, to) }))
      .filter(({ from, to }) => from < to),
  );
}

/** The number of IDs in a range that have this hash key. */
export function idsBetween(hashKey: bigint, length: number, between: IdRange): bigint {
  return partsUnder(hashKey, length, [between]).reduce((sum, { from, to }) => sum + to - from, 0n);
}
