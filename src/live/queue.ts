import { type CellportError, limitExceeded } from '../errors.js';

/** What waits for one client that takes it at its own pace. */
export interface Queue<T> {
  readonly reader: AsyncIterableIterator<T>;
  push(value: T, bytes: number): void;
  /** Nothing more comes: what waits is dropped, and the client is told why. */
  end(reason: CellportError): void;
}

export interface QueueLimits {
  readonly values: number;
  readonly bytes: number;
}

/** A client that has to take in this much at once is not slow, it is far behind. */
export const QUEUE_LIMITS: QueueLimits = { values: 10_000, bytes: 8 * 1024 * 1024 };

/**
 * A queue for one reader, who takes what stands in `first` before all else, at leisure. When more waits behind that than
 * the limits allow, all of it is dropped and the reader gets LIMIT_EXCEEDED. `onEnd` is called once: when the queue has
 * ended or its reader has left.
 */
export function createQueue<T>(
  onEnd: () => void,
  first: Iterator<T> = [].values(),
  limits: QueueLimits = QUEUE_LIMITS,
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

  /** The value that has waited for longest; undefined where none does. */
  function take(): { readonly value: T } | undefined {
    const entry = waiting[next];
    if (entry === undefined) return undefined;
    next += 1;
    bytes -= entry.bytes;
    if (next === waiting.length) forget();
    return entry;
  }

  // No generator: that could not be told to return while it waits.
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
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
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
      if (waiting.length - next >= limits.values || bytes + size > limits.bytes) {
        const what = `${waiting.length - next} of ${bytes} bytes`;
        const most = `${limits.values} of ${limits.bytes} bytes`;
        end(limitExceeded('changes that wait for this client', what, most, 'take them faster, or ask for fewer'));
        return;
      }
      waiting.push({ value, bytes: size });
      bytes += size;
      wake?.();
    },
    end,
  };
}
