import type { KeyRange } from '../model/key-range.js';
import type { Item } from '../store/database.js';
import { compareBytes } from '../keys/byte-order.js';
import type { RangeRequest, RangeUnion } from './range-union.js';

/** The part of a range that one caller gets. */
export interface RangeAnswer {
  /** In the order of their sort keys; the first ones of the range if it is not complete. */
  readonly items: readonly Item[];
  /** Whether that is all. A range that was cut at its limit says false, even if nothing more should follow. */
  readonly complete: boolean;
  /** Query calls made for this caller, alone or with others. */
  readonly calls: number;
}

/** One page of a range: at most `limit` of its items after `start`, and where the next page starts if there is one. */
export type ReadPage = (
  range: KeyRange,
  limit: number | undefined,
  start: Item | undefined,
) => Promise<{ readonly items: readonly Item[]; readonly next: Item | undefined }>;

interface Page {
  /** All sort keys after this one ... */
  readonly after: string;
  /** ... up to this one, included, are read. */
  readonly upTo: string;
}

/**
 * Reads a union once and cuts each request's slice out of it, by reference: `answers` has the order of
 * `union.requests`. Reading stops as soon as every request has its limit, and skips what lies between requests that
 * still want something and those that have enough. `sortKey` gives the sort key of an item.
 */
export async function readUnion(
  union: RangeUnion,
  read: ReadPage,
  sortKey: (item: Item) => string,
): Promise<RangeAnswer[]> {
  const { index, pk } = union.range;
  const items: Item[] = [];
  const sortKeys: string[] = [];
  const pages: Page[] = [];

  /** The index of the first item whose sort key is not before this one. */
  const indexOf = (key: string, orAfter: boolean) => {
    let low = 0;
    let high = sortKeys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = compareBytes(sortKeys[middle] ?? '', key);
      if (order < 0 || (orAfter && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const held = ({ range }: RangeRequest) => indexOf(range.to, true) - indexOf(range.from, false);
  const callsFor = ({ range }: RangeRequest) =>
    pages.filter(({ after, upTo }) => compareBytes(after, range.to) < 0 && compareBytes(range.from, upTo) <= 0).length;

  let open = [...union.requests];
  const complete = new Set<RangeRequest>();
  /** How far a request was read when it was dropped; later reads may be beyond a gap. */
  const readUpTo = new Map<RangeRequest, string>();
  /** Drops the requests that are satisfied, now that everything up to this key is read. */
  const settle = (upTo: string) => {
    open = open.filter((request) => {
      const readThrough = compareBytes(request.range.to, upTo) <= 0;
      const count = held(request);
      if (readThrough && count <= request.limit) complete.add(request);
      if (!readThrough && count < request.limit && callsFor(request) < request.maxCalls) return true;
      readUpTo.set(request, readThrough ? request.range.to : upTo);
      return false;
    });
  };

  let position: string | undefined;
  let next: Item | undefined;
  let range = union.range;
  while (open.length > 0) {
    const first = open.map((request) => request.range.from).reduce((a, b) => (compareBytes(b, a) < 0 ? b : a));
    const to = open.map((request) => request.range.to).reduce((a, b) => (compareBytes(b, a) > 0 ? b : a));
    const gap = position !== undefined && compareBytes(first, position) > 0;
    // Beyond a gap a new read begins; otherwise the current one continues, whose bounds cannot change.
    if (gap || next === undefined) {
      range = { index, pk, from: first, to };
      next = undefined;
    }
    // More than this cannot be used.
    const wanted = open.reduce((sum, request) => sum + request.limit - held(request), 0);
    const after = next && position !== undefined ? position : '';
    const page = await read(range, Number.isFinite(wanted) ? wanted : undefined, next);
    for (const item of page.items) {
      items.push(item);
      sortKeys.push(sortKey(item));
    }
    next = page.next;
    position = next ? sortKey(next) : range.to;
    pages.push({ after, upTo: position });
    settle(position);
  }

  return union.requests.map((request) => {
    const from = indexOf(request.range.from, false);
    const until = Math.min(indexOf(readUpTo.get(request) ?? request.range.to, true), from + request.limit);
    return { items: items.slice(from, until), complete: complete.has(request), calls: Math.max(1, callsFor(request)) };
  });
}
