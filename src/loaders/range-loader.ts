import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { fromZ, isGeohash, toZ } from '../geo/geohash.js';
import { compareBytes } from '../keys/byte-order.js';
import { AFTER_SEPARATOR } from '../keys/escape.js';
import { INDEXES } from '../keys/indexes.js';
import type { KeyRange } from '../model/key-range.js';
import { firstIndex } from '../pages/bisect.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { Item } from '../store/database.js';
import type { Budget } from './budget.js';
import { groupBy } from './group.js';
import { settled } from './settled.js';

/** A read of a range, by one caller. */
export interface RangeRequest {
  readonly range: KeyRange;
  /** Maximum number of items, Infinity for all. */
  readonly limit: number;
  /** Maximum number of Query calls for this caller, Infinity for no limit. */
  readonly maxCalls: number;
}

/** Requests of one partition whose ranges overlap or touch, and the range that contains them all. */
interface RangeUnion {
  readonly range: KeyRange;
  readonly requests: readonly RangeRequest[];
}

/** Whether one range ends with a geohash and a later one starts with the next: no key can be between them. */
function touches(to: string, from: string): boolean {
  const last = to.endsWith(AFTER_SEPARATOR) ? to.slice(0, -AFTER_SEPARATOR.length) : to;
  return isGeohash(last) && fromZ(toZ(last) + 1, last.length) === from;
}

const partitionOf = ({ index, pk }: KeyRange) => JSON.stringify([index, pk]);
const byFrom = (a: RangeRequest, b: RangeRequest) => compareBytes(a.range.from, b.range.from);

/**
 * The minimum number of ranges that cover exactly what is requested: within a partition, ranges that overlap or touch
 * are merged. Requests are ordered within a union by start; empty ranges, whose end lies before their start, are in no
 * union.
 */
export function uniteRanges(requests: readonly RangeRequest[]): RangeUnion[] {
  const partitions = groupBy(
    requests.filter(({ range }) => compareBytes(range.from, range.to) <= 0),
    ({ range }) => partitionOf(range),
  );
  return [...partitions.values()].flatMap((members) => {
    const unions: { range: KeyRange; requests: RangeRequest[] }[] = [];
    for (const request of members.toSorted(byFrom)) {
      const last = unions.at(-1);
      const { from, to } = request.range;
      if (last && (compareBytes(from, last.range.to) <= 0 || touches(last.range.to, from))) {
        last.requests.push(request);
        if (compareBytes(to, last.range.to) > 0) last.range = { ...last.range, to };
      } else {
        unions.push({ range: request.range, requests: [request] });
      }
    }
    return unions;
  });
}

/** What all searches of a process have read. */
export class ReadFigures {
  rangesWanted = 0;
  /** Once they were united. */
  rangesRead = 0;
  markersRead = 0;
  /** Those among them that were searched for. */
  markersFound = 0;
}

/** One caller's part of a range. */
interface RangeAnswer {
  /** Sorted by sort key; the first ones of the range if it is not complete. */
  readonly items: readonly Item[];
  /** Whether the range is complete. False for a range cut at its limit, even if nothing more would follow. */
  readonly complete: boolean;
  /** Number of Query calls made for this caller, alone or with others. */
  readonly calls: number;
}

/** One response for a range: at most `limit` of its items after `start`, and where the next one starts if there is one. */
export type ReadResponse = (
  range: KeyRange,
  limit: number | undefined,
  start: Item | undefined,
) => Promise<{ readonly items: readonly Item[]; readonly next: Item | undefined }>;

/** What one caller has received so far. */
interface Slice extends RangeRequest {
  readonly items: Item[];
  calls: number;
  complete: boolean;
  /** Whether nothing more needs to be read for it. */
  ended: boolean;
}

/** The index of the first sort key at or after `key`; with `orAfter`, of the first one after it. */
function indexOf(sortKeys: readonly string[], key: string, orAfter: boolean): number {
  return firstIndex(sortKeys.length, (index) => {
    const order = compareBytes(sortKeys[index] ?? '', key);
    return order > 0 || (order === 0 && !orAfter);
  });
}

/**
 * Reads a union once and cuts each request's slice out of it, by reference, in the order of `union.requests`. Reading
 * stops as soon as every request has reached its limit, and skips what lies between requests that need more and those
 * that are complete. `sortKey` returns the sort key of an item.
 */
export async function readUnion(
  union: RangeUnion,
  read: ReadResponse,
  sortKey: (item: Item) => string,
): Promise<RangeAnswer[]> {
  const { index, pk } = union.range;
  const slices = union.requests.map((request): Slice => {
    return { ...request, items: [], calls: 0, complete: false, ended: false };
  });
  /** Everything up to this key has been read. */
  let position = '';
  let next: Item | undefined;
  let { range } = union;
  for (let open = slices; open.length > 0; open = open.filter(({ ended }) => !ended)) {
    const from = open.map((slice) => slice.range.from).reduce((a, b) => (compareBytes(b, a) < 0 ? b : a));
    const to = open.map((slice) => slice.range.to).reduce((a, b) => (compareBytes(b, a) > 0 ? b : a));
    // After a gap a new read begins; otherwise the current one continues, whose bounds cannot change.
    if (next === undefined || compareBytes(from, position) > 0) {
      range = { index, pk, from, to };
      next = undefined;
    }
    // More than this cannot be used.
    const wanted = open.reduce((sum, { limit, items }) => sum + limit - items.length, 0);
    const after = next ? position : '';
    const response = await read(range, Number.isFinite(wanted) ? wanted : undefined, next);
    const sortKeys = response.items.map(sortKey);
    next = response.next;
    position = next ? sortKey(next) : range.to;
    for (const slice of open) {
      const { limit, items, maxCalls } = slice;
      const [begin, end] = [indexOf(sortKeys, slice.range.from, false), indexOf(sortKeys, slice.range.to, true)];
      const isCut = end - begin > limit - items.length;
      items.push(...response.items.slice(begin, Math.min(end, begin + limit - items.length)));
      const isTouched = compareBytes(after, slice.range.to) < 0 && compareBytes(slice.range.from, position) <= 0;
      if (isTouched) slice.calls += 1;
      const isThrough = compareBytes(slice.range.to, position) <= 0;
      slice.complete = isThrough && !isCut;
      slice.ended = isThrough || items.length >= limit || slice.calls >= maxCalls;
    }
  }
  return slices.map(({ items, complete, calls }) => ({ items, complete, calls: Math.max(1, calls) }));
}

/** A read of one range, and the budget to charge. */
export interface BudgetedRange {
  readonly range: KeyRange;
  /** Maximum number of items, Infinity for all. */
  readonly limit: number;
  readonly budget: Budget;
}

const NOTHING: RangeAnswer = { items: [], complete: true, calls: 0 };

/** The sort key attribute of an index, or of the table of cells. */
const SORT_ATTRIBUTE = { geoA: INDEXES.geoA.sk, geoB: INDEXES.geoB.sk, derived: 'sk' } as const;

/** The sort key of an item in a range. */
export function sortKeyOf(index: KeyRange['index'], item: Item): string {
  return String(item[SORT_ATTRIBUTE[index]]);
}

const requestKey = ({ range: { index, pk, from, to }, limit, maxCalls }: RangeRequest) =>
  JSON.stringify([index, pk, from, to, String(limit), String(maxCalls)]);

/**
 * Loads ranges. Those requested in one tick are united where they overlap or touch, each union is read once, and each
 * caller gets exactly its slice. If a union fails, only its own callers fail.
 */
export class RangeLoader {
  readonly #loader: DataLoader<RangeRequest, RangeAnswer, string>;

  /** `slots` limits concurrent Query calls; `figures` counts. */
  constructor(read: ReadResponse, slots: LimitFunction, scheduler: Scheduler, figures = new ReadFigures()) {
    const inSlot: ReadResponse = (...response) => slots(() => read(...response));
    const readAll = (requests: readonly RangeRequest[]) => {
      const answers = new Map<RangeRequest, Promise<RangeAnswer>>();
      const unions = uniteRanges(requests);
      figures.rangesWanted += requests.length;
      figures.rangesRead += unions.length;
      for (const union of unions) {
        const slices = readUnion(union, inSlot, (item) => sortKeyOf(union.range.index, item));
        const slice = async (index: number) => (await slices)[index] ?? NOTHING;
        union.requests.forEach((request, index) => answers.set(request, slice(index)));
      }
      return settled(requests.map((request) => answers.get(request) ?? NOTHING));
    };
    this.#loader = new DataLoader(readAll, { cacheKeyFn: requestKey, batchScheduleFn: scheduler.afterTurns });
  }

  /** Each Query call is charged to the budget of every caller whose range it touched. */
  async load({ range, limit, budget }: BudgetedRange): Promise<RangeAnswer> {
    const answer = await this.#loader.load({ range, limit, maxCalls: budget.calls });
    budget.debit({ calls: answer.calls });
    return answer;
  }

  /** Drops the ranges that were read. */
  forget(): void {
    this.#loader.clearAll();
  }
}
