import { badInput } from '../errors.js';
import type { ZRange } from '../geo/geohash.js';
import { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { MapMarker } from '../model/marker.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';
import { Cursors, isCursorPosition } from '../read/cursor.js';
import { readFilter, type MarkerFilterInput } from '../read/filter.js';
import { findMarkers } from '../read/find-markers.js';
import type { SearchContext } from '../read/search.js';

/** The arguments of a connection: the number of entries, and the cursor to start after. */
export interface ConnectionArguments {
  readonly first: number;
  /** A cursor from an earlier connection of the same list. */
  readonly after?: string | null | undefined;
}

/** An entry of a connection. Its cursor is created on demand: most maps request only the markers. */
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

/** Why a connection has fewer entries than requested although more may follow. */
export type ShortBecause = 'READ_BUDGET' | 'DEADLINE';

/** A part of a list: at most `first` of its entries, and where the next part starts. */
export interface Connection<E> {
  readonly edges: readonly E[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    /**
     * Where the next connection starts; not always after the last edge, because a connection may end with its budget.
     */
    readonly endCursor: string | null;
    /** Null unless the connection has fewer entries than requested, and a next connection. */
    readonly shortBecause: ShortBecause | null;
  };
}

/** Markers in geohash order, then key order. The edges are created on demand, like their cursors. */
export interface MarkerConnection extends Connection<Edge<MapMarker>> {
  readonly nodes: readonly MapMarker[];
}

/** A list of markers that is read in parts. */
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

/** The validated arguments of a connection. */
export interface ConnectionRequest {
  readonly first: number;
  /** Number of entries to look for: one more than requested, to find out whether there is a next connection. */
  readonly wanted: number;
  /** The position after which the connection starts; undefined for the first connection. */
  readonly after: string | undefined;
  readonly cursors: Cursors;
}

/**
 * The validated arguments for the list with these cursors; `isPosition` recognizes positions in the list. Throws
 * BAD_USER_INPUT naming `first` or `after`.
 */
export function readArguments(
  { maxFirst }: Limits,
  cursors: Cursors,
  input: ConnectionArguments,
  isPosition = isCursorPosition,
): ConnectionRequest {
  const first = readWhole('first', input.first, 1, maxFirst);
  const { after = null } = input;
  return { first, wanted: first + 1, after: after === null ? undefined : cursors.read(after, isPosition), cursors };
}

/**
 * A connection of a list. It has `first` markers, or fewer if the list or the budget ends; in the latter case it has a
 * next connection, which may turn out to be empty. Markers that exist throughout are neither skipped nor repeated
 * across connections, whatever is created or deleted in between.
 */
export async function readConnection(
  context: SearchContext,
  list: MarkerList,
  input: ConnectionArguments,
): Promise<MarkerConnection> {
  await context.turn();
  const filter = readFilter(list.filter);
  const { collection, cover, accept } = list;
  const cursors = new Cursors([...list.of, collection.key, list.filter ?? null], collection.grant);
  const request = readArguments(context.limits, cursors, input);
  const { after, wanted } = request;
  const query = { collection, cover, budget: Budget.of(context.limits), after, accept, filter, wanted };
  const { found, resumeAfter } = await findMarkers(context, query);
  return markerConnection(request, found, resumeAfter);
}

/** A connection of the found markers, which may be more than fit. */
export function markerConnection(
  request: ConnectionRequest,
  found: readonly OrderedMarker[],
  resumeAfter: string | undefined,
): MarkerConnection {
  const shown = found.slice(0, request.first);
  const cursorOf = ({ position }: OrderedMarker) => request.cursors.write(position);
  return {
    nodes: shown.map(({ marker }) => marker),
    get edges() {
      return shown.map((one) => new Edge(one.marker, () => cursorOf(one)));
    },
    pageInfo: pageInfoOf(request, found, resumeAfter, cursorOf),
  };
}

/**
 * A connection of edges, which may be more than fit. `rest` is the position after all of them; undefined if nothing is
 * left. `cursorAfter` returns where a connection that ends with an edge resumes.
 */
export function connectionOf<E extends { readonly cursor: string }>(
  request: ConnectionRequest,
  found: readonly E[],
  rest: string | undefined,
  cursorAfter?: (last: E) => string,
): Connection<E> {
  const pageInfo = pageInfoOf(request, found, rest, ({ cursor }) => cursor, cursorAfter);
  return { edges: found.slice(0, request.first), pageInfo };
}

function pageInfoOf<Found>(
  { first, after, cursors }: ConnectionRequest,
  found: readonly Found[],
  rest: string | undefined,
  cursorOf: (one: Found) => string,
  cursorAfter = cursorOf,
): Connection<Found>['pageInfo'] {
  const shown = Math.min(first, found.length);
  const [start, last] = [found[0], found[shown - 1]];
  const end = rest === undefined ? undefined : cursors.write(rest);
  const next = found.length > first && last ? cursorAfter(last) : end;
  return {
    hasNextPage: next !== undefined,
    hasPreviousPage: after !== undefined,
    startCursor: start ? cursorOf(start) : null,
    endCursor: next ?? (last ? cursorOf(last) : null),
    shortBecause: next !== undefined && shown < first ? 'READ_BUDGET' : null,
  };
}

/**
 * Reads a connection of a list and, while it is empty but not the last, the next one in its place, each within its read
 * budget: to a user, an empty connection means that there is nothing. When it gets late, the connection is empty and
 * says why. `forget` drops what was read: all that a long search reads may not fit into memory.
 */
export async function readOn<Input, Part extends Connection<unknown>>(
  input: Input,
  read: (input: Input) => Promise<Part>,
  isLate: () => boolean,
  forget: () => void,
): Promise<Part> {
  let part = await read(input);
  const { hasPreviousPage } = part.pageInfo;
  while (part.pageInfo.startCursor === null && part.pageInfo.hasNextPage) {
    if (isLate()) return { ...part, pageInfo: { ...part.pageInfo, hasPreviousPage, shortBecause: 'DEADLINE' } };
    forget();
    part = await read({ ...input, after: part.pageInfo.endCursor });
  }
  if (part.pageInfo.hasPreviousPage === hasPreviousPage) return part;
  return { ...part, pageInfo: { ...part.pageInfo, hasPreviousPage } };
}
