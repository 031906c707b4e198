import { compareBytes } from '../../../src/keys/byte-order.js';
import type { DirectoryPart } from '../../../src/pages/directory.js';
import { orderedMarker, type OrderedMarker } from '../../../src/pages/ordered-marker.js';
import type { PageReplacement, RawPage, StoredPage } from '../../../src/store/page/pages.js';
import { columnsOf } from '../../support/page-services.js';

const decodeText = (data: Uint8Array) =>
  (JSON.parse(Buffer.from(data).toString()) as OrderedMarker[]).map(({ marker }) => orderedMarker(marker));

/** Stored as text, because compressing takes most of the time. */
export const TEXT = {
  encode: (entries: readonly OrderedMarker[]): Uint8Array => Buffer.from(JSON.stringify(entries)),
  decode: decodeText,
};

export type ModelPage = RawPage & StoredPage;

/** No cache keeps the pages of a simulation. */
const NO_COLUMNS = columnsOf([]);

/** The pages of markers and their directory, as DynamoDB stores them. */
export class PagesModel {
  readonly #pages = new Map<string, RawPage>();
  readonly #parts = new Map<string, DirectoryPart>();
  /** Hints stored while the page did not exist. */
  readonly wrongHints: string[] = [];
  /** Called with a marker that is no longer in any page. */
  onGone: ((scope: string, key: string) => void) | undefined;
  /** Called with each page that is stored. */
  onWritten: ((scope: string, page: ModelPage) => void) | undefined;

  all(scope: string): ModelPage[] {
    return this.#sorted(this.#pages, scope).map((page) => {
      return { ...page, bytes: page.data.length, entries: decodeText(page.data), columns: NO_COLUMNS };
    });
  }

  find(scope: string, position: string): RawPage | undefined {
    return this.#inPartition(scope, position).findLast(({ begin }) => compareBytes(begin, position) <= 0);
  }

  from(scope: string, first: string, limit: number): RawPage[] {
    return this.#inPartition(scope, first)
      .filter(({ begin }) => compareBytes(first, begin) <= 0)
      .slice(0, limit);
  }

  write({ scope, begin, seen, round, lost, pages }: PageReplacement, conditional = true): boolean {
    const before = this.#pages.get(`${scope}/${begin}`);
    if (conditional && before?.round !== seen) return false;
    for (const page of pages) {
      this.#pages.set(`${scope}/${page.begin}`, { ...page, round, lost });
      this.onWritten?.(scope, { ...page, round, lost, bytes: page.data.length, entries: [], columns: NO_COLUMNS });
    }
    if (!this.onGone) return true;
    const now = new Set(pages.flatMap(({ data }) => decodeText(data).map(({ marker }) => marker.key)));
    const gone = decodeText(before?.data ?? TEXT.encode([])).filter(({ marker }) => !now.has(marker.key));
    for (const { marker } of gone) {
      const isElsewhere = this.all(scope).some(({ entries }) =>
        entries.some((entry) => entry.marker.key === marker.key),
      );
      if (!isElsewhere) this.onGone(scope, marker.key);
    }
    return true;
  }

  /** The parts of a partition's directory, in their order. */
  directory(scope: string, partition: string): DirectoryPart[] {
    return [...this.#parts]
      .filter(([name]) => name.startsWith(`${scope}/${partition}`))
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([, part]) => part);
  }

  findDirectoryPart(scope: string, position: string): DirectoryPart | undefined {
    return this.directory(scope, position.charAt(0)).findLast(({ begin }) => compareBytes(begin, position) <= 0);
  }

  putDirectoryPart(scope: string, part: DirectoryPart): void {
    const begins = [...part.hints.map(({ begin }) => begin), ...(part.end.endsWith('~') ? [] : [part.end])];
    const wrong = begins.filter((begin) => !this.#pages.has(`${scope}/${begin}`));
    this.wrongHints.push(...wrong.map((begin) => `${scope}/${begin}`));
    this.#parts.set(`${scope}/${part.begin}`, part);
  }

  #inPartition(scope: string, position: string): RawPage[] {
    return this.#sorted(this.#pages, `${scope}/${position.charAt(0)}`);
  }

  #sorted(pages: ReadonlyMap<string, RawPage>, prefix: string): RawPage[] {
    const found = [...pages].filter(([name]) => name.startsWith(prefix)).map(([, page]) => page);
    return found.sort((a, b) => compareBytes(a.begin, b.begin));
  }
}
