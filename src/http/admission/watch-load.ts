import { monitorEventLoopDelay } from 'node:perf_hooks';

import { systemClock } from '../../clock.js';
import { meanWait } from '../../turns.js';
import type { Admission } from './admission.js';

const LOOK_EVERY_MS = 100;
const RESOLUTION_MS = 10;

/**
 * Adapts admission to the lag of the event loop, the wait for turns and the time of reads; returns a function that
 * stops it.
 */
export function watchLoad(admission: Admission, readMs: () => number | undefined): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let last = systemClock.now();
  const looking = setInterval(() => {
    const now = systemClock.now();
    // No sample exists if the event loop was blocked all the time.
    const mean = delays.count === 0 ? now - last : delays.mean / 1e6;
    last = now;
    delays.reset();
    // Work in turns hardly delays the event loop; it delays other work instead.
    const lagMs = Math.max(0, mean - RESOLUTION_MS) + meanWait();
    admission.adjust({ lagMs, readMs: readMs() });
  }, LOOK_EVERY_MS).unref();
  return () => {
    clearInterval(looking);
    delays.disable();
  };
}
