import { compareBytes, isBefore } from '../../keys/byte-order.js';
import { afterPartition, type PageHint } from '../../pages/directory.js';
import { firstFrom, type OrderedMarker } from '../../pages/ordered-marker.js';
import type { PlannedRead } from '../../pages/plan-reads.js';
import type { StoredPage } from '../../store/page/pages.js';

/** Reads the pages of one collection. */
export interface PageSource {
  /** Pages by their begins; undefined for those that do not exist. */
  byKeys(begins: readonly string[], consistent: boolean): Promise<readonly (StoredPage | undefined)[]>;
  /** The pages of a partition whose begins are between two positions, both included. */
  between(from: string, to: string, consistent: boolean): Promise<readonly StoredPage[]>;
  /** A page known without a read. */
  cached?(begin: string): StoredPage | undefined;
}

/** Pages in a directory do not exist because a recount has replaced them, or markers keep moving between them. */
export class PagesGone extends Error {
  override readonly name = 'PagesGone';

  constructor() {
    super('pages of the directory no longer exist, or markers keep moving between them');
  }
}

/** A page, cut where the next one begins. */
function cutAt(page: StoredPage, end: string | undefined): StoredPage {
  if (end === page.end) return page;
  const entries = end === undefined ? page.entries : page.entries.slice(0, firstFrom(page.entries, end));
  return { ...page, end, entries };
}

/** The first of some positions; undefined if there are none. */
export const earliest = (positions: readonly (string | undefined)[]) =>
  positions.filter((position) => position !== undefined).sort(compareBytes)[0];

/**
 * The pages of a partition, without gaps, from one begin up to another or to the partition's end. A page that was read
 * before it was split is cut where the next one begins; pages split off since the directory was read are also read.
 */
async function chain(
  source: PageSource,
  found: readonly StoredPage[],
  from: string,
  to: string | undefined,
): Promise<StoredPage[]> {
  const left = [...found];
  const pages: StoredPage[] = [];
  let at: string | undefined = from;
  while (at !== undefined && (to === undefined || isBefore(at, to))) {
    const page = left.shift();
    if (page?.begin === at) {
      const end = earliest([page.end, left[0]?.begin, to]);
      pages.push(cutAt(page, end));
      at = end;
      continue;
    }
    const missing = await gap(source, at, page?.begin ?? to);
    left.unshift(...missing, ...(page ? [page] : []));
  }
  return pages;
}

/** The pages from a begin up to another one, or to the partition's end. */
async function gap(source: PageSource, from: string, until: string | undefined): Promise<StoredPage[]> {
  const pages = await source.between(from, until ?? afterPartition(from), true);
  const missing = pages.filter(({ begin }) => until === undefined || isBefore(begin, until));
  if (missing[0]?.begin !== from) throw new PagesGone();
  return missing;
}

const hintsOf = ({ pages, first, last }: PlannedRead): readonly PageHint[] => pages.hints.slice(first, last + 1);

/** The pages of one Query; pages at its ends that are known are not read. */
async function query(
  source: PageSource,
  hints: readonly PageHint[],
  to: string | undefined,
  consistent: boolean,
): Promise<readonly StoredPage[]> {
  const known = (index: number) => {
    const hint = hints[index];
    const page = hint && !consistent ? source.cached?.(hint.begin) : undefined;
    return page?.end === (hints[index + 1]?.begin ?? to) ? page : undefined;
  };
  const head: StoredPage[] = [];
  const tail: StoredPage[] = [];
  for (let page = known(0); page; page = known(head.length)) head.push(page);
  const from = hints[head.length];
  if (!from) return head;
  const last = () => hints.length - 1 - tail.length;
  for (let page = known(last()); page && last() > head.length; page = known(last())) tail.unshift(page);
  const until = hints[last()] ?? from;
  return [...head, ...(await source.between(from.begin, until.begin, consistent)), ...tail];
}

/**
 * Makes planned reads: those by key together, each Query separately. Returns neighboring pages without gaps, by read.
 */
async function readOnce(
  source: PageSource,
  reads: readonly PlannedRead[],
  consistent: boolean,
): Promise<StoredPage[][]> {
  const keys = reads.filter(({ by }) => by === 'keys').flatMap((read) => hintsOf(read).map(({ begin }) => begin));
  const byKeys = readKeys(source, keys, consistent);
  // A rejected Query does not await it.
  byKeys.catch(() => undefined);
  return Promise.all(
    reads.map(async (read) => {
      const hints = hintsOf(read);
      const to = read.pages.hints[read.last + 1]?.begin;
      const pages = read.by === 'query' ? await query(source, hints, to, consistent) : found(await byKeys, hints);
      return chain(source, pages, hints[0]?.begin ?? '', to);
    }),
  );
}

async function readKeys(source: PageSource, begins: readonly string[], consistent: boolean) {
  const pages = begins.length === 0 ? [] : await source.byKeys(begins, consistent);
  return new Map(pages.map((page) => [page?.begin, page]));
}

function found(pages: Awaited<ReturnType<typeof readKeys>>, hints: readonly PageHint[]): StoredPage[] {
  return hints.map(({ begin }) => {
    const page = pages.get(begin);
    if (page === undefined) throw new PagesGone();
    return page;
  });
}

/** The pages, by partition, of those that had none when the directory was read. */
async function readOthers(source: PageSource, others: readonly string[]): Promise<StoredPage[][]> {
  const first = others.length === 0 ? [] : await source.byKeys(others, true);
  const begun = first.filter((page) => page !== undefined);
  return Promise.all(begun.map((page) => chain(source, [page], page.begin, undefined)));
}

interface PagesFound {
  /** Pages in order, by read. */
  readonly found: readonly (readonly StoredPage[])[];
  /** All pages that were read again, in order within each read. */
  readonly again: readonly (readonly StoredPage[])[];
  /** Whether no marker is in two of them: none has a round after those that all of them have. */
  readonly distinct: boolean;
}

/** Maximum number of times to read the same pages while markers keep moving between them. */
const MOST_READINGS = 6;

/** The last round in which a marker moved from one of these pages to another. */
const lastLost = (reading: readonly (readonly StoredPage[])[]) =>
  Math.max(...reading.flatMap((pages) => pages.map(({ lost = -Infinity }) => lost)), -Infinity);

/**
 * Makes planned reads of pages; if a marker has moved between pages meanwhile, reads all of them again, strongly
 * consistent, with the `earlier` ones for the same answer, and with the pages of `others`: partitions that may belong to
 * the answer and had no pages when the directory was read. Throws PagesGone if markers keep moving.
 *
 * Suppose that a bus drives from page B to page A while both are read, each by a Query of its own, and that its move is in
 * batch 7. The writer first adds it to A (round 14), then removes it from B (round 15) and notes there `lost: 15`:
 *
 *     writer                 adds the bus to A (14)      removes it from B (15)
 *     reader    A: no bus                                                          B: no bus, lost 15
 *
 * Neither page had the bus when it was read, but B tells that a marker left it in round 15. A lagging read finds only
 * rounds up to `complete`, say 13, in all pages, so the other page of the move may have been read too early, and everything
 * is read again. Now A has the bus for sure: round 14 ended before round 15 began, which the reader has already seen. The
 * answer is whole as soon as a reading shows no later round than was seen before it began. Had the bus gone on in batch 8,
 * a page would say `lost: 17`, and everything would be read once more. If B is read before round 15 instead, both pages
 * have the bus, and the caller takes the copy with the higher map version.
 */
export async function readPages(
  source: PageSource,
  reads: readonly PlannedRead[],
  earlier: readonly PlannedRead[],
  others: readonly string[],
  complete: number,
): Promise<PagesFound> {
  const found = await readOnce(source, reads, false);
  const again: StoredPage[][] = [];
  let seen = complete;
  let last = lastLost(found);
  for (let readings = 1; last > seen; readings++) {
    if (readings === MOST_READINGS) throw new PagesGone();
    seen = last;
    const all = readOnce(source, [...earlier, ...reads], true);
    const reading = (await Promise.all([all, readOthers(source, others)])).flat();
    again.push(...reading);
    last = lastLost(reading);
  }
  const distinct = again.length === 0 && found.every((pages) => pages.every(({ round }) => round <= complete));
  return { found, again, distinct };
}

/** The markers of pages that exist now, in order; of one that has moved there may be several copies. */
export function markersOf({ found, again }: PagesFound, now: number): readonly OrderedMarker[] {
  const markers: OrderedMarker[] = [];
  // A loop takes a fourth of the time of `flatMap`.
  for (const pages of [...found, ...again])
    for (const { entries } of pages)
      for (const one of entries) if ((one.marker.expiresAt ?? Infinity) > now) markers.push(one);
  // A few sorted runs, which are merged in milliseconds.
  return again.length === 0 ? markers : markers.sort((a, b) => compareBytes(a.position, b.position));
}
