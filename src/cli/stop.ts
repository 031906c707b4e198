import { setMaxListeners } from 'node:events';

import { Interrupted } from './failure.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SECOND_SIGNAL_EXIT = 1;

export interface Stop {
  readonly signal: AbortSignal;
  /** Lets signals do what they do by themselves again. */
  release(): void;
}

/**
 * A signal that is aborted by Ctrl-C or SIGTERM, with Interrupted as its reason. A second one ends the process at once:
 * whoever presses Ctrl-C twice means it, and nothing that was acknowledged is lost by it.
 */
export function onStop(): Stop {
  const controller = new AbortController();
  // Every request under way listens to it.
  setMaxListeners(0, controller.signal);
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
