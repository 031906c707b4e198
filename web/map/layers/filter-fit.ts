import { ViewportError, type ViewportState } from '../../../src/client/public.js';

/** After a filter was too much for the server, it is tried again when this many markers are left. */
const TRIED_AGAIN = 10_000;
/** A filter that reads more than allowed, or for longer. */
const TOO_MUCH: ReadonlySet<string> = new Set(['LIMIT_EXCEEDED', 'UNAVAILABLE']);

/** Decides whether points are requested with their filter: not where filtering those in view is too much for the server. */
export class FilterFit {
  #isUnfiltered = false;
  /** The filter is tried again when at most this many markers are in view. */
  #triedAgain = TRIED_AGAIN;

  get isUnfiltered(): boolean {
    return this.#isUnfiltered;
  }

  /** Begins again, with another filter. */
  reset(): void {
    this.#isUnfiltered = false;
    this.#triedAgain = TRIED_AGAIN;
  }

  /** Learns from a response to points with a filter. Returns whether they have to be requested again, the other way. */
  learn({ error, loading, markers, clusters }: ViewportState): boolean {
    if (loading) return false;
    if (!this.#isUnfiltered) {
      this.#isUnfiltered = error instanceof ViewportError && TOO_MUCH.has(error.code);
      return this.#isUnfiltered;
    }
    const total = clusters.reduce((sum, { count }) => sum + count, markers.length);
    if (error || total === 0 || total > this.#triedAgain) return false;
    // If that fails too, not before much fewer are left.
    this.#triedAgain = total / 2;
    this.#isUnfiltered = false;
    return true;
  }
}
