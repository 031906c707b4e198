/** Things of one size that a cache may keep, each asked for equally often. */
export interface Cached {
  readonly count: number;
  /** Of each. */
  readonly bytes: number;
  /** How often a second each is asked for, and changes so that it is dropped. */
  readonly asked: number;
  readonly dropped: number;
}

/**
 * How much of what is asked for has to be read, 0 to 1, by a cache of so many bytes that drops what was not used for longest:
 * Che's approximation (Che, Tung, Wang 2002) with requests at random times. What is larger than the cache is never kept.
 */
export function missesOf(all: readonly Cached[], capacity: number): Float64Array {
  const kept = ({ bytes }: Cached) => bytes <= capacity;
  const filledAfter = (seconds: number) =>
    all.reduce((sum, each) => {
      if (!kept(each)) return sum;
      const { count, bytes, asked, dropped } = each;
      const present = asked === 0 ? 0 : (asked / (asked + dropped)) * (1 - Math.exp(-(asked + dropped) * seconds));
      return sum + count * bytes * present;
    }, 0);
  let [low, high] = [0, 1];
  while (high < 1e9 && filledAfter(high) < capacity) high *= 2;
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (filledAfter(middle) < capacity) low = middle;
    else high = middle;
  }
  return Float64Array.from(all, (each) => {
    const { asked, dropped } = each;
    if (asked === 0 || !kept(each)) return 1;
    return 1 - (asked / (asked + dropped)) * (1 - Math.exp(-(asked + dropped) * low));
  });
}

/** The same for what is kept for so many seconds after it was read, however often it is used. */
export const missesWithin = (asked: number, seconds: number): number => 1 / (1 + asked * seconds);
