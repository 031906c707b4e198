import type { SearchChange, SearchEngine, SearchHit, SearchReader } from '../engine.js';
import { IndexThread } from './call-thread.js';
import { openToRead, type IndexPlace } from './open.js';
import { isPosition, readerOf } from './read.js';

/** A change without what an index in a file does not hold. */
function slim(change: SearchChange): SearchChange {
  return change.type === 'put' ? { ...change, document: { ...change.document, geometry: undefined } } : change;
}

/**
 * Opens this server's index in an SQLite file, with a thread that reads and one that writes. Throws UNAVAILABLE if
 * SQLite does not run here.
 */
export async function openEmbeddedEngine(place: IndexPlace, now: () => number): Promise<SearchEngine> {
  const writer = new IndexThread({ task: 'write', place });
  const path = await writer.call<string>('path').catch(async (error: unknown) => {
    await writer.close();
    throw error;
  });
  const reader = new IndexThread({ task: 'read', path });
  return {
    checkpoint: () => reader.call<string | undefined>('checkpoint'),
    search: (query, page, signal) => reader.call<SearchHit[]>('search', [query, page], signal),
    count: (query, signal) => reader.call<number>('count', [query], signal),
    isPosition,
    write: (changes, checkpoint) => writer.call('write', [changes.map(slim), checkpoint, now()]),
    clear: () => writer.call('clear'),
    async close() {
      await reader.close();
      await writer.close();
    },
  };
}

/**
 * Opens the indexes of a table that servers maintain, or have maintained, in a folder. Throws UNAVAILABLE if SQLite
 * does not run here.
 */
export async function openEmbeddedReaders(folder: string, table: string): Promise<SearchReader[]> {
  return (await openToRead(folder, table)).map(readerOf);
}
