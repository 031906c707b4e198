import {
  FollowedCache,
  LAG_MS,
  REMEMBERED_MS,
  type FillToken,
  type FollowedCacheOptions,
} from '../../loaders/followed-cache.js';
import { bytesOfText, bytesOfValue } from '../../model/memory.js';
import { entriesOfColumns, type PageColumns } from '../../store/page/page-data.js';
import type { StoredPage } from '../../store/page/pages.js';
import { MarkerTexts } from './marker-texts.js';

/** Identifies a page in the cache. */
export const pageName = (scope: string, generation: string, begin: string) => `${scope}\n${generation}\n${begin}`;

const scopeOf = (name: string) => name.slice(0, name.indexOf('\n'));

const PAGE_BYTES = 600;
/** Numbers and references of a marker in columns. */
const MARKER_BYTES = 60;
/** The share of the memory that is for texts of markers. */
const AS_TEXTS = 3 / 8;

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
 * Pages by `pageName`, shared by all requests of the process, in columns: a sixth of the memory of markers as objects; and
 * the JSON of their markers. A page is dropped when it is written, or when a report tells so: see `FollowedPages`.
 */
export class PageCache extends FollowedCache<KeptPage> {
  protected override readonly untrustedMs = 0;
  readonly texts: MarkerTexts;
  readonly #isOn: boolean;
  readonly #now: () => number;
  /** When the pages of a scope were forgotten, oldest first. */
  readonly #forgotten = new Map<string, number>();
  /** The number of pages that were decoded. */
  decoded = 0;

  constructor(options: FollowedCacheOptions) {
    super({ ...options, maxBytes: options.maxBytes * (1 - AS_TEXTS) });
    this.#isOn = options.maxBytes > 0;
    this.#now = options.now;
    this.texts = new MarkerTexts(options.maxBytes * AS_TEXTS);
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
    return kept && withEntries(kept, collection);
  }

  /** Adds a page found by a read. Returns the newest one that is used, which may be another. */
  keep(name: string, page: StoredPage, token: FillToken, collection: string): StoredPage {
    this.decoded += 1;
    const forgotten = this.#forgotten.get(scopeOf(name)) ?? -Infinity;
    // Such a read may lag behind what was written before.
    if (!this.#isOn || token.at <= forgotten + LAG_MS) return page;
    const { entries: _, ...rest } = page;
    const given = { ...rest, memory: bytesOfColumns(rest.columns) };
    const newest = this.put(name, given, token);
    return newest === given ? page : withEntries(newest, collection);
  }

  /** Drops the pages of a scope, or all of them, because it is unknown which ones were written. */
  forget(scope?: string): void {
    if (scope === undefined) return this.clear();
    const now = this.#now();
    this.dropBeginning(`${scope}\n`);
    this.#forgotten.delete(scope);
    this.#forgotten.set(scope, now);
    for (const [oldest, at] of this.#forgotten) {
      if (now - at < REMEMBERED_MS + LAG_MS) break;
      this.#forgotten.delete(oldest);
    }
  }
}

const withEntries = (kept: KeptPage, collection: string): StoredPage => ({
  ...kept,
  entries: entriesOfColumns(kept.columns, collection),
});
