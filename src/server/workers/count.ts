import { availableParallelism, totalmem } from 'node:os';

import type { Config } from '../../config.js';

/** What a worker may need, with its caches, in bytes. */
const WORKER_BYTES = 1024 ** 3;

/**
 * The number of processes that answer requests, unless it is given: one for each core, as far as the memory allows; one
 * beside the embedded engine, which needs the other cores itself.
 */
export function defaultWorkers({ database }: Config): number {
  if (database.kind === 'embedded') return 1;
  // A container has less than its machine.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return Math.max(1, Math.min(availableParallelism(), Math.floor(memory / WORKER_BYTES)));
}
