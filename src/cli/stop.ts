import { systemClock } from '../clock.js';
import { Interrupted } from './failure.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SECOND_SIGNAL_EXIT = 1;
/** A signal to the process group of `npm start` arrives again when npm has ended. */
const SAME_SIGNAL_MS = 1_000;

export interface Stop {
  readonly signal: AbortSignal;
  /** Restores the default handling of signals. */
  release(): void;
}

/**
 * A signal that is aborted by Ctrl-C or SIGTERM, with Interrupted as its reason. Another one, more than a second later, ends
 * the process immediately, which loses no acknowledged write.
 */
export function onStop(): Stop {
  const controller = new AbortController();
  let first = Infinity;
  const stop = (name: string): void => {
    if (systemClock.now() - first > SAME_SIGNAL_MS) process.exit(SECOND_SIGNAL_EXIT);
    if (controller.signal.aborted) return;
    first = systemClock.now();
    controller.abort(new Interrupted(`cellport: stopped by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, stop);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, stop);
    },
  };
}
