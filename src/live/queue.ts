import { limitExceeded, type CellportError } from '../errors.js';

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
 * Values waiting for one client, which reads them at its own pace: first those of `first`. If more new values wait than the
 * limits allow, all are dropped and the reader gets LIMIT_EXCEEDED. If all queues that share `all` have too many, so does
 * a reader that has not kept up. `onEnd` is called once: when the queue has ended or its reader has left.
 * Not a generator, because that cannot return while it waits.
 */
export class Queue<T> implements AsyncIterableIterator<T> {
  readonly #onEnd: () => void;
  readonly #first: Iterator<T>;
  readonly #limits: QueueLimits;
  readonly #all: { bytes: number };
  #waiting: { readonly value: T; readonly bytes: number }[] = [];
  #next = 0;
  #bytes = 0;
  #reason: CellportError | undefined;
  #left = false;
  #wake: (() => void) | undefined;

  constructor(onEnd: () => void, first: Iterator<T> = [].values(), limits = QUEUE_LIMITS, all = { bytes: 0 }) {
    this.#onEnd = onEnd;
    this.#first = first;
    this.#limits = limits;
    this.#all = all;
  }

  push(value: T, bytes: number): void {
    if (this.#left || this.#reason !== undefined) return;
    const limits = this.#limits;
    const count = this.#waiting.length - this.#next;
    const isFull = count >= limits.values || this.#bytes + bytes > limits.bytes;
    if (isFull || (this.#bytes > 0 && this.#all.bytes + bytes > limits.allBytes)) {
      this.end(tooMuch(count, this.#bytes, limits));
      return;
    }
    this.#waiting.push({ value, bytes });
    this.#count(bytes);
    this.#wake?.();
  }

  /** Drops the waiting values; the client gets the reason. */
  end(reason: CellportError): void {
    if (this.#left || this.#reason !== undefined) return;
    this.#reason = reason;
    this.#close();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#all.bytes += bytes;
  }

  #close(): void {
    this.#waiting = [];
    this.#next = 0;
    this.#count(-this.#bytes);
    this.#onEnd();
    this.#wake?.();
  }

  /** Takes the oldest waiting value; undefined if none waits. */
  #take(): { readonly value: T } | undefined {
    const entry = this.#waiting[this.#next];
    if (entry === undefined) return undefined;
    this.#next += 1;
    this.#count(-entry.bytes);
    // Compacted rarely, so that taking a value is cheap on average.
    if (this.#next > this.#waiting.length / 2) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    return entry;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const early = this.#left || this.#reason !== undefined ? undefined : this.#first.next();
      if (early?.done === false) return early;
      if (this.#left) return { done: true, value: undefined };
      const entry = this.#take();
      if (entry !== undefined) return { done: false, value: entry.value };
      if (this.#reason !== undefined) {
        this.#left = true;
        throw this.#reason;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    const isOpen = !this.#left && this.#reason === undefined;
    this.#left = true;
    if (isOpen) this.#close();
    return { done: true, value: undefined };
  }
}
