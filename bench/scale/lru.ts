/** Objects of one size that a cache may keep, all requested equally often. */
export interface Cached {
  readonly count: number;
  /** Size of each object. */
  readonly bytes: number;
  /** How often per second each is requested, and changes so that it is dropped. */
  readonly asked: number;
  readonly dropped: number;
}

/**
 * The miss rate, 0 to 1, of an LRU cache of `capacity` bytes: Che's approximation (Che, Tung, Wang 2002) for requests
 * at random times. Objects larger than the cache are never kept.
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

/** The miss rate if objects are kept for a fixed time after they were read, however often they are used. */
export const missesWithin = (asked: number, seconds: number): number => 1 / (1 + asked * seconds);
