import { CellportError } from '../../errors.js';
import { pause, retry, type RetryOptions } from '../../retry.js';
import { isTransient, throttled } from './failures.js';

/** For background work: with the default pauses, about two minutes in which DynamoDB makes no progress. */
export const BACKGROUND_RETRIES = { attempts: 120, retryable: isTransient } satisfies RetryOptions;

/** CONFLICT: in every attempt, others changed the item between our read and our write. */
export class TooManyUpdates extends CellportError {
  constructor() {
    super('CONFLICT', 'too many concurrent updates; retry');
  }
}

/** For a read and a conditional write that throw `TooManyUpdates` if another write came in between. */
export const CONFLICT_RETRIES = {
  attempts: 24,
  longestMs: 400,
  retryable: (error) => error instanceof TooManyUpdates,
} satisfies RetryOptions;

/**
 * Passes a batch to `process`, which returns what is left to process, until nothing is left. Throws THROTTLED if nothing
 * is processed in `attempts` consecutive calls; rethrows errors of `process` that are not retryable. `onRetry` is called
 * for errors of `process` only.
 */
export async function processAll<T>(
  batch: readonly T[],
  process: (left: readonly T[]) => Promise<readonly T[]>,
  { retryable, onRetry, ...options }: RetryOptions,
): Promise<void> {
  const nothingProcessed = throttled();
  async function step(left: readonly T[]): Promise<readonly T[]> {
    const rest = await process(left);
    if (rest.length === left.length) throw nothingProcessed;
    return rest;
  }
  let left = batch;
  while (left.length > 0) {
    const before = left;
    left = await retry(() => step(before), {
      ...options,
      retryable: (error) => error === nothingProcessed || retryable?.(error) === true,
      onRetry: (error, attempt) => error !== nothingProcessed && onRetry?.(error, attempt),
    });
    if (left.length > 0) await pause(0, options);
  }
}

/** Repeats repeatable work while DynamoDB throttles or is unavailable, for about two minutes. */
export function retryInBackground<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return retry(work, { ...BACKGROUND_RETRIES, signal });
}
