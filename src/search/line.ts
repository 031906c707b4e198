import pLimit, { type LimitFunction } from 'p-limit';

import type { SearchReader } from './engine.js';

/**
 * A reader that serves `atOnce` calls at a time, one of each request (which its signal identifies): a request that
 * searches a hundred times delays another by one search each time. Calls that still wait when their signal is aborted
 * are not served.
 */
export function inLine(reader: SearchReader, atOnce: number): SearchReader {
  const line = pLimit(atOnce);
  const lines = new WeakMap<AbortSignal, LimitFunction>();
  function wait<T>(read: () => Promise<T>, signal: AbortSignal = new AbortController().signal): Promise<T> {
    const own = lines.get(signal) ?? pLimit(1);
    lines.set(signal, own);
    return own(() =>
      line(() => {
        signal.throwIfAborted();
        return read();
      }),
    );
  }
  return {
    ...reader,
    search: (query, page, signal) => wait(() => reader.search(query, page, signal), signal),
    count: (query, signal) => wait(() => reader.count(query, signal), signal),
  };
}
