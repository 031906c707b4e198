import { systemClock } from '../clock.js';
import type { Log } from '../log.js';
import { restartOnFailure } from '../retry.js';
import { NoStream } from '../stream/ports.js';
import type { StreamBackend } from './backend.js';
import { type Cells, recountDerived } from './consumer.js';

/** How often to check whether a recount is needed. */
const LOOK_EVERY_MS = 1_000;

/** Recounts in the background while this process runs. */
export interface ExactCounts {
  stop(): Promise<void>;
}

/**
 * Recounts all markers whenever there is a gap, or no pages, while this process owns the cells. Only for the embedded engine: on AWS a
 * recount reads, and pays for, the whole table.
 */
export function keepExact(backend: StreamBackend, cells: Cells, log: Log): ExactCounts {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(progressed: () => void): Promise<void> {
    while (!signal.aborted) {
      await systemClock.sleep(LOOK_EVERY_MS, signal);
      const { owner, gap, pages } = cells.status();
      if (!owner || (gap === null && pages !== null)) continue;
      const built = await recountDerived(backend, log, false, signal);
      log.info({ markers: built.markers, pages: built.pages, gap }, 'recounted all markers and built all pages');
      progressed();
    }
  }

  const onFailure = (error: unknown): void => {
    // The consumer has already reported that the stream is turned off.
    if (!(error instanceof NoStream)) log.warn({ err: error }, 'cannot recount all markers; retrying');
  };
  const running = restartOnFailure(run, { signal, firstMs: 1_000, longestMs: 30_000, onFailure });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
