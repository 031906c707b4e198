import { type IdRange, united } from './s2.js';

/** Digits of the greatest id. */
const LONGEST = 19;
const ID_END = 2n ** 63n;

const digitsOf = (id: bigint) => String(id < 0n ? -id : id).length;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

/** The library's hash key of an id: its first so many digits, the sign not counted. */
export function hashKeyOf(id: bigint, length: number): bigint {
  const digits = digitsOf(id);
  return digits <= length ? id : id / 10n ** BigInt(digits - length);
}

/**
 * The ids that share a hash key, sorted: a range of each number of digits that an id can have, as the library does not
 * say how many have been cut off.
 */
function idsUnder(hashKey: bigint, length: number): IdRange[] {
  const digits = digitsOf(hashKey);
  const longest = digits < length ? 0 : LONGEST - digits;
  const ranges = Array.from({ length: longest + 1 }, (_, cut) => {
    const size = 10n ** BigInt(cut);
    // Digits are cut off towards zero, whatever the sign.
    if (hashKey < 0n) return { from: greatest(-ID_END, (hashKey - 1n) * size + 1n), to: hashKey * size + 1n };
    return { from: hashKey * size, to: least(ID_END, (hashKey + 1n) * size) };
  });
  return united(ranges.filter(({ from, to }) => from < to));
}

/** The hash keys under which ids of these ranges may stand, sorted, disjoint and not touching: `from <= key < to`. */
export function hashKeysOf(ranges: readonly IdRange[], length: number): IdRange[] {
  const keys: IdRange[] = [];
  for (const { from, to } of ranges) {
    for (let digits = 1; digits <= LONGEST; digits++) {
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

/** The parts of sorted ranges whose ids stand under a hash key, sorted. */
export function under(hashKey: bigint, length: number, ranges: readonly IdRange[]): IdRange[] {
  const own = idsUnder(hashKey, length);
  return ranges.flatMap((range) =>
    own
      .map(({ from, to }) => ({ from: greatest(range.from, from), to: least(range.to, to) }))
      .filter(({ from, to }) => from < to),
  );
}

/** How many ids under a hash key lie between two. */
export function idsBetween(hashKey: bigint, length: number, between: IdRange): bigint {
  return under(hashKey, length, [between]).reduce((sum, { from, to }) => sum + to - from, 0n);
}
