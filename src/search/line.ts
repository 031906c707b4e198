import { setMaxListeners } from 'node:events';

import type { SearchReader } from './engine.js';

/**
 * A reader that serves `atOnce` calls at a time, one of each request (which its signal identifies), and requests in
 * turn: one that searches a hundred times delays others by one search each time. A call that waits ends with its signal.
 */
export function inLine(reader: SearchReader, atOnce: number): SearchReader {
  /** The calls that wait, by request, in the order in which requests are served next. */
  const waiting = new Map<AbortSignal, (() => Promise<void>)[]>();
  const served = new Set<AbortSignal>();

  function serveNext(): void {
    for (const [request, calls] of waiting) {
      if (served.size >= atOnce) return;
      if (served.has(request)) continue;
      const call = calls.shift();
      waiting.delete(request);
      if (calls.length > 0) waiting.set(request, calls);
      if (call === undefined) continue;
      served.add(request);
      void call().finally(() => {
        served.delete(request);
        serveNext();
      });
    }
  }

  async function wait<T>(read: () => Promise<T>, signal: AbortSignal = new AbortController().signal): Promise<T> {
    signal.throwIfAborted();
    // Every call of a request listens.
    setMaxListeners(0, signal);
    let stop: (() => void) | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        stop = () => reject(signal.reason as Error);
        signal.addEventListener('abort', stop, { once: true });
        const call = async () => (signal.aborted ? undefined : read().then(resolve, reject));
        waiting.set(signal, [...(waiting.get(signal) ?? []), call]);
        serveNext();
      });
    } finally {
      if (stop) signal.removeEventListener('abort', stop);
    }
  }

  return {
    ...reader,
    search: (query, page, signal) => wait(() => reader.search(query, page, signal), signal),
    count: (query, signal) => wait(() => reader.count(query, signal), signal),
  };
}
