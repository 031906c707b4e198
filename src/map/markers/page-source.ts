import { LONGEST_Z, fromZ, toZ } from '../../geo/geohash.js';
import { type ZRange, intersect } from '../../geo/ranges.js';
import { compareBytes } from '../../keys/byte-order.js';
import { entriesOf } from '../../loaders/pages/chain.js';
import type { OpenPages } from '../../loaders/pages/page-loader.js';
import type { Directory } from '../../pages/directory.js';
import type { PageEntry } from '../../pages/entry.js';
import { type PlannedRead, expectedOf, planReads, takeReads } from '../../pages/plan-reads.js';
import type { MapContext } from '../context.js';
import type { CursorPosition } from '../cursor.js';
import type { MarkerSearch, MarkerSource, OrderedMarker, Part } from './search.js';

/** Number of markers that can be decoded for the cost of one index item. */
export const MARKERS_AN_ITEM = 5;
/** Number of markers that may be outside the search before another read is needed. */
const SPARE = 50;

const ALL = { from: 0, to: 32 ** LONGEST_Z };

/** The reads of a search, and the directory on which they are based. */
export interface PagePlan {
  readonly directory: Directory;
  readonly cover: readonly ZRange[];
  readonly reads: readonly PlannedRead[];
}

/** Plans the rest of a search after a position. */
export async function planPages(
  pages: OpenPages,
  { cover, budget }: MarkerSearch,
  after: CursorPosition,
): Promise<PagePlan> {
  const rest = intersect(cover, [{ ...ALL, from: toZ(after.slice(0, LONGEST_Z)) }]);
  const directory = await pages.directory(rest, budget);
  return { directory, cover: rest, reads: planReads(directory, rest) };
}

/** Reads a search from pages. */
export class PageMarkers implements MarkerSource {
  readonly #pages: OpenPages;
  readonly #search: MarkerSearch;
  #plan: PagePlan | undefined;
  #left: readonly PlannedRead[] = [];
  readonly #done: PlannedRead[] = [];

  constructor(pages: OpenPages, search: MarkerSearch) {
    this.#pages = pages;
    this.#search = search;
  }

  async next(after: CursorPosition, wanted: number): Promise<Part | undefined> {
    const { budget } = this.#search;
    if (!this.#plan) {
      this.#plan = await planPages(this.#pages, this.#search, after);
      this.#left = this.#plan.reads;
    }
    const { directory, cover } = this.#plan;
    if (this.#left.length > 0 && (budget.calls < 1 || budget.items < 1)) return undefined;
    const most = Math.min(2 * wanted + SPARE, MARKERS_AN_ITEM * budget.items);
    const { taken, left } = takeReads(directory, this.#left, { markers: most, calls: budget.calls });
    const found = await this.#pages.read({ directory, reads: taken, earlier: this.#done, cover }, budget);
    this.#done.push(...taken);
    this.#left = left;
    const entries = entriesOf(found);
    budget.debit({ items: Math.ceil(entries.length / MARKERS_AN_ITEM) });
    const next = left[0] && directory.get(left[0].partition)?.hints[left[0].first]?.begin;
    const markers = withOwn(entries, this.#pages.ownWrites, after, next);
    return {
      markers: markers.map(({ position, marker }): OrderedMarker => ({ cursorPosition: position, marker })),
      again: found.again.length > 0,
      upTo: markers.at(-1)?.position ?? after,
      ended: left.length === 0,
    };
  }
}

/** Adds this process's own recent writes to the entries between a position and another one, or the end. */
function withOwn(
  entries: readonly PageEntry[],
  own: OpenPages['ownWrites'],
  after: CursorPosition,
  next: string | undefined,
): readonly PageEntry[] {
  if (own.length === 0) return entries;
  const writes = new Map(own.map((write) => [write.key, write]));
  const kept = entries.filter(({ marker: { key, mapVersion } }) => mapVersion > (writes.get(key)?.mapVersion ?? -1));
  const newer = new Set(kept.map(({ marker }) => marker.key));
  const added = own.flatMap(({ key, entry }) => {
    const isHere =
      entry &&
      compareBytes(entry.position, after) > 0 &&
      (next === undefined || compareBytes(entry.position, next) < 0);
    return isHere && !newer.has(key) ? [entry] : [];
  });
  return [...kept, ...added].sort((a, b) => compareBytes(a.position, b.position));
}

/**
 * The approximate number of markers in a search's pages, including those outside the search; 0 if pages currently
 * cannot be read.
 */
export async function expectedIn({ loaders }: MapContext, search: MarkerSearch): Promise<number> {
  const pages = await loaders.pages.open(search.collection);
  if (!pages) return 0;
  const { reads } = await planPages(pages, search, fromZ(0, LONGEST_Z));
  return expectedOf(reads);
}
