import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';

import type { Config } from '../../config.js';
import type { Log } from '../../log.js';

/** What a worker may need, with its caches, in bytes. */
const WORKER_BYTES = 1024 ** 3;

/** One for each core, as far as the memory allows; one beside the embedded engine, which needs the other cores itself. */
function defaultWorkers({ database }: Config): number {
  if (database.kind === 'embedded') return 1;
  // A container has less than its machine.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return Math.max(1, Math.min(availableParallelism(), Math.floor(memory / WORKER_BYTES)));
}

/** How many processes answer requests: as many as are wanted, or the default. */
export function workersOf(config: Config, wanted: number | undefined, log: Log): number {
  const count = wanted ?? config.workers ?? defaultWorkers(config);
  if (count === 1 || cluster.isPrimary) return count;
  log.warn({}, 'Using one worker: this process is a worker of a cluster itself, and cannot have any');
  return 1;
}
