import { ViewportError, type ViewportState } from '../../../src/client/public.js';

/** After the server has refused a filter as too expensive, it is retried once at most this many markers are in view. */
const TRIED_AGAIN = 10_000;
/** Error codes of a filter that exceeds the read budget or the deadline. */
const TOO_MUCH: ReadonlySet<string> = new Set(['LIMIT_EXCEEDED', 'UNAVAILABLE']);

/**
 * Decides whether to request points with their filter: not while filtering those in view is too expensive for the
 * server.
 */
export class FilterFit {
  #isUnfiltered = false;
  /** The filter is retried when at most this many markers are in view. */
  #triedAgain = TRIED_AGAIN;

  get isUnfiltered(): boolean {
    return this.#isUnfiltered;
  }

  /** Resets the state for another filter. */
  reset(): void {
    this.#isUnfiltered = false;
    this.#triedAgain = TRIED_AGAIN;
  }

  /**
   * Updates the decision after a response to a filtered request for points. Returns whether to request the points again
   * the other way.
   */
  learn({ error, loading, markers, clusters }: ViewportState): boolean {
    if (loading) return false;
    if (!this.#isUnfiltered) {
      this.#isUnfiltered = error instanceof ViewportError && TOO_MUCH.has(error.code);
      return this.#isUnfiltered;
    }
    const total = clusters.reduce((sum, { count }) => sum + count, markers.length);
    if (error || total === 0 || total > this.#triedAgain) return false;
    // If that fails too, retry only when far fewer are left.
    this.#triedAgain = total / 2;
    this.#isUnfiltered = false;
    return true;
  }
}
