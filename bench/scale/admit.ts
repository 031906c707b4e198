import { PUBLISHED } from './published.js';

/** What one kind of capacity has for the next seconds, all in units a second except the tokens. */
export interface Capacity {
  /** What a partition bears at most. */
  readonly most: number;
  /** Of the table as a whole. */
  readonly total: number;
  /** Unused units that each partition has kept; undefined if none are kept. */
  readonly tokens: Float64Array | undefined;
}

const sumOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

/**
 * How much of the demand on each partition is served in so many seconds, in units a second. A partition has its share of the
 * table's units; adaptive capacity lends it what others leave; then it uses what it has kept. Nothing lifts the limit of a
 * partition. Keeps what is left in `tokens`.
 */
export function admit(demand: Float64Array, seconds: number, { most, total, tokens }: Capacity): Float64Array {
  const share = total / demand.length;
  const wanted = demand.map((value) => Math.min(value, most));
  const served = wanted.map((value) => Math.min(value, share));
  const unused = total - sumOf(served);
  const missing = sumOf(wanted) - sumOf(served);
  const lent = missing > 0 ? Math.min(1, unused / missing) : 0;
  const keptOfUnused = unused > 0 ? Math.max(0, 1 - missing / unused) : 0;
  return served.map((value, index) => {
    const here = wanted[index] ?? 0;
    const withLoan = value + (here - value) * lent;
    if (tokens === undefined) return withLoan;
    const kept = tokens[index] ?? 0;
    const used = Math.min(kept, (here - withLoan) * seconds);
    const saved = (share - value) * keptOfUnused * seconds;
    tokens[index] = Math.min(PUBLISHED.burstSeconds * share, kept - used + saved);
    return withLoan + used / seconds;
  });
}
