import type { createCellCache } from '../loaders/cell-cache.js';
import type { Log } from '../log.js';
import type { ConsumerStatus } from '../stream/consumer.js';
import type { Backend } from './backend.js';

/** The cells of all collections, kept by this process, or by another one while that lives. */
export interface Cells {
  status(): ConsumerStatus;
  /** Resolves once the cells hold all that was written before the call. Rejects with the signal's reason when aborted. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Stops and lets others take over at once. */
  stop(): Promise<void>;
}

export function keepCells(_backend: Backend, _log: Log, _cache?: ReturnType<typeof createCellCache>): Cells {
  return {
    status: () => ({
      owner: false,
      behindMs: undefined,
      countsExact: true,
      gap: null,
      setAside: 0,
      batch: 0,
      recordsFolded: 0,
      blocksWritten: 0,
    }),
    caughtUp: async () => {},
    stop: async () => {},
  };
}
