import { LRUCache } from 'lru-cache';

import { compareBytes } from '../keys/byte-order.js';
import type { PageHint } from '../pages/directory.js';
import type { DirectoryPart } from '../store/page/page-directory.js';
import { type RawPage, pageBytes } from '../store/page/pages.js';

/** A page as this process last read or wrote it. */
export interface KnownPage extends Omit<RawPage, 'round' | 'data'> {
  /** Undefined, like its data, if the page does not exist yet. */
  readonly round: number | undefined;
  readonly data: Uint8Array | undefined;
}

/** The pages of a million cities take 43 MB. Beyond this limit, pages are read again before they are written. */
const MAX_BYTES = 48 * 1024 * 1024;
const PAGE_BYTES = 350;
const HINT_BYTES = 120;

export const partitionOf = (position: string): string => position.charAt(0);

/** Whether a position belongs to a page. */
export const isIn = ({ begin, end }: Pick<KnownPage, 'begin' | 'end'>, position: string): boolean =>
  partitionOf(begin) === partitionOf(position) &&
  compareBytes(begin, position) <= 0 &&
  (end === undefined || compareBytes(position, end) < 0);

/** The number of sorted begins at or before a position. */
export function beginsUpTo(begins: readonly string[], position: string): number {
  let low = 0;
  let high = begins.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(begins[middle] ?? '', position) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const nameOf = (scope: string, position: string) => `${scope}\n${partitionOf(position)}`;

interface Remembered {
  readonly scope: string;
  readonly page: RawPage;
}

/**
 * Pages as this process wrote or read them, so that they need not be located and read before they are written again. A
 * page may be missing or outdated: then its write is refused, and it is read. Their markers stay compressed.
 */
export class PageMemory {
  /** The parts of each partition's directory, by partition name. */
  readonly directories: LRUCache<string, readonly DirectoryPart[]> | undefined;
  readonly #pages: LRUCache<string, Remembered> | undefined;
  /** The begins of each partition's pages, in order. */
  readonly #begins = new Map<string, string[]>();

  /** Creates a memory of about `maxBytes`, and a quarter more for directories; with 0 it stores nothing. */
  constructor(maxBytes = MAX_BYTES) {
    if (maxBytes <= 0) return;
    this.#pages = new LRUCache<string, Remembered>({
      maxSize: maxBytes,
      sizeCalculation: ({ page }) => PAGE_BYTES + 2 * page.begin.length + page.data.length,
      dispose: ({ scope, page }, _, reason) => {
        if (reason !== 'set') this.#dropBegin(scope, page.begin);
      },
    });
    this.directories = new LRUCache<string, readonly DirectoryPart[]>({
      maxSize: Math.ceil(maxBytes / 4),
      sizeCalculation: (parts) => HINT_BYTES * (1 + parts.flat().length),
    });
  }

  /** The page for a position, if it is known. */
  find(scope: string, position: string): KnownPage | undefined {
    const begins = this.#begins.get(nameOf(scope, position)) ?? [];
    const begin = begins[beginsUpTo(begins, position) - 1];
    const page = begin === undefined ? undefined : this.#pages?.get(`${scope}\n${begin}`)?.page;
    return page && isIn(page, position) ? page : undefined;
  }

  put(scope: string, page: RawPage): void {
    const name = `${scope}\n${page.begin}`;
    if (this.#pages?.has(name) === false) this.#addBegin(scope, page.begin);
    this.#pages?.set(name, { scope, page });
  }

  /** Forgets a page that another process has written. */
  forget(scope: string, begin: string): void {
    this.#pages?.delete(`${scope}\n${begin}`);
  }

  /**
   * Hints for the known pages of a partition whose begins are from one position up to another, or to the partition's
   * end.
   */
  hints(scope: string, from: string, to: string | undefined): PageHint[] {
    const begins = this.#begins.get(nameOf(scope, from)) ?? [];
    return begins
      .filter((begin) => isIn({ begin: from, end: to }, begin))
      .flatMap((begin) => {
        const page = this.#pages?.peek(`${scope}\n${begin}`)?.page;
        return page ? [{ begin, markers: page.markers, bytes: pageBytes(page.data) }] : [];
      });
  }

  /** Other processes may have written any page. */
  clear(): void {
    this.#begins.clear();
    this.#pages?.clear();
    this.directories?.clear();
  }

  #addBegin(scope: string, begin: string): void {
    const name = nameOf(scope, begin);
    const begins = this.#begins.get(name) ?? [];
    this.#begins.set(name, begins);
    begins.splice(beginsUpTo(begins, begin), 0, begin);
  }

  #dropBegin(scope: string, begin: string): void {
    const begins = this.#begins.get(nameOf(scope, begin)) ?? [];
    const at = beginsUpTo(begins, begin) - 1;
    if (begins[at] === begin) begins.splice(at, 1);
  }
}
