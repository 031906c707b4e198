import pLimit from 'p-limit';

import { CellportError } from '../../errors.js';
import { pause, retry, type RetryOptions } from '../../retry.js';
import { isTransient, throttled } from './failures.js';

/**
 * The results of `work` for all items, at most `limit` at a time, in item order. After the first failure no more items
 * are started; it is thrown once everything started has ended, so nothing continues after the call.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  if (items.length === 0) return [];
  const failures: unknown[] = [];
  const results: R[] = [];
  await pLimit(limit).map(items, async (item, index) => {
    if (failures.length > 0) return;
    try {
      results[index] = await work(item, index);
    } catch (error) {
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
  return results;
}

/**
 * Yields the results of `work` for items that arrive one by one, in order. At most `limit` results are started but not
 * yet consumed, and no more items are requested until one is. A consumer that stops early waits until everything
 * started has ended.
 */
export async function* mapAhead<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const started: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Thrown when its turn comes, not before.
      result.catch(() => undefined);
      started.push(result);
      if (started.length < limit) continue;
      yield await (started[0] as Promise<R>);
      void started.shift();
    }
    for (; started.length > 0; void started.shift()) yield await (started[0] as Promise<R>);
  } finally {
    await Promise.allSettled(started);
  }
}

/**
 * Yields what several readers yield, as it arrives; each of them reads ahead while the consumer is busy. A failure is
 * thrown when the consumer asks for more. A consumer that stops early waits until everything started has ended.
 */
export async function* merged<T>(readers: readonly AsyncIterator<T, void>[]): AsyncGenerator<T, void, undefined> {
  const next = (reader: AsyncIterator<T, void>) => {
    const result = reader.next().then((step) => ({ reader, step }));
    // Thrown when the consumer asks, not before.
    result.catch(() => undefined);
    return result;
  };
  const running = new Map(readers.map((reader) => [reader, next(reader)]));
  try {
    while (running.size > 0) {
      const { reader, step } = await Promise.race(running.values());
      running.delete(reader);
      if (step.done === true) continue;
      running.set(reader, next(reader));
      yield step.value;
    }
  } finally {
    await Promise.allSettled(running.values());
  }
}

/** Splits a list into chunks of `size`; the last one may be shorter. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

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
