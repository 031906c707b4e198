import { systemClock } from '../clock.js';
import type { Log } from '../log.js';
import { restartOnFailure } from '../retry.js';
import type { ConsumerStatus } from '../stream/consume/consumer.js';
import { NoStream } from '../stream/ports.js';
import type { RecountResult } from '../stream/recount/scan.js';
import { inBackground, type Background } from './background.js';

/** How often to check whether a recount is needed. */
const LOOK_EVERY_MS = 1_000;

/**
 * Recounts all markers whenever there is a gap, or no pages, while this process runs the consumer. Only for the embedded engine: on AWS a
 * recount reads, and pays for, the whole table.
 */
export function keepExact(
  status: () => Pick<ConsumerStatus, 'owner' | 'gap' | 'pages'>,
  recountAll: (signal: AbortSignal) => Promise<RecountResult>,
  log: Log,
  failed: (error: unknown) => void = () => undefined,
): Background {
  async function run(progressed: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await systemClock.sleep(LOOK_EVERY_MS, signal);
      const { owner, gap, pages } = status();
      if (!owner || (gap === null && pages !== null)) continue;
      const built = await recountAll(signal);
      log.info({ markers: built.markers, pages: built.pages, gap }, 'recounted all markers and built all pages');
      progressed();
    }
  }

  const onFailure = (error: unknown): void => {
    failed(error);
    // The consumer has already reported that the stream is turned off.
    if (!(error instanceof NoStream)) log.warn({ err: error }, 'Cannot recount all markers; retrying');
  };
  return inBackground((signal) =>
    restartOnFailure((progressed) => run(progressed, signal), { signal, firstMs: 1_000, longestMs: 30_000, onFailure }),
  );
}
