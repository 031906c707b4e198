import { CellportError } from '../../errors.js';
import { fromZ, intersect, LONGEST_Z, toZ, type ZRange } from '../../geo/geohash.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import { positionOf } from '../../pages/directory.js';
import { firstFrom, MARKERS_AN_ITEM, type OrderedMarker } from '../../pages/ordered-marker.js';
import { expectedOf, planReads, takeReads, type PlannedRead } from '../../pages/plan-reads.js';
import type { RecentWrites } from '../../pages/recent-writes.js';
import { itemsFor } from '../../plan/wave.js';
import { inSpan } from '../../tracing.js';
import type { CursorPosition } from '../cursor.js';
import type { FoundPart, MarkerSearch, MarkerSource, SearchContext, SearchedPages } from '../search.js';

const ALL = { from: 0, to: 32 ** LONGEST_Z };

/** The first reads of a search. */
export interface PagePlan {
  readonly pages: SearchedPages;
  readonly reads: readonly PlannedRead[];
  /** The part of the search that is planned later. */
  readonly rest: readonly ZRange[];
}

/** Plans the reads of a cover, up to about `markers` markers. */
async function planPages(
  pages: SearchedPages,
  cover: readonly ZRange[],
  markers: number,
  budget: Budget,
): Promise<PagePlan> {
  return inSpan(pages.traced, 'cellport.plan', {}, async () => {
    const { directory, upTo } = await pages.directory(cover, markers, budget);
    const end = upTo === undefined ? ALL.to : positionOf(upTo);
    return {
      pages,
      reads: planReads(directory, intersect(cover, [{ ...ALL, to: end }])),
      rest: intersect(cover, [{ ...ALL, from: end }]),
    };
  });
}

/** Once with the pages as known, then as they are. */
const ATTEMPTS = 3;

/**
 * What `read` finds in the pages of a collection; undefined while the geo index must be used. Without an index, it reads
 * newer pages when these turn out to have been replaced, which happens once at the end of a recount.
 */
export async function readingPages<T>(
  { loaders, turn }: SearchContext,
  collection: Collection,
  read: (pages: SearchedPages) => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const pages = await loaders.pages.open(collection);
    await turn();
    if (!pages) return undefined;
    try {
      return await read(pages);
    } catch (error) {
      loaders.pages.giveUp(collection, error);
      if (attempt < ATTEMPTS) continue;
      const { key } = collection;
      const message = `the pages of collection ${key} are being replaced; try again`;
      throw new CellportError('UNAVAILABLE', message, { collection: key }, { cause: error });
    }
  }
}

/** The first reads of a search, without making them; undefined while the geo index must be used. */
export function pagePlan(
  context: SearchContext,
  { collection, cover, budget }: MarkerSearch,
  markers: number,
): Promise<PagePlan | undefined> {
  return readingPages(context, collection, (pages) => planPages(pages, cover, markers, budget));
}

/** Reads a search from pages. */
export class PageMarkers implements MarkerSource {
  readonly #pages: SearchedPages;
  readonly #cover: readonly ZRange[];
  readonly #budget: Budget;
  /** What is not planned yet. */
  #rest: readonly ZRange[] | undefined;
  #left: readonly PlannedRead[] = [];
  readonly #done: PlannedRead[] = [];
  /**
   * Recent writes when the search began, as a later one may move a marker to where was already read; and markers found
   * beyond the reads, in a partition that is not in the directory.
   */
  #recent: RecentWrites;

  constructor(pages: SearchedPages, cover: readonly ZRange[], budget: Budget) {
    this.#pages = pages;
    this.#cover = cover;
    this.#budget = budget;
    this.#recent = pages.recent;
  }

  async next(after: CursorPosition, wanted: number): Promise<FoundPart | undefined> {
    const budget = this.#budget;
    this.#rest ??= intersect(this.#cover, [{ ...ALL, from: toZ(after.slice(0, LONGEST_Z)) }]);
    const most = Math.min(itemsFor(wanted), MARKERS_AN_ITEM * budget.items);
    if (this.#left.length === 0) {
      const [begin] = this.#rest;
      const plan = await planPages(this.#pages, this.#rest, most, budget);
      this.#left = readsAfter(plan.reads, after);
      this.#rest = plan.rest;
      // Of a single call that is left, the directory takes none.
      if (begin && plan.rest[0]?.from === begin.from) return undefined;
    }
    const isSpent = budget.calls < 1 || budget.items < 1;
    if (isSpent && this.#left.length + this.#rest.length > 0) return undefined;
    const { taken, left } = takeReads(this.#left, { markers: most, calls: budget.calls });
    const { entries, again, distinct } = await this.#pages.read(taken, this.#done, budget, this.#cover);
    this.#done.push(...taken);
    this.#left = left;
    const rest = this.#rest[0] && fromZ(this.#rest[0].from, LONGEST_Z);
    const next = left[0]?.pages.hints[left[0].first]?.begin ?? rest;
    const end = next === undefined ? entries.length : firstFrom(entries, next);
    const beyond = entries.slice(end).map((entry) => {
      const { key, mapVersion } = entry.marker;
      return { key, mapVersion, entry };
    });
    this.#recent = this.#recent.including(beyond);
    const markers = withRecent(entries.slice(0, end), this.#recent, after, next);
    const lastOf = markers.at(-1)?.position ?? after;
    const last = compareBytes(lastOf, after) > 0 ? lastOf : after;
    // Pages that stand empty are not read again either.
    const read = next === undefined ? last : fromZ(positionOf(next), LONGEST_Z);
    return {
      markers,
      again,
      distinct: distinct && this.#recent.size === 0,
      upTo: compareBytes(read, last) > 0 ? read : last,
      ended: next === undefined,
    };
  }
}

/** Planned reads without the pages that end at or before a position: many may begin within its geohash. */
function readsAfter(reads: readonly PlannedRead[], after: CursorPosition): readonly PlannedRead[] {
  return reads.flatMap((read) => {
    const { pages, last } = read;
    let { first } = read;
    const isBefore = (begin: string | undefined) => begin !== undefined && compareBytes(begin, after) <= 0;
    while (first <= last && isBefore(pages.hints[first + 1]?.begin)) first += 1;
    return first > last ? [] : [{ ...read, first, expected: pages.markers(first, last) }];
  });
}

/** Brings entries between a position and another one, or the end, to what is known besides. */
function withRecent(
  entries: readonly OrderedMarker[],
  recent: RecentWrites,
  after: CursorPosition,
  next: string | undefined,
): readonly OrderedMarker[] {
  if (recent.size === 0) return entries;
  const kept = entries.filter(({ marker: { key, mapVersion } }) => mapVersion > (recent.get(key)?.mapVersion ?? -1));
  const inPages = new Set(kept.map(({ marker }) => marker.key));
  const added = recent
    .between(after, next)
    .filter(({ position, marker }) => compareBytes(position, after) > 0 && !inPages.has(marker.key));
  return [...kept, ...added].sort((a, b) => compareBytes(a.position, b.position));
}

/**
 * Whether the pages of a search have more than about `markers` markers, including those outside the search; false if pages
 * currently cannot be read.
 */
export async function hasMoreThan(context: SearchContext, search: MarkerSearch, markers: number): Promise<boolean> {
  const plan = await pagePlan(context, search, markers + 1);
  return plan !== undefined && (plan.rest.length > 0 || expectedOf(plan.reads) > markers);
}
