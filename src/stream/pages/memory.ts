import { compareBytes } from '../../keys/byte-order.js';
import type { DirectoryPart, PageHint } from '../../pages/directory.js';
import { SortedCache } from '../../pages/sorted-cache.js';
import { pageBytes, type PageSpan, type RawPage } from '../../store/page/pages.js';

/** A page as this process last read or wrote it. */
export interface KnownPage extends PageSpan {
  readonly markers: number;
  /** See `StoredPage`. */
  readonly lost: number | undefined;
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
export const isIn = ({ begin, end }: PageSpan, position: string): boolean =>
  partitionOf(begin) === partitionOf(position) &&
  compareBytes(begin, position) <= 0 &&
  (end === undefined || compareBytes(position, end) < 0);

const partitionKey = (scope: string, position: string) => `${scope}\n${partitionOf(position)}`;

/**
 * Pages as this process wrote or read them, so that they need not be located and read before they are written again. A
 * page may be missing or outdated: then its write is refused, and it is read. Their markers stay compressed.
 */
export class PageMemory {
  readonly #pages: SortedCache<RawPage>;
  readonly #directory: SortedCache<DirectoryPart>;

  /** Creates a memory of about `maxBytes`, and a quarter more for directories; with 0 it stores nothing. */
  constructor(maxBytes = MAX_BYTES) {
    this.#pages = new SortedCache(maxBytes, ({ begin, data }) => PAGE_BYTES + 2 * begin.length + data.length);
    this.#directory = new SortedCache(Math.ceil(maxBytes / 4), ({ hints }) =>
      hints.reduce((bytes, { begin }) => bytes + HINT_BYTES + 2 * begin.length, HINT_BYTES),
    );
  }

  /** The page for a position, if it is known. */
  find(scope: string, position: string): KnownPage | undefined {
    const page = this.#pages.upTo(partitionKey(scope, position), position);
    return page && isIn(page, position) ? page : undefined;
  }

  put(scope: string, page: RawPage): void {
    this.#pages.put(partitionKey(scope, page.begin), page.begin, page);
  }

  /** Forgets a page that another process has written. */
  forget(scope: string, begin: string): void {
    this.#pages.delete(partitionKey(scope, begin), begin);
  }

  /** The part of the directory that a position belongs to, if it is known. */
  directoryPart(scope: string, position: string): DirectoryPart | undefined {
    const part = this.#directory.upTo(partitionKey(scope, position), position);
    return part && isIn(part, position) ? part : undefined;
  }

  putDirectoryPart(scope: string, part: DirectoryPart): void {
    this.#directory.put(partitionKey(scope, part.begin), part.begin, part);
  }

  /** Forgets the directory of the partition of a position. */
  forgetDirectory(scope: string, position: string): void {
    this.#directory.deleteGroups(partitionKey(scope, position));
  }

  /**
   * Hints for the known pages of a partition whose begins are from one position up to another, or to the partition's
   * end.
   */
  hints(scope: string, from: string, to: string | undefined): PageHint[] {
    const name = partitionKey(scope, from);
    const begins = this.#pages.begins(name).filter((begin) => isIn({ begin: from, end: to }, begin));
    return begins.flatMap((begin) => {
      const page = this.#pages.peek(name, begin);
      return page ? [{ begin, markers: page.markers, bytes: pageBytes(page.data) }] : [];
    });
  }

  /** Other processes may have written any page. */
  clear(): void {
    this.#pages.clear();
    this.#directory.clear();
  }
}
