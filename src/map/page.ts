import { badInput } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import type { MapContext } from './context.js';
import { type CursorPosition, listName, readCursor, writeCursor } from './cursor.js';
import { type MarkerFilterInput, readFilter } from './filter.js';
import type { RangeSource } from './markers/sources.js';
import { type Placed, walk } from './markers/walk.js';

/** What a client asks of a list: how many, and from where on. */
export interface PageInput {
  readonly first: number;
  /** A cursor that an earlier page of the same list gave. */
  readonly after?: string | null | undefined;
}

/** A marker of a page. Its cursor is written when it is asked for: most maps ask for the markers alone. */
class MarkerEdge {
  readonly node: MapMarker;
  readonly #list: string;
  readonly #place: CursorPosition;

  constructor(list: string, { place, marker }: Placed) {
    this.node = marker;
    this.#list = list;
    this.#place = place;
  }

  get cursor(): string {
    return writeCursor(this.#list, this.#place);
  }
}

/** A page of markers in the order of their geohashes, then keys. */
export interface MarkerPage {
  readonly edges: readonly MarkerEdge[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    /** Where the next page begins; not always the last edge's, as a page may end where its ceiling of reads does. */
    readonly endCursor: string | null;
  };
}

/** A list of markers that is read in pages. */
export interface MarkerList {
  readonly collection: Collection;
  /** What it is a list of, so that its cursors are told from those of others. */
  readonly of: readonly unknown[];
  readonly source: () => RangeSource | Promise<RangeSource>;
  readonly accept: (placed: Placed) => boolean;
  readonly filter?: MarkerFilterInput | null | undefined;
}

/** A whole number from a client. Throws BAD_USER_INPUT naming `field` where it is none or out of range. */
export function readWhole(field: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw badInput(field, value, `a whole number from ${least} to ${most}`);
  }
  return value;
}

/**
 * A page of a list. It holds `first` markers, or fewer where the list or the ceiling of reads ends; in the latter case
 * it has a next page, which may turn out to be empty. Markers that were there all along are neither left out nor told
 * twice by the pages together, whatever comes and goes meanwhile.
 */
export async function readPage(context: MapContext, list: MarkerList, input: PageInput): Promise<MarkerPage> {
  const first = readWhole('first', input.first, 1, context.limits.maxFirst);
  const filter = readFilter(list.filter);
  const name = listName([...list.of, list.collection.key, list.filter ?? null]);
  const isFirst = input.after === null || input.after === undefined;
  const after = isFirst ? undefined : readCursor(name, input.after);
  const { collection, accept } = list;
  const { found, cutAt, ended } = await walk(context, {
    collection,
    source: await list.source(),
    after,
    accept,
    filter,
    // One more tells whether there is a next page.
    wanted: first + 1,
  });
  return pageOf(name, found, { first, isFirst, ended, cutAt });
}

/** What was found, which may be more than a page holds, as a page of the list of this name. */
export function pageOf(
  name: string,
  found: readonly Placed[],
  {
    first,
    isFirst,
    ended,
    cutAt,
  }: { first: number; isFirst: boolean; ended: boolean; cutAt: CursorPosition | undefined },
): MarkerPage {
  const edges = found.slice(0, first).map((placed) => new MarkerEdge(name, placed));
  const full = found.length > first;
  const last = edges.at(-1)?.cursor ?? null;
  return {
    edges,
    pageInfo: {
      hasNextPage: full || !ended,
      hasPreviousPage: !isFirst,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: full || cutAt === undefined ? last : writeCursor(name, cutAt),
    },
  };
}
