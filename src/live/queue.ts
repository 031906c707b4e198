import { type CellportError, limitExceeded } from '../errors.js';

/** Values waiting for one client, which reads them at its own pace. */
export interface Queue<T> {
  readonly reader: AsyncIterableIterator<T>;
  push(value: T, bytes: number): void;
  /** Drops the waiting values; the client gets the reason. */
  end(reason: CellportError): void;
}

export interface QueueLimits {
  readonly values: number;
  readonly bytes: number;
  /** Of all queues that share one. */
  readonly allBytes: number;
}

/** A client with this many unread values is not slow but stuck. */
const QUEUE_LIMITS: QueueLimits = { values: 10_000, bytes: 8 * 1024 * 1024, allBytes: 32 * 1024 * 1024 };

function tooMuch(values: number, bytes: number, limits: QueueLimits): CellportError {
  const what = `${values} of ${bytes} bytes`;
  const most = `${limits.values} of ${limits.bytes} bytes, ${limits.allBytes} for all clients`;
  return limitExceeded('changes waiting for this client', what, most, 'read changes faster, or subscribe to fewer');
}

/**
 * Creates a queue for one reader, who first gets the values of `first`. If more new values wait than the limits allow,
 * all are dropped and the reader gets LIMIT_EXCEEDED. If all queues that share `all` have too many, so does a reader
 * that has not kept up. `onEnd` is called once: when the queue has ended or its reader has left.
 */
export function createQueue<T>(
  onEnd: () => void,
  first: Iterator<T> = [].values(),
  limits: QueueLimits = QUEUE_LIMITS,
  all: { bytes: number } = { bytes: 0 },
): Queue<T> {
  let waiting: { readonly value: T; readonly bytes: number }[] = [];
  let next = 0;
  let bytes = 0;
  let reason: CellportError | undefined;
  let left = false;
  let wake: (() => void) | undefined;

  function forget(): void {
    waiting = [];
    next = 0;
    all.bytes -= bytes;
    bytes = 0;
  }

  function close(): void {
    forget();
    onEnd();
    wake?.();
  }

  function end(why: CellportError): void {
    if (left || reason !== undefined) return;
    reason = why;
    close();
  }

  /** Takes the oldest waiting value; undefined if none waits. */
  function take(): { readonly value: T } | undefined {
    const entry = waiting[next];
    if (entry === undefined) return undefined;
    next += 1;
    bytes -= entry.bytes;
    all.bytes -= entry.bytes;
    // Compacted rarely, so that taking a value is cheap on average.
    if (next > waiting.length / 2) {
      waiting = waiting.slice(next);
      next = 0;
    }
    return entry;
  }

  // Not a generator, because that cannot return while it waits.
  const reader: AsyncIterableIterator<T> = {
    [Symbol.asyncIterator]: () => reader,
    async next() {
      for (;;) {
        const early = left || reason !== undefined ? undefined : first.next();
        if (early?.done === false) return early;
        if (left) return { done: true, value: undefined };
        const entry = take();
        if (entry !== undefined) return { done: false, value: entry.value };
        if (reason !== undefined) {
          left = true;
          throw reason;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async return() {
      if (!left) {
        left = true;
        if (reason === undefined) close();
      }
      return { done: true, value: undefined };
    },
  };

  return {
    reader,
    push(value, size) {
      if (left || reason !== undefined) return;
      const count = waiting.length - next;
      const isFull = count >= limits.values || bytes + size > limits.bytes;
      if (isFull || (bytes > 0 && all.bytes + size > limits.allBytes)) return end(tooMuch(count, bytes, limits));
      waiting.push({ value, bytes: size });
      bytes += size;
      all.bytes += size;
      wake?.();
    },
    end,
  };
}
