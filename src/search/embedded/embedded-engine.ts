import { fullDisk } from '../../disk.js';
import type { SearchEngine, SearchReader } from '../engine.js';
import { type IndexPlace, type SqlRow, type Sqlite, openIndexFiles, openToRead } from './open.js';
import { IndexReader, parseOrder } from './read.js';
import { IndexWriter } from './write.js';

function readerOf(file: Sqlite, close: () => void): SearchReader {
  const reader = new IndexReader(file);
  return {
    checkpoint() {
      const row = file.prepare('SELECT checkpoint FROM progress').get() as SqlRow | undefined;
      return Promise.resolve(row === undefined ? undefined : String(row['checkpoint']));
    },
    search: (query, { after, limit }) =>
      Promise.resolve(reader.search(query, after === undefined ? undefined : parseOrder(after), limit)),
    count: (query) => Promise.resolve(reader.count(query)),
    isPosition: (text) => parseOrder(text) !== undefined,
    close() {
      close();
      return Promise.resolve();
    },
  };
}

/** Opens this server's index in an SQLite file. Throws UNAVAILABLE if SQLite does not run here. */
export async function openEmbeddedEngine(place: IndexPlace, now: () => number): Promise<SearchEngine> {
  const files = await openIndexFiles(place);
  const writer = new IndexWriter(files.writer, now, () => fullDisk(place.folder));
  return {
    ...readerOf(files.reader, () => files.close()),
    write: (changes, checkpoint) => writer.write(changes, checkpoint),
    clear: () => writer.clear(),
  };
}

/**
 * Opens the indexes of a table that servers maintain, or have maintained, in a folder. Throws UNAVAILABLE if SQLite
 * does not run here.
 */
export async function openEmbeddedReaders(place: Omit<IndexPlace, 'maxBytes'>): Promise<SearchReader[]> {
  return (await openToRead(place)).map((file) => readerOf(file, () => file.close()));
}
