import { ifRefused, limitExceeded } from '../errors.js';
import { compareBytes } from '../keys/byte-order.js';
import { REQUEST_LIMITS } from '../model/dynamodb-limits.js';
import { withinRows, withoutHidden, type MarkerFilter } from '../model/grant.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import { firstIndex } from '../pages/bisect.js';
import { firstFrom, orderedMarker, type OrderedMarker } from '../pages/ordered-marker.js';
import { eachInTurns } from '../scheduling/turns.js';
import { BEGIN, type CursorPosition } from './cursor.js';
import { IndexedSearch } from './from-index/index-source.js';
import { PageMarkers, readingPages } from './from-pages/page-source.js';
import { passing } from './passing.js';
import type { FoundPart, MarkerSearch, MarkerSource, QueryResult, SearchContext } from './search.js';

export interface MarkerQuery extends MarkerSearch {
  /** Start after this position. */
  readonly after?: CursorPosition | undefined;
  /** Whether a marker is a match; reads extend beyond the search. */
  readonly accept: (marker: MapMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** Number of markers wanted, by default all. More may be returned. */
  readonly wanted?: number | undefined;
}

/**
 * The share of a page's Query calls reserved for looking up base items that a filter needs, so that each page makes
 * progress.
 */
const KEPT_FOR_LOOKUPS = 1 / 16;

/**
 * Reads the markers of a search in order, until enough are found, nothing is left, or the budget is spent. A marker that
 * moves during the read may be seen at both positions; the copy with the higher map version is used.
 *
 * Pages are read while the consumer keeps them current: a directory names those that may have markers of the search, one
 * plan joins neighbors to a few requests, and these are made until enough is found. Otherwise, or if pages turn out to
 * have been replaced meanwhile, the search starts again from the geo index. What the principal may not see is left out.
 */
export async function findMarkers(context: SearchContext, given: MarkerQuery): Promise<QueryResult> {
  const { collection, cover, budget, after = BEGIN } = given;
  const query = { ...given, filter: withinRows(collection, given.filter) };
  const fromPages = await readingPages(context, collection, (pages) =>
    new Finding(context, query).run(new PageMarkers(pages, cover, budget)),
  );
  const result = fromPages ?? (await new Finding(context, query).run(new IndexedSearch(context, query, after)));
  if (!collection.grant?.hidden.size) return result;
  return { ...result, found: result.found.map(({ marker }) => orderedMarker(withoutHidden(collection, marker))) };
}

/** The state of one search: what it has found, and up to where. */
class Finding {
  readonly #context: SearchContext;
  readonly #query: MarkerQuery;
  /** Number of base items that may be looked up before another batch is charged. */
  #lookups = 0;
  readonly #after: CursorPosition;
  /** Everything up to this position has been emitted. */
  #resumeAfter: CursorPosition;
  /** Of each marker that was read, the newest copy; undefined while none can have several. */
  #newest: Map<string, OrderedMarker> | undefined;
  #found: OrderedMarker[] = [];

  constructor(context: SearchContext, query: MarkerQuery) {
    this.#context = context;
    this.#query = query;
    this.#after = query.after ?? BEGIN;
    this.#resumeAfter = this.#after;
    if (!query.filter) return;
    const batches = Math.ceil(context.limits.queryCalls * KEPT_FOR_LOOKUPS);
    query.budget.debit({ calls: batches });
    this.#lookups = batches * REQUEST_LIMITS.batchGet;
  }

  async run(source: MarkerSource): Promise<QueryResult> {
    const { wanted: all = Infinity } = this.#query;
    for (;;) {
      const wanted = all - this.#found.length;
      if (wanted <= 0) return { found: this.#found, resumeAfter: undefined, ended: false };
      const part = await source.next(this.#resumeAfter, wanted);
      await this.#context.turn();
      if (!part || !(await this.#emit(part))) {
        return { found: this.#found, resumeAfter: this.#resumeAfter, ended: false };
      }
      this.#resumeAfter = part.upTo;
      if (part.ended) return { found: this.#found, resumeAfter: undefined, ended: true };
    }
  }

  /** Adds the markers read, in order; returns false if the budget does not cover the base items that a filter needs. */
  async #emit({ markers, again, distinct }: FoundPart): Promise<boolean> {
    const { collection, accept, filter, budget } = this.#query;
    const { figures } = this.#context.loaders;
    const begin = again ? this.#after : this.#resumeAfter;
    const accepted: OrderedMarker[] = [];
    const isAfter = (one: OrderedMarker | undefined) => one !== undefined && compareBytes(one.position, begin) > 0;
    const first = firstIndex(markers.length, (index) => isAfter(markers[index]));
    figures.markersRead += markers.length - first;
    if (!distinct) this.#newest ??= new Map(this.#found.map((one) => [one.marker.key, one]));
    const newest = this.#newest;
    await eachInTurns(markers.slice(first), this.#context.turn, (one) => {
      if (newest) {
        const { key, mapVersion } = one.marker;
        if ((newest.get(key)?.marker.mapVersion ?? -1) >= mapVersion) return;
        newest.set(key, one);
      }
      if (accept(one.marker)) accepted.push(one);
    });
    const isNewest = (one: OrderedMarker) => newest?.get(one.marker.key) === one;
    const current = newest ? accepted.filter(isNewest) : accepted;
    const mostLookups = this.#lookups + REQUEST_LIMITS.batchGet * budget.calls;
    const { passed, decided, lookups } = await passing(this.#context, collection, filter, current, mostLookups);
    figures.markersFound += passed.length;
    for (this.#lookups -= lookups; this.#lookups < 0; this.#lookups += REQUEST_LIMITS.batchGet)
      budget.debit({ calls: 1 });
    // Of a marker that has moved, an older copy was found at its former position.
    this.#found = (newest ? this.#found.filter(isNewest) : this.#found).concat(passed);
    if (again) this.#found.sort((a, b) => compareBytes(a.position, b.position));
    const undecided = current[decided];
    if (!undecided) return true;
    // The next page has everything after, even what was found before all was read again.
    const before = markers[firstFrom(markers, undecided.position) - 1];
    const end = before && isAfter(before) ? before.position : begin;
    this.#found = this.#found.filter(({ position }) => compareBytes(position, end) <= 0);
    this.#resumeAfter = end;
    return false;
  }
}

/**
 * All markers of a query, or as many as it wants. Throws LIMIT_EXCEEDED, naming the API's field, if that exceeds the
 * budget of a field; never returns only some of them.
 */
export async function readAll(
  context: SearchContext,
  query: MarkerQuery,
  field: string,
  advice: string,
): Promise<readonly MapMarker[]> {
  const { found, resumeAfter } = await findMarkers(context, query);
  if (resumeAfter !== undefined && found.length < (query.wanted ?? Infinity)) {
    throw tooMuch(field, context.limits, advice);
  }
  return found.map(({ marker }) => marker);
}

/** LIMIT_EXCEEDED for a field that would exceed its budget. */
export function tooMuch(field: string, { queryCalls, itemsPerField }: Limits, advice: string) {
  const allowed = `${queryCalls} Query calls or ${itemsPerField} items`;
  return limitExceeded(field, 'more than one field may read', allowed, advice);
}

/** For `catch`: refuses what would exceed the budget of a field with other advice. */
export const advising = (field: string, limits: Limits, advice: string) =>
  ifRefused<never>((error) => {
    throw error.details['field'] === field ? tooMuch(field, limits, advice) : error;
  }, 'LIMIT_EXCEEDED');
