import { PUBLISHED } from './published.js';

/** One kind of capacity during the next seconds, in units per second except for the tokens. */
export interface Capacity {
  /** Maximum of one partition. */
  readonly most: number;
  /** Total of the table. */
  readonly total: number;
  /** Unused units saved by each partition; undefined if none are saved. */
  readonly tokens: Float64Array | undefined;
}

const sumOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

/**
 * How much of the demand on each partition is served during some seconds, in units per second. A partition has its
 * share of the table's units, borrows what others leave (adaptive capacity), and then uses what it has saved. Nothing
 * lifts the limit of a partition. Saves what is left in `tokens`.
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
