import { LONGEST_BLOCK } from '../model/cell.js';
import type { Distribution } from './distribution.js';

/** The consumer looks for changes so often a second (src/stream/consumer.ts); those that it finds together are one batch. */
const BATCHES_A_SECOND = 5;
/** Writes of the consumer's state: when a batch is planned, and when it is complete. */
const STATE_WRITES = 2;

/** How many of some equally likely things are met at least once by so many changes, on average. */
const met = (things: number, changes: number) => things * (1 - (1 - 1 / things) ** changes);

/**
 * Write units that follow so many changes of markers that are folded in one batch: one for each block of cells and each page that
 * at least one of them meets, if they are spread as markers are, and the consumer's state.
 */
export function writesOfBatch(distribution: Distribution, changes: number, markersOfPage: number): number {
  const { markers } = distribution;
  if (changes <= 0 || markers <= 0) return 0;
  let units = STATE_WRITES + met(Math.max(1, markers / markersOfPage), changes);
  for (let length = 0; length <= LONGEST_BLOCK; length++) {
    for (const each of distribution.prefixes(length))
      units += each.alike * (1 - (1 - Math.min(1, each.markers / markers)) ** changes);
  }
  return units;
}

/** Write units a second on the derived table while so many markers change a second. */
export function derivedWrites(distribution: Distribution, changes: number, markersOfPage: number): number {
  const batches = Math.min(BATCHES_A_SECOND, changes);
  return batches <= 0 ? 0 : batches * writesOfBatch(distribution, changes / batches, markersOfPage);
}
