import { systemClock } from '../clock.js';
import { Interrupted } from './failure.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const;
const SECOND_SIGNAL_EXIT = 1;
const FAILURE_EXIT = 1;
/** A signal to the process group of `npm start` arrives again when npm has ended. */
const SAME_SIGNAL_MS = 1_000;

/** How long work may take to end in order after an error that nothing has handled. */
const ENDS_WITHIN_MS = 15_000;

export interface Stop {
  readonly signal: AbortSignal;
  /** Restores the default handling of signals and errors. */
  release(): void;
}

/**
 * A signal that is aborted by Ctrl-C or SIGTERM, with Interrupted as its reason. Another one, more than a second later, ends
 * the process immediately, which loses no acknowledged write. An error that nothing else has handled also aborts it,
 * with the error as its reason, and is passed to `onError`.
 */
export function onStop(onError: (error: unknown) => void): Stop {
  const controller = new AbortController();
  let first = Infinity;
  const stop = (name: string): void => {
    if (systemClock.now() - first > SAME_SIGNAL_MS) process.exit(SECOND_SIGNAL_EXIT);
    if (controller.signal.aborted) return;
    first = systemClock.now();
    controller.abort(new Interrupted(`cellport: stopped by ${name}`));
  };
  const fail = (error: unknown): void => {
    onError(error);
    // It may be what keeps the work from ending.
    setTimeout(() => process.exit(FAILURE_EXIT), ENDS_WITHIN_MS).unref();
    controller.abort(error);
  };
  for (const name of SIGNALS) process.on(name, stop);
  for (const name of ERRORS) process.on(name, fail);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, stop);
      for (const name of ERRORS) process.off(name, fail);
    },
  };
}
