import type { SearchReader } from '../engine.js';
import type { SqliteReader } from './open.js';
import { IndexReader, parseOrder } from './read.js';

/** The part of an engine that answers searches, over an open file, one at a time. */
export function readerOf(file: SqliteReader): SearchReader {
  /** Runs a call until it is aborted, in the middle of a statement, too. */
  async function until<T>(signal: AbortSignal | undefined, call: (reader: IndexReader) => Promise<T>): Promise<T> {
    const interrupt = () => file.interrupt();
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      return await call(new IndexReader(file, signal));
    } finally {
      signal?.removeEventListener('abort', interrupt);
    }
  }
  return {
    async checkpoint() {
      const [row] = await (await file.prepare('SELECT checkpoint FROM progress')).all();
      return row === undefined ? undefined : String(row['checkpoint']);
    },
    search: (query, { after, limit }, signal) =>
      until(signal, (reader) => reader.search(query, after === undefined ? undefined : parseOrder(after), limit)),
    count: (query, signal) => until(signal, (reader) => reader.count(query)),
    isPosition,
    close: async () => file.close(),
  };
}

/** Whether a text is a valid position of a hit. */
export const isPosition = (text: string): boolean => parseOrder(text) !== undefined;
