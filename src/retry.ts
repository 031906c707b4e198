import { systemClock, type Clock } from './clock.js';

/** Bounds of the pauses between attempts. */
export interface Backoff {
  /** Maximum pause before the first retry, in milliseconds; doubles with each further one. Default: 25. */
  readonly firstMs?: number | undefined;
  /** Maximum pause before any retry, in milliseconds. Default: 2,000. */
  readonly longestMs?: number | undefined;
}

/** How to pause between attempts. */
export interface Pauses extends Backoff {
  /** Ends the pause at once; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Pick<Clock, 'sleep' | 'random'> | undefined;
}

export interface RetryOptions extends Pauses {
  /** Maximum number of calls; Infinity to retry until one succeeds or the signal is aborted. */
  readonly attempts: number;
  /** Whether a failure is worth retrying. Default: always. */
  readonly retryable?: ((error: unknown) => boolean) | undefined;
  /** Called before each pause; `attempt` is 0 for the first call. */
  readonly onRetry?: ((error: unknown, attempt: number) => void) | undefined;
  /** The pause that a failure asks for, in milliseconds. */
  readonly retryAfterMs?: ((error: unknown) => number | undefined) | undefined;
}

/**
 * Milliseconds to wait before retry number `retries` (0 for the first): exponential backoff with full jitter, so that
 * clients refused together do not return together.
 */
export function backoffMs(
  retries: number,
  { firstMs = 25, longestMs = 2_000 }: Backoff = {},
  clock: Pick<Clock, 'random'> = systemClock,
): number {
  return clock.random() * Math.min(longestMs, firstMs * 2 ** retries);
}

/**
 * Waits before retry number `retries`, for `ms` milliseconds if a failure asks for that. Throws the signal's reason when
 * it is aborted.
 */
export async function pause(retries: number, pauses: Pauses = {}, ms?: number): Promise<void> {
  const { signal, clock = systemClock } = pauses;
  signal?.throwIfAborted();
  await clock.sleep(ms ?? backoffMs(retries, pauses, clock), signal);
  signal?.throwIfAborted();
}

/**
 * The result of the first successful call of `work`. Throws the last failure when attempts run out, the failure is not
 * retryable or the signal was aborted during the call; throws the signal's reason if it is aborted during a pause.
 */
export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts, retryable, onRetry, retryAfterMs, signal } = options;
  for (let attempt = 0; ; attempt += 1) {
    let askedMs: number | undefined;
    try {
      return await work(attempt);
    } catch (error) {
      if (signal?.aborted === true || attempt + 1 >= attempts || retryable?.(error) === false) throw error;
      onRetry?.(error, attempt);
      askedMs = retryAfterMs?.(error);
    }
    await pause(attempt, options, askedMs);
  }
}

export interface RestartOptions extends Pauses {
  readonly signal: AbortSignal;
  /** Called before each pause; what it throws ends the work. */
  readonly onFailure: (error: unknown) => void | Promise<void>;
}

/**
 * Does lasting work until it ends or the signal is aborted, and starts it again after each failure. `progressed` is to be
 * called when the work has got somewhere: the pauses grow only with failures in a row.
 */
export async function restartOnFailure(
  work: (progressed: () => void) => Promise<void>,
  { onFailure, ...pauses }: RestartOptions,
): Promise<void> {
  const { signal } = pauses;
  let failures = 0;
  while (!signal.aborted) {
    try {
      return await work(() => {
        failures = 0;
      });
    } catch (error) {
      if (signal.aborted) return;
      try {
        await onFailure(error);
        await pause(failures, pauses);
      } catch (reason) {
        if (!signal.aborted) throw reason;
      }
      failures += 1;
    }
  }
}
