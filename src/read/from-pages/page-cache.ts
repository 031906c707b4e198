import { LRUCache } from 'lru-cache';

import { FollowedCache, type FillToken, type FollowedCacheOptions } from '../../loaders/followed-cache.js';
import { bytesOfText, bytesOfValue } from '../../model/memory.js';
import { entriesOfColumns, type PageColumns } from '../../store/page/page-data.js';
import type { StoredPage } from '../../store/page/pages.js';

/** Identifies a page in the cache. */
export const pageName = (scope: string, generation: string, begin: string) => `${scope}\n${generation}\n${begin}`;

const PAGE_BYTES = 600;
/** Numbers and references of a marker in columns. */
const MARKER_BYTES = 60;
/** A marker as an object, with its position in the order of its collection, besides its texts. */
const OBJECT_BYTES = 600;
/** Texts and values are there again in the positions of markers and in the Features that are made of them. */
const COPIES = 2;
/** The share of the memory that is for pages as objects. */
const AS_OBJECTS = 1 / 8;

/** A page without the objects of its markers, and its approximate memory in bytes. */
interface KeptPage extends Omit<StoredPage, 'entries'> {
  readonly memory: number;
}

/** The approximate memory of columns in bytes. */
function bytesOfColumns([keys, , , names, categories, , , shapes, , values]: PageColumns): number {
  const texts = [...keys, ...names, ...new Set(categories)];
  const bytes = texts.reduce((sum, text) => sum + bytesOfText(text ?? ''), 0);
  return PAGE_BYTES + MARKER_BYTES * keys.length + bytes + bytesOfValue(shapes) + bytesOfValue(values);
}

/**
 * Pages by `pageName`, shared by all requests of the process that maintains the pages, in columns: a sixth of the memory of
 * markers as objects. Those that were used last are also kept as objects. A page is dropped when it is written.
 */
export class PageCache extends FollowedCache<KeptPage> {
  protected override readonly untrustedMs = 0;
  readonly #asObjects: LRUCache<string, StoredPage & KeptPage> | undefined;
  /** The number of pages that were decoded. */
  decoded = 0;

  constructor(options: FollowedCacheOptions) {
    super({ ...options, maxBytes: options.maxBytes * (1 - AS_OBJECTS) });
    const sizeCalculation = ({ memory, entries }: StoredPage & KeptPage) =>
      COPIES * memory + OBJECT_BYTES * entries.length;
    if (options.maxBytes > 0)
      this.#asObjects = new LRUCache({ maxSize: options.maxBytes * AS_OBJECTS, sizeCalculation });
  }

  protected override bytesOf({ memory }: KeptPage, name: string): number {
    return memory + 2 * name.length;
  }

  protected override versionOf({ round }: KeptPage): number {
    return round;
  }

  /** A page of a collection, as long as it is current. */
  find(name: string, collection: string): StoredPage | undefined {
    const kept = this.get(name);
    return kept && this.#withEntries(name, kept, collection);
  }

  /** Adds a page found by a read. Returns the newest one that is used, which may be another. */
  keep(name: string, page: StoredPage, token: FillToken, collection: string): StoredPage {
    this.decoded += 1;
    if (!this.#asObjects) return page;
    const { entries, ...rest } = page;
    const given = { ...rest, memory: bytesOfColumns(rest.columns) };
    const newest = this.put(name, given, token);
    if (newest !== given) return this.#withEntries(name, newest, collection);
    this.#asObjects.set(name, { ...given, entries });
    return page;
  }

  #withEntries(name: string, kept: KeptPage, collection: string): StoredPage {
    const known = this.#asObjects?.get(name);
    if (known?.columns === kept.columns) return known;
    this.decoded += 1;
    const page = { ...kept, entries: entriesOfColumns(kept.columns, collection) };
    this.#asObjects?.set(name, page);
    return page;
  }

  override clear(): void {
    super.clear();
    this.#asObjects?.clear();
  }
}
