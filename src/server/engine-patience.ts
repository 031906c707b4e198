import { systemClock } from '../clock.js';
import { type Log, silentLog } from '../log.js';
import { retry } from '../retry.js';
import type { Patiently } from '../store/database.js';
import { isDisconnected } from '../store/request/failures.js';

/** As long as an engine may take to start. */
const RESTARTS_WITHIN_MS = 60_000;
const SLOW_MS = 20_000;

export interface Waiting {
  readonly log?: Log;
  /** Ends the waiting, with its reason. */
  readonly signal?: AbortSignal;
  /** Whether commands wait while the engine restarts. Always by default; those of clients should fail instead. */
  readonly waits?: () => boolean;
}

/**
 * Waits while the embedded engine starts, or restarts for the servers that share it: a running server recovers, so one
 * that starts must not fail. Says once that it waits.
 */
export function createPatience({ log = silentLog, signal, waits = () => true }: Waiting) {
  let said = false;
  const onRetry = () => {
    if (!said) log.warn({}, 'Waiting for the embedded DynamoDB, which is starting or restarting');
    said = true;
  };
  const patiently: Patiently = (command) => {
    const until = systemClock.now() + RESTARTS_WITHIN_MS;
    const retryable = (error: unknown) => {
      if (!isDisconnected(error) || !waits() || systemClock.now() > until) return false;
      signal?.throwIfAborted();
      return true;
    };
    return retry(command, { attempts: Infinity, retryable, onRetry, firstMs: 200, longestMs: 1_000 });
  };
  return {
    patiently,
    async opening<T>(open: () => Promise<T>): Promise<T> {
      const slow = setTimeout(onRetry, SLOW_MS);
      return open().finally(() => clearTimeout(slow));
    },
  };
}
