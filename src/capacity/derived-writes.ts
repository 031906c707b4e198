import { LONGEST_BLOCK } from '../model/cell.js';
import type { Distribution } from './distribution.js';
import type { PageSizes } from './page-model.js';

/**
 * Number of times per second that the consumer polls for changes (src/stream/consume/consumer.ts); changes found together form
 * one batch.
 */
const BATCHES_A_SECOND = 5;
/** Writes of the consumer's state: when a batch is planned, and when it is complete. */
const STATE_WRITES = 2;

/** The expected number of distinct items hit by a number of changes, if all items are equally likely. */
const met = (things: number, changes: number) => things * (1 - (1 - 1 / things) ** changes);

/**
 * Write units caused by changes of markers that are folded in one batch: one for each block of cells and each page hit
 * by at least one of them, if changes are distributed like markers, and the consumer's state.
 */
export function writesOfBatch(distribution: Distribution, changes: number, page: PageSizes): number {
  const { markers } = distribution;
  if (changes <= 0 || markers <= 0) return 0;
  // A page is larger than a unit if it has a single marker that is.
  const unitsOfPage = Math.ceil(page.bytes / 1_024);
  let units = STATE_WRITES + unitsOfPage * met(Math.max(1, markers / page.markers), changes);
  for (let length = 0; length <= LONGEST_BLOCK; length++) {
    for (const each of distribution.prefixes(length))
      units += each.alike * (1 - (1 - Math.min(1, each.markers / markers)) ** changes);
  }
  return units;
}

/** Write units per second on the derived table at a number of marker changes per second. */
export function derivedWrites(distribution: Distribution, changes: number, page: PageSizes): number {
  const batches = Math.min(BATCHES_A_SECOND, changes);
  return batches <= 0 ? 0 : batches * writesOfBatch(distribution, changes / batches, page);
}
