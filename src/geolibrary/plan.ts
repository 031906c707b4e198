import { hashKeysOf, idsBetween, partsUnder } from './hash-keys.js';
import type { IdRange } from './s2.js';

/** One Query on a table's index: IDs under one hash key. */
export interface PlannedQuery extends IdRange {
  readonly hashKey: bigint;
}

/** The reads, in order of hash keys, then IDs. */
export interface QueryPlan {
  /** Number of hash keys: at least as many Query calls are needed. */
  readonly hashKeys: bigint;
  /** The queries from a hash key on, yielded lazily: with long hash keys, the whole globe takes a million. */
  queries(from?: bigint): Iterable<PlannedQuery>;
}

/** Number of cells in a cover: enough for a plan to skip most of what is outside. */
export const COVER = 48;
/** Maximum number of queries, unless there are more hash keys. */
const MAX_QUERIES = 6;
/** Reading a gap with less than one in this many of all IDs searched costs less than another Query. */
const WORTH_A_QUERY = 12n;

const sizeOf = (ranges: readonly IdRange[]) => ranges.reduce((sum, { from, to }) => sum + to - from, 0n);

/**
 * Plans the reads for ranges of IDs (sorted, disjoint). Each Query stays under one hash key, and ranges under it are
 * joined if reading the gap is cheaper than another Query. The table's density is unknown, so the cost is the area
 * read.
 */
export function planQueries(ranges: readonly IdRange[], length: number): QueryPlan {
  const keys = hashKeysOf(ranges, length);
  const hashKeys = sizeOf(keys);
  const border = hashKeys < MAX_QUERIES ? widestKept(ranges, keys, length, MAX_QUERIES - Number(hashKeys)) : undefined;
  return {
    hashKeys,
    *queries(start) {
      for (const { from, to } of keys) {
        for (let hashKey = start !== undefined && start > from ? start : from; hashKey < to; hashKey++) {
          yield* joined(hashKey, partsUnder(hashKey, length, ranges));
        }
      }
    },
  };

  function* joined(hashKey: bigint, pieces: readonly IdRange[]): Generator<PlannedQuery> {
    let open: IdRange | undefined;
    for (const piece of pieces) {
      const apart =
        open && border !== undefined && idsBetween(hashKey, length, { from: open.to, to: piece.from }) > border;
      if (open && apart === true) {
        yield { hashKey, ...open };
        open = piece;
      } else open = { from: open?.from ?? piece.from, to: piece.to };
    }
    if (open) yield { hashKey, ...open };
  }
}

/** The widest gap to read if `splits` gaps may be skipped. */
function widestKept(ranges: readonly IdRange[], keys: readonly IdRange[], length: number, splits: number): bigint {
  const gaps: bigint[] = [];
  for (const { from, to } of keys) {
    for (let hashKey = from; hashKey < to; hashKey++) {
      const pieces = partsUnder(hashKey, length, ranges);
      for (const [index, piece] of pieces.entries()) {
        const before = pieces[index - 1];
        if (before) gaps.push(idsBetween(hashKey, length, { from: before.to, to: piece.from }));
      }
    }
  }
  const next = gaps.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0))[splits] ?? 0n;
  const cheap = sizeOf(ranges) / WORTH_A_QUERY;
  return next > cheap ? next : cheap;
}
