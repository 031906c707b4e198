import { LONGEST_Z, fromZ } from '../../geo/geohash.js';
import { compareBytes } from '../../keys/byte-order.js';
import { eachInTurns } from '../../turns.js';
import type { MapContext } from '../context.js';
import type { CursorPosition } from '../cursor.js';
import type { MarkerFilter } from '../filter.js';
import { IndexedSearch } from './index-source.js';
import { PageMarkers } from './page-source.js';
import { passing } from './passing.js';
import type { MarkerSearch, MarkerSource, OrderedMarker, FoundPart, QueryResult } from './search.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';

export interface MarkerQuery extends MarkerSearch {
  /** Start after this position. */
  readonly after?: CursorPosition | undefined;
  /** Whether a marker is a match; reads extend beyond the search. */
  readonly accept: (found: OrderedMarker) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** Number of markers wanted, Infinity for all. More may be returned. */
  readonly wanted: number;
}

/**
 * The share of a page's Query calls reserved for looking up base items that a filter needs, so that each page makes
 * progress.
 */
const KEPT_FOR_LOOKUPS = 1 / 16;

/**
 * Reads the markers of a search in order, until enough are found, nothing is left, or the budget is spent. It reads
 * pages or, while they cannot be trusted, the geo index. A marker that moves during the read may be seen at both
 * positions; the copy with the higher map version is used.
 */
export async function findMarkers(context: MapContext, query: MarkerQuery): Promise<QueryResult> {
  const { collection, after = fromZ(0, LONGEST_Z) } = query;
  const find = async (source: MarkerSource) => {
    await context.turn();
    return new Finding(context, query).run(source);
  };
  return context.loaders.pages.read(
    collection,
    (pages) => find(new PageMarkers(pages, query)),
    () => find(new IndexedSearch(context, query, after)),
  );
}

/** The state of reading one page, or one field without pages. */
class Finding {
  readonly #context: MapContext;
  readonly #query: MarkerQuery;
  /** Number of base items that may be looked up before another batch is charged. */
  #lookups = 0;
  readonly #after: CursorPosition;
  /** Everything up to this position has been emitted. */
  #resumeAfter: CursorPosition;
  readonly #versions = new Map<string, number>();
  #found: OrderedMarker[] = [];

  constructor(context: MapContext, query: MarkerQuery) {
    this.#context = context;
    this.#query = query;
    this.#after = query.after ?? fromZ(0, LONGEST_Z);
    this.#resumeAfter = this.#after;
    if (!query.filter) return;
    const batches = Math.ceil(context.limits.rangesPerPage * KEPT_FOR_LOOKUPS);
    query.budget.debit({ calls: batches });
    this.#lookups = batches * REQUEST_LIMITS.batchGet;
  }

  async run(source: MarkerSource): Promise<QueryResult> {
    for (;;) {
      const wanted = this.#query.wanted - this.#found.length;
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
  async #emit({ markers, again }: FoundPart): Promise<boolean> {
    const { collection, accept, filter, budget } = this.#query;
    const begin = again ? this.#after : this.#resumeAfter;
    const first = markers.findIndex(({ cursorPosition }) => compareBytes(cursorPosition, begin) > 0);
    const newer = new Map<string, OrderedMarker>();
    const accepted: OrderedMarker[] = [];
    await eachInTurns(first < 0 ? [] : markers.slice(first), this.#context.turn, (one) => {
      const { key, mapVersion } = one.marker;
      if ((this.#versions.get(key) ?? -1) >= mapVersion) return;
      this.#versions.set(key, mapVersion);
      newer.set(key, one);
      if (accept(one)) accepted.push(one);
    });
    const current = accepted.filter((one) => newer.get(one.marker.key) === one);
    const mostLookups = this.#lookups + REQUEST_LIMITS.batchGet * budget.calls;
    const { passed, decided, lookups } = await passing(this.#context, collection, filter, current, mostLookups);
    for (this.#lookups -= lookups; this.#lookups < 0; this.#lookups += REQUEST_LIMITS.batchGet)
      budget.debit({ calls: 1 });
    const isWhole = decided === current.length;
    const end = isWhole ? undefined : current[decided]?.cursorPosition;
    const isDone = ({ cursorPosition }: OrderedMarker) => end === undefined || compareBytes(cursorPosition, end) < 0;
    const done = [...newer.values()].filter(isDone);
    // The copy found earlier is older: the marker has moved away from there.
    const moved = new Set(done.map(({ marker }) => marker.key));
    this.#found = [...this.#found.filter(({ marker }) => !moved.has(marker.key)), ...passed];
    if (again) this.#found.sort((a, b) => compareBytes(a.cursorPosition, b.cursorPosition));
    for (const { cursorPosition } of done) {
      if (compareBytes(cursorPosition, this.#resumeAfter) > 0) this.#resumeAfter = cursorPosition;
    }
    return isWhole;
  }
}
