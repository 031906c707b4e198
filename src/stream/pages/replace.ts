import { compareBytes } from '../../keys/byte-order.js';
import { firstFrom, type OrderedMarker } from '../../pages/ordered-marker.js';
import { packPages, separator, splitPage, type PackedPage, type PackOptions } from '../../pages/pack.js';
import { UnknownPageFormat, type NewPage, type PageReplacement } from '../../store/page/pages.js';
import { chunks } from '../../store/request/pacing.js';
import type { KnownPage } from './memory.js';

/** Encodes the markers of a page as data, and decodes them. */
export interface PageCodec {
  readonly pack: PackOptions;
  /** Undefined if the data has a format that this version does not know. */
  readonly decode: (data: Uint8Array) => readonly OrderedMarker[] | undefined;
}

/** The edits of a round in a page: the positions it loses, and the entries it gets. */
export interface PageEdits {
  readonly scope: string;
  readonly page: KnownPage;
  readonly removed: ReadonlySet<string>;
  readonly added: ReadonlyMap<string, OrderedMarker>;
}

/** Maximum number of pages that replace one page at once: a transaction has at most 100 items. */
const MOST_PARTS = 50;
/**
 * Packing this many entries takes some 30 ms. More would keep the process busy for too long, and might be too many for
 * a transaction.
 */
const MOST_AT_ONCE = 1_200;
/** Factor by which a page may be too full to be halved rather than packed again. */
const HALVES = 3;

/**
 * The write that makes the edits of a round in a page; undefined if it needs none. If too many pages would replace it
 * at once, the page is first cut without the edits: its round is then between the last complete one and this one.
 */
export function replacementOf(codec: PageCodec, edits: PageEdits, round: number): PageReplacement | undefined {
  const { scope, page } = edits;
  const { begin, round: seen } = page;
  if ((seen ?? 0) >= round) return undefined;
  const entries = entriesOf(codec, page);
  const next = edited(entries, edits);
  if (!next) return undefined;
  const parts = next.length > MOST_AT_ONCE ? [] : packed(codec.pack, begin, next);
  if (parts.length === 0 || parts.length > MOST_PARTS) {
    const between = (Math.max(seen ?? 0, round - 1) + round) / 2;
    return { scope, begin, seen, round: between, lost: page.lost, pages: cut(codec, page, entries, next) };
  }
  const lost = round % 2 === 1 ? round : page.lost;
  return { scope, begin, seen, round, lost, pages: chained(parts, page.end) };
}

function entriesOf({ decode }: PageCodec, { data }: KnownPage): readonly OrderedMarker[] {
  const entries = data === undefined ? [] : decode(data);
  if (!entries) throw new UnknownPageFormat();
  return entries;
}

/** The entries of a page after its edits; undefined if they change nothing. */
function edited(entries: readonly OrderedMarker[], { removed, added }: PageEdits): OrderedMarker[] | undefined {
  const kept = entries.filter(({ position }) => !removed.has(position) && !added.has(position));
  if (kept.length === entries.length && added.size === 0) return undefined;
  return [...kept, ...added.values()].sort((a, b) => compareBytes(a.position, b.position));
}

/** One page if the entries fit, halves if they nearly do, and as few pages as possible otherwise. */
function packed(pack: PackOptions, begin: string, entries: readonly OrderedMarker[]): PackedPage[] {
  const data = pack.encode(entries);
  if (data.length <= pack.mostBytes) return [{ begin, entries, data }];
  if (data.length <= HALVES * pack.mostBytes) return splitPage(begin, entries, pack);
  return [...packPages(begin, entries, pack)];
}

/** Each page ends where the next one begins, and the last one at `end`. */
const chained = (parts: readonly PackedPage[], end: string | undefined): NewPage[] =>
  parts.map(({ begin, entries, data }, index) => {
    return { begin, end: parts[index + 1]?.begin ?? end, markers: entries.length, data };
  });

/** Cuts a page, with its current entries, into pieces that will have about equally many entries. */
function cut(
  { pack }: PageCodec,
  { begin, end }: KnownPage,
  entries: readonly OrderedMarker[],
  next: readonly OrderedMarker[],
): NewPage[] {
  const wanted = Math.min(MOST_PARTS, Math.max(2, Math.ceil((2 * next.length) / MOST_AT_ONCE)));
  const pieces = chunks(next, Math.ceil(next.length / wanted));
  const begins = pieces.map((piece, index) => {
    const before = pieces[index - 1]?.at(-1)?.position;
    return before === undefined ? begin : separator(before, piece[0]?.position ?? '');
  });
  const parts = begins.map((from, index): PackedPage => {
    const to = begins[index + 1];
    const some = entries.slice(firstFrom(entries, from), to === undefined ? undefined : firstFrom(entries, to));
    return { begin: from, entries: some, data: pack.encode(some) };
  });
  return chained(parts, end);
}
