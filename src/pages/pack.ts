import { compareBytes } from '../keys/byte-order.js';
import type { OrderedMarker } from './ordered-marker.js';

/** A page with its encoded entries. It has all markers from its begin up to the begin of the next page. */
export interface PackedPage {
  /**
   * Its start in the order of the collection: a geohash of 1 to 10 characters, or one of 10 with a key or part of one.
   * The first page of a partition begins at the partition's own character.
   */
  readonly begin: string;
  readonly entries: readonly OrderedMarker[];
  readonly data: Uint8Array;
}

export type EncodePage = (entries: readonly OrderedMarker[]) => Uint8Array;

export interface PackOptions {
  readonly encode: EncodePage;
  /** Maximum size of a page's data in bytes. Only a page with a single marker may exceed it. */
  readonly mostBytes: number;
}

const isLeadSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;

/**
 * The shortest text that is after `left` and not after `right`, as a page's begin (prefix B-trees: Bayer and Unterauer 1977).
 * `left` must be before `right`.
 */
export function separator(left: string, right: string): string {
  let length = 1;
  while (length < right.length && (compareBytes(right.slice(0, length), left) <= 0 || isHalf(right, length))) length++;
  return right.slice(0, length);
}

/** Whether cutting a text here would split a character. */
const isHalf = (text: string, length: number) => isLeadSurrogate(text.charCodeAt(length - 1));

/**
 * The pages for sorted entries of one page: a single page if they fit, otherwise halves, halved again until each fits.
 */
export function splitPage(begin: string, entries: readonly OrderedMarker[], options: PackOptions): PackedPage[] {
  const data = options.encode(entries);
  if (data.length <= options.mostBytes || entries.length < 2) return [{ begin, entries, data }];
  const middle = entries.length >> 1;
  const [left, right] = [entries.slice(0, middle), entries.slice(middle)];
  return [...splitPage(begin, left, options), ...splitPage(beginOf(left, right), right, options)];
}

const beginOf = (left: readonly OrderedMarker[], right: readonly OrderedMarker[]) =>
  separator(left.at(-1)?.position ?? '', right[0]?.position ?? '');

/** How full pages are when packed in bulk, which leaves room for later markers. */
const FILL = 0.9;
const FEW = 16;
const TRIES = 4;

/**
 * Packs all pages of a partition from its sorted entries. Yields them one by one, because each takes some time. The
 * number of entries per page is estimated from the previous page.
 */
export function* packPages(
  begin: string,
  entries: readonly OrderedMarker[],
  options: PackOptions,
): Generator<PackedPage, void, undefined> {
  const { encode, mostBytes } = options;
  const wanted = FILL * mostBytes;
  let guess = FEW;
  let from = 0;
  do {
    let best: PackedPage | undefined;
    let count = Math.min(guess, entries.length - from);
    const start = from === 0 ? begin : beginOf(entries.slice(from - 1, from), entries.slice(from, from + 1));
    for (let tries = 0; tries < TRIES; tries++) {
      const some = entries.slice(from, from + count);
      const data = encode(some);
      if (data.length <= wanted && some.length >= (best?.entries.length ?? 0))
        best = { begin: start, entries: some, data };
      const next = Math.min(entries.length - from, Math.max(1, Math.floor((count * wanted) / data.length)));
      if (Math.abs(next - count) <= 1) break;
      count = next;
    }
    const made = best === undefined ? splitPage(start, entries.slice(from, from + count), options) : [best];
    yield* made;
    const taken = made.reduce((sum, page) => sum + page.entries.length, 0);
    from += taken;
    guess = Math.max(1, taken);
  } while (from < entries.length);
}
