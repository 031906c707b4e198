/** Steps of the golden ratio visit every 32-bit number once before they repeat. */
const STEP = 0x9e3779b9;

/** Mixes the bits of an integer, with the finalizer of MurmurHash3. */
function mixed(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * The numbers 0 to `count` - 1 in a pseudo-random order determined by a 32-bit seed. Neighbors in a file are often
 * neighbors on the globe, and would hit one partition at the same time in file order.
 */
export function shuffledOrder(count: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  let state = mixed(seed);
  // Fisher-Yates shuffle.
  for (let at = count - 1; at > 0; at -= 1) {
    state = (state + STEP) | 0;
    const other = Math.floor((mixed(state) / 2 ** 32) * (at + 1));
    const held = order[at] ?? 0;
    order[at] = order[other] ?? 0;
    order[other] = held;
  }
  return order;
}

/** The order in which an import writes its rows, as numbers from 0 to `count` - 1. */
export function orderOf(
  count: number,
  { order, seed }: { readonly order: 'shuffled' | 'given'; readonly seed: number },
) {
  return order === 'shuffled' ? shuffledOrder(count, seed) : Uint32Array.from({ length: count }, (_, at) => at);
}
