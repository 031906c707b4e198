import type { Clock } from '../../clock.js';
import { CellportError, reasonFor } from '../../errors.js';

/** Writes of one kind that have failed for some time without any success. */
export interface FailingWrites {
  readonly forMs: number;
  /** The error of the last one. */
  readonly reason: string;
}

/**
 * Tracks whether writes succeed. Reads do not show it: they still succeed when a disk is full. Kinds of writes are
 * distinguished, because small ones may still succeed when large ones fail. Throttling does not count as a failure.
 */
export class WriteWatch {
  readonly #clock: Clock;
  readonly #failing = new Map<string, { readonly since: number; readonly reason: string }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wraps a function to track its result. */
  watched<A extends unknown[], T>(kind: string, write: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return async (...args) => {
      const since = this.#failing.get(kind)?.since ?? this.#clock.now();
      try {
        const result = await write(...args);
        this.#failing.delete(kind);
        return result;
      } catch (error) {
        const throttled = error instanceof CellportError && error.code === 'THROTTLED';
        if (!throttled) this.#failing.set(kind, { since, reason: reasonFor(error) });
        throw error;
      }
    };
  }

  /** Forgets failures, because another process writes now. */
  clear(): void {
    this.#failing.clear();
  }

  /** The writes that have failed for longest; null if the last ones have succeeded. */
  get failing(): FailingWrites | null {
    const [longest] = [...this.#failing.values()].sort((a, b) => a.since - b.since);
    return longest === undefined ? null : { forMs: this.#clock.now() - longest.since, reason: longest.reason };
  }
}
