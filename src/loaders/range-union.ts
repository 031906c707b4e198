import { fromZ, isGeohash, toZ } from '../geo/geohash.js';
import { compareBytes } from '../keys/byte-order.js';
import { AFTER_SEPARATOR } from '../keys/escape.js';
import type { KeyRange } from '../model/key-range.js';
import { groupBy } from './group.js';

/** A read of a range, by one caller. */
export interface RangeRequest {
  readonly range: KeyRange;
  /** Maximum number of items, Infinity for all. */
  readonly limit: number;
  /** Maximum number of Query calls for this caller, Infinity for no limit. */
  readonly maxCalls: number;
}

/** Requests of one partition whose ranges overlap or touch, and the range that contains them all. */
export interface RangeUnion {
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
