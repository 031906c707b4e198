import { ViewportError } from '../../../src/client/public.js';

/** How long the map waits for an answer before it says so. */
const SLOW_MS = 10_000;
/** Then, how long until the requests are sent again, over other connections. Doubles each time. */
const DEAD_MS = 20_000;
/** Between two requests, nothing is loading for a moment. */
const SETTLED_MS = 300;

/** Whether this error ends by itself: the server is busy or cannot be reached. */
export const isPassing = (error: Error | null): error is ViewportError =>
  error instanceof ViewportError && ['UNAVAILABLE', 'THROTTLED'].includes(error.code);

export interface ConnectionOptions {
  /** Says that the map may be out of date, and why; undefined once it is not. */
  readonly onStale: (why: string | undefined) => void;
  /** Called when requests have been without an answer for so long that their connections must be dead. */
  readonly onDead: () => void;
}

/** Judges the connection to the server by what is loading and the last error. Requests that fail are retried elsewhere. */
export function createConnection({ onStale, onDead }: ConnectionOptions) {
  let isLoading = false;
  let deaths = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let settling: ReturnType<typeof setTimeout> | undefined;

  function wait(): void {
    waiting = setTimeout(() => {
      onStale(deaths === 0 ? 'No answer yet' : 'Offline, trying again');
      waiting = setTimeout(
        () => {
          deaths += 1;
          onDead();
          wait();
        },
        DEAD_MS * 2 ** deaths,
      );
    }, SLOW_MS);
  }
  const settle = () => {
    deaths = 0;
    onStale(undefined);
  };

  return ({ loading, error }: { readonly loading: boolean; readonly error: Error | null }): void => {
    clearTimeout(settling);
    if (isPassing(error)) {
      // Only the client's own errors, about a missing response, begin with the URL.
      const isGone = /^\/\S+ /.test(error.message);
      onStale(isGone ? 'Offline, trying again' : 'Server busy, trying again');
    } else if (!loading) settling = setTimeout(settle, SETTLED_MS);
    if (loading === isLoading) return;
    isLoading = loading;
    clearTimeout(waiting);
    if (loading) wait();
  };
}

export type Connection = ReturnType<typeof createConnection>;
