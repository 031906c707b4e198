import { systemClock } from '../../src/clock.js';
import { encode, LONGEST_Z } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { silentLog } from '../../src/log.js';
import type { MapMarker } from '../../src/model/marker.js';
import type { DirectoryPart } from '../../src/pages/directory.js';
import type { PageSource } from '../../src/read/from-pages/chain.js';
import { MOST_HINTS, type PageReplacement, type StoredPage } from '../../src/store/page/pages.js';
import type { PageMemory } from '../../src/stream/pages/memory.js';
import type { PagesPort } from '../../src/stream/ports.js';
import { PagesModel, TEXT, type ModelPage } from '../stream/simulation/pages-model.js';

export const SCOPE = 'places';
/** The size of a page with about three markers. */
const MOST_BYTES = 700;

export type Fault = 'lost' | 'unanswered' | 'none';

/** A table of pages in memory. A write, or its response, may be lost. */
export class PageTable implements PagesPort {
  readonly #model = new PagesModel();
  /** Determines the fate of the next writes. */
  faults: Fault[] = [];
  /** Called after each write. */
  onWrite: () => void | Promise<void> = () => undefined;
  /** Number of requests that have read pages. */
  reads = 0;

  all(): ModelPage[] {
    return this.#model.all(SCOPE);
  }

  directory(partition: string): DirectoryPart[] {
    return this.#model.directory(SCOPE, partition);
  }

  find(scope: string, position: string) {
    this.reads += 1;
    return Promise.resolve(this.#model.find(scope, position));
  }

  from(scope: string, begin: string, limit: number) {
    this.reads += 1;
    return Promise.resolve(this.#model.from(scope, begin, limit));
  }

  async write(replacements: readonly PageReplacement[]): Promise<boolean[]> {
    const results: boolean[] = [];
    for (const replacement of replacements) {
      const fault = this.faults.shift() ?? 'none';
      if (fault === 'lost') throw new Error('lost');
      results.push(this.#model.write(replacement));
      await this.onWrite();
      if (fault === 'unanswered') throw new Error('unanswered');
    }
    return results;
  }

  findDirectoryPart(scope: string, position: string) {
    return Promise.resolve(this.#model.findDirectoryPart(scope, position));
  }

  putDirectoryPart(scope: string, part: DirectoryPart) {
    this.#model.putDirectoryPart(scope, part);
    return Promise.resolve();
  }
}

/** Whether a page's data fits, unless it has a single marker. */
export const fits = ({ data, entries }: ModelPage): boolean => data.length <= MOST_BYTES || entries.length <= 1;

/** Reads a table; `pause` is awaited before each read. */
export const sourceOf = (table: PageTable, pause: () => Promise<void> = () => Promise.resolve()): PageSource => ({
  async byKeys(begins) {
    const pages: (StoredPage | undefined)[] = [];
    for (const wanted of begins) {
      await pause();
      pages.push(table.all().find(({ begin }) => begin === wanted));
    }
    return pages;
  },
  async between(from, to) {
    await pause();
    return table
      .all()
      .filter(({ begin }) => begin.charAt(0) === from.charAt(0))
      .filter(({ begin }) => compareBytes(from, begin) <= 0 && compareBytes(begin, to) <= 0);
  },
});

export const markerAt = (key: string, lng: number, lat: number, mapVersion: number): MapMarker => ({
  collection: SCOPE,
  key,
  position: { lng, lat },
  geohash: encode({ lng, lat }, LONGEST_Z),
  name: `name of ${key}`,
  category: null,
  mapVersion,
  mapProperties: { population: lng * 7 },
  complete: true,
});

export const applying = (pages: PagesPort, memory: PageMemory, mostHints = MOST_HINTS) => ({
  pages,
  memory,
  mostHints,
  pack: { encode: TEXT.encode, mostBytes: MOST_BYTES },
  decode: TEXT.decode,
  clock: { ...systemClock, sleep: () => Promise.resolve() },
  signal: new AbortController().signal,
  log: silentLog,
  holds: () => true,
});
