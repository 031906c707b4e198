import { LRUCache } from 'lru-cache';

import type { PagesOf, StoredPage } from '../../store/page/pages.js';

export interface PageCacheOptions {
  /** 0 for no cache at all. */
  readonly maxBytes: number;
  /** Whether `changed` is called for every page that is written. While false, nothing is returned or kept. */
  readonly trusted: () => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** How long a read may be under way, or lag behind. */
const LAG_MS = 10_000;
const PAGE_BYTES = 300;
/** A marker takes about 600 bytes of objects beside its texts, which are held twice: as they are and as a feature. */
const MARKER_BYTES = 600;
/** Compressed data holds about a fifth of a marker's texts. */
const TEXT_SHARE = 10;

const nameOf = ({ scope, generation }: Pick<PagesOf, 'scope' | 'generation'>, begin: string) =>
  `${scope}\n${generation}\n${begin}`;

/**
 * Decoded pages, shared by all requests of the process that keeps the pages, with a bound in bytes. A page that is written is
 * dropped; a read that was under way may find it as it was, and is recognized by its round.
 */
export class PageCache {
  readonly #options: PageCacheOptions;
  readonly #pages: LRUCache<string, StoredPage> | undefined;
  /** The round that a page must have to be kept, and when this was learned; the oldest first. */
  readonly #changed = new Map<string, { readonly round: number; readonly at: number }>();
  #generation = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
    if (options.maxBytes === 0) return;
    this.#pages = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ entries, bytes }) => PAGE_BYTES + MARKER_BYTES * entries.length + TEXT_SHARE * bytes,
    });
  }

  get(of: PagesOf, begin: string): StoredPage | undefined {
    return this.#pages && this.#options.trusted() ? this.#pages.get(nameOf(of, begin)) : undefined;
  }

  /** To be called before a read whose pages will be put. */
  begin(): number {
    return this.#generation;
  }

  put(of: PagesOf, page: StoredPage, token: number): void {
    if (!this.#pages || !this.#options.trusted() || token !== this.#generation) return;
    const name = nameOf(of, page.begin);
    if (page.round >= (this.#changed.get(name)?.round ?? 0)) this.#pages.set(name, page);
  }

  /** Drops pages that were written in a round. To be called for every write. */
  changed(of: Pick<PagesOf, 'scope' | 'generation'>, begins: readonly string[], round: number): void {
    if (!this.#pages) return;
    const at = this.#options.now();
    for (const begin of begins) {
      const name = nameOf(of, begin);
      this.#pages.delete(name);
      this.#changed.delete(name);
      this.#changed.set(name, { round, at });
    }
    for (const [name, known] of this.#changed) {
      if (at - known.at < LAG_MS) break;
      this.#changed.delete(name);
    }
  }

  /** Drops everything, reads under way included: for when writes were missed. */
  clear(): void {
    this.#generation++;
    this.#pages?.clear();
    this.#changed.clear();
  }
}
