import { badInput } from '../errors.js';
import type { ZRange } from '../geo/ranges.js';
import { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import { Cursors, isCursorPosition } from '../read/cursor.js';
import { type MarkerFilterInput, readFilter } from '../read/filter.js';
import { findMarkers } from '../read/find-markers.js';
import type { SearchContext } from '../read/search.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';

/** A client's page request: the number of entries, and the cursor to start after. */
export interface PageInput {
  readonly first: number;
  /** A cursor from an earlier page of the same list. */
  readonly after?: string | null | undefined;
}

/** An entry of a page. Its cursor is created on demand: most maps request only the markers. */
export class Edge<Node> {
  readonly node: Node;
  readonly #cursor: () => string;

  constructor(node: Node, cursor: () => string) {
    this.node = node;
    this.#cursor = cursor;
  }

  get cursor(): string {
    return this.#cursor();
  }
}

/** Why a page has fewer entries than requested although more may follow. */
export type ShortBecause = 'READ_BUDGET' | 'DEADLINE';

export interface Page<E> {
  readonly edges: readonly E[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    /** Where the next page starts; not always after the last edge, because a page may end with its budget. */
    readonly endCursor: string | null;
    /** Null unless the page has fewer entries than requested, and a next page. */
    readonly shortBecause: ShortBecause | null;
  };
}

/** A page of markers in geohash order, then key order. */
export type MarkerPage = Page<Edge<MapMarker>>;

/** A list of markers that is read in pages. */
export interface MarkerList {
  readonly collection: Collection;
  /** Identifies the list: cursors of other lists are rejected. */
  readonly of: readonly unknown[];
  /** Z-order ranges at length 10 that contain the whole list. */
  readonly cover: readonly ZRange[];
  readonly accept: (marker: MapMarker) => boolean;
  readonly filter?: MarkerFilterInput | null | undefined;
}

/** Validates a client's integer. Throws BAD_USER_INPUT naming `field` for anything else or out of range. */
export function readWhole(field: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw badInput(field, value, `a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A validated request for a page of a list. */
export interface PageRequest {
  readonly first: number;
  /** Number of entries to look for: one more than requested, to find out whether there is a next page. */
  readonly wanted: number;
  /** The position after which the page starts; undefined for the first page. */
  readonly after: string | undefined;
  readonly cursors: Cursors;
}

/**
 * The page that a client requests of the list with this definition; `isPosition` recognizes positions in the list.
 * Throws BAD_USER_INPUT naming `first` or `after`.
 */
export function readPageInput(
  { maxFirst }: Limits,
  list: readonly unknown[],
  input: PageInput,
  isPosition = isCursorPosition,
): PageRequest {
  const first = readWhole('first', input.first, 1, maxFirst);
  const cursors = new Cursors(list);
  const { after = null } = input;
  return { first, wanted: first + 1, after: after === null ? undefined : cursors.read(after, isPosition), cursors };
}

/**
 * A page of a list. It has `first` markers, or fewer if the list or the budget ends; in the latter case it has a next
 * page, which may turn out to be empty. Markers that exist throughout are neither skipped nor repeated across pages,
 * whatever is created or deleted in between.
 */
export async function readPage(context: SearchContext, list: MarkerList, input: PageInput): Promise<MarkerPage> {
  await context.turn();
  const filter = readFilter(list.filter);
  const { collection, cover, accept } = list;
  const request = readPageInput(context.limits, [...list.of, collection.key, list.filter ?? null], input);
  const { after, wanted } = request;
  const query = { collection, cover, budget: Budget.of(context.limits), after, accept, filter, wanted };
  const { found, resumeAfter } = await findMarkers(context, query);
  return markerPage(request, found, resumeAfter);
}

/** A page of the found markers, which may be more than fit. */
export function markerPage(
  request: PageRequest,
  found: readonly OrderedMarker[],
  resumeAfter: string | undefined,
): MarkerPage {
  const edges = found.map((one) => new Edge(one.marker, () => request.cursors.write(one.position)));
  return pageOf(request, edges, resumeAfter);
}

/**
 * A page of edges, which may be more than fit. `rest` is the position after all of them; undefined if nothing is left.
 * `cursorAfter` returns where a page that ends with an edge resumes.
 */
export function pageOf<E extends { readonly cursor: string }>(
  { first, after, cursors }: PageRequest,
  found: readonly E[],
  rest: string | undefined,
  cursorAfter = ({ cursor }: E) => cursor,
): Page<E> {
  const edges = found.slice(0, first);
  const last = edges.at(-1);
  const end = rest === undefined ? undefined : cursors.write(rest);
  const next = found.length > first && last ? cursorAfter(last) : end;
  return {
    edges,
    pageInfo: {
      hasNextPage: next !== undefined,
      hasPreviousPage: after !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: next ?? last?.cursor ?? null,
      shortBecause: next !== undefined && edges.length < first ? 'READ_BUDGET' : null,
    },
  };
}
