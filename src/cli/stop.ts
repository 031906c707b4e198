import { Interrupted } from './failure.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SECOND_SIGNAL_EXIT = 1;

export interface Stop {
  readonly signal: AbortSignal;
  /** Restores the default handling of signals. */
  release(): void;
}

/**
 * A signal that is aborted by Ctrl-C or SIGTERM, with Interrupted as its reason. The second one ends the process
 * immediately, which loses no acknowledged write.
 */
export function onStop(): Stop {
  const controller = new AbortController();
  const stop = (name: string): void => {
    if (controller.signal.aborted) process.exit(SECOND_SIGNAL_EXIT);
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
