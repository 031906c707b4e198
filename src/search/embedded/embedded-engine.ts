import type { SearchEngine } from '../engine.js';
import { type IndexPlace, type Row, openIndexFiles } from './open.js';
import { IndexReader, placeIn } from './read.js';
import { IndexWriter } from './write.js';

/** An index in a SQLite file of this server. Throws UNAVAILABLE where SQLite does not run. */
export async function openEmbeddedEngine(place: IndexPlace, now: () => number): Promise<SearchEngine> {
  const files = await openIndexFiles(place);
  const writer = new IndexWriter(files.writer, now);
  const reader = new IndexReader(files.reader);
  return {
    write: (changes, checkpoint) => writer.write(changes, checkpoint),
    clear: () => writer.clear(),
    checkpoint() {
      const row = files.reader.prepare('SELECT checkpoint FROM progress').get() as Row | undefined;
      return Promise.resolve(row === undefined ? undefined : String(row['checkpoint']));
    },
    search: (query, { after, limit }) =>
      Promise.resolve(reader.search(query, after === undefined ? undefined : placeIn(after), limit)),
    count: (query) => Promise.resolve(reader.count(query)),
    isPosition: (text) => placeIn(text) !== undefined,
    close() {
      files.close();
      return Promise.resolve();
    },
  };
}
