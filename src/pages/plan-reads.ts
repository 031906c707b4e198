import { intersect, type ZRange } from '../geo/geohash.js';
import { REQUEST_LIMITS } from '../model/dynamodb-limits.js';
import { REQUEST, SCATTERED_REQUEST, stepsByQuery, unitsOf } from '../model/read-cost.js';
import { GAP_BYTES, partitionRange, type Directory, type PageRun, type PartitionPages } from './directory.js';

/** One read: neighboring pages of a partition. */
export interface PlannedRead extends PageRun {
  readonly partition: string;
  /** The pages to which the indexes `first` and `last` refer. */
  readonly pages: PartitionPages;
  /** A Query, or a BatchGetItem, which may combine the pages of several reads. */
  readonly by: 'query' | 'keys';
  /** Expected number of markers, including those outside the search. */
  readonly expected: number;
}

/** Maximum number of runs of a partition that are compared with each other: the time for this is quadratic. */
const MOST_RUNS = 64;

/** Runs of pages of one partition, in order. */
interface PartitionRuns {
  readonly partition: string;
  readonly pages: PartitionPages;
  readonly runs: readonly PageRun[];
}

interface Choice {
  readonly cost: number;
  readonly reads: readonly PlannedRead[];
}

/** The cheapest reads for some runs of a partition, with or without reading runs by key. */
function cheapest({ partition, pages, runs }: PartitionRuns, withKeys: boolean, request: number): Choice {
  type Step = { readonly cost: number; readonly from: number; readonly by: PlannedRead['by'] };
  const best: Step[] = [];
  runs.forEach(({ first, last }, to) => {
    let choice: Step = { cost: Infinity, from: to, by: 'query' };
    for (let from = 0; from <= to; from++) {
      const cost = (best[from - 1]?.cost ?? 0) + request + stepsByQuery(pages.bytes(runs[from]?.first ?? 0, last));
      if (cost < choice.cost) choice = { cost, from, by: 'query' };
    }
    const byKeys = (best[to - 1]?.cost ?? 0) + stepsByKeys(pages, first, last);
    best.push(withKeys && byKeys < choice.cost ? { cost: byKeys, from: to, by: 'keys' } : choice);
  });
  const reads: PlannedRead[] = [];
  for (let to = runs.length - 1; to >= 0;) {
    const { from, by } = best[to] ?? { from: to, by: 'query' };
    const [first, last] = [runs[from]?.first ?? 0, runs[to]?.last ?? 0];
    reads.push({ partition, pages, first, last, by, expected: pages.markers(first, last) });
    to = from - 1;
  }
  return { cost: best.at(-1)?.cost ?? 0, reads: reads.reverse() };
}

/** Cost in steps of reading pages by key, each of which is rounded up. */
function stepsByKeys(pages: PartitionPages, first: number, last: number): number {
  let units = 0;
  for (let index = first; index <= last; index++) units += unitsOf(pages.hints[index]?.bytes ?? 0);
  return 2 * units;
}

/** Joins runs across the smallest gaps between them, except gaps in the directory, until there are at most `MOST_RUNS`. */
function fewer(pages: PartitionPages, runs: readonly PageRun[]): readonly PageRun[] {
  if (runs.length <= MOST_RUNS) return runs;
  const gaps = runs.slice(1).map(({ first }, index) => {
    return { index: index + 1, bytes: pages.bytes((runs[index]?.last ?? 0) + 1, first - 1) };
  });
  const closable = gaps.filter(({ bytes }) => bytes < GAP_BYTES).sort((a, b) => a.bytes - b.bytes);
  const lightest = closable.slice(0, runs.length - MOST_RUNS);
  const closed = new Set(lightest.map(({ index }) => index));
  const joined: { first: number; last: number }[] = [];
  runs.forEach((run, index) => {
    const before = joined.at(-1);
    if (before && closed.has(index)) before.last = run.last;
    else joined.push({ ...run });
  });
  return joined;
}

/** Expected number of markers in planned reads. */
export const expectedOf = (reads: readonly PlannedRead[]): number =>
  reads.reduce((sum, { expected }) => sum + expected, 0);

/** Number of pages that are read by key. */
const keysOf = (reads: readonly PlannedRead[]): number =>
  reads.reduce((sum, { by, first, last }) => sum + (by === 'keys' ? last - first + 1 : 0), 0);

/** Number of requests that planned reads take. */
export const requestsOf = (reads: readonly PlannedRead[]): number =>
  reads.filter(({ by }) => by === 'query').length + Math.ceil(keysOf(reads) / REQUEST_LIMITS.batchGet);

/** Expected read units of planned reads. */
export const readUnitsOf = (reads: readonly PlannedRead[]): number =>
  reads.reduce((sum, { pages, first, last, by }) => {
    if (by === 'query') return sum + unitsOf(pages.bytes(first, last));
    return pages.hints.slice(first, last + 1).reduce((total, { bytes }) => total + unitsOf(bytes), sum);
  }, 0);

/**
 * The reads, in Z-order, that return all pages which may have markers in sorted, disjoint ranges of Z-order at length
 * 10, for the fewest read units and requests. Neighbors are read by one Query, across gaps that cost less than another
 * Query, and scattered pages by key, up to 100 in one request.
 */
export function planReads(directory: Directory, cover: readonly ZRange[]): PlannedRead[] {
  const partitions = Array.from(directory, ([partition, pages]) => {
    const runs = fewer(pages, pages.overlapping(intersect(cover, [partitionRange(partition)])));
    return { partition, pages, runs };
  });
  return cheapestOf(partitions, REQUEST);
}

function cheapestOf(partitions: readonly PartitionRuns[], request: number): PlannedRead[] {
  const plan = (withKeys: boolean) => partitions.map((some) => cheapest(some, withKeys, request));
  const queries = plan(false);
  const mixed = plan(true);
  const costOf = (choices: readonly Choice[]) => choices.reduce((sum, { cost }) => sum + cost, 0);
  const readsOf = (choices: readonly Choice[]) => choices.flatMap(({ reads }) => reads);
  const isWorth =
    costOf(mixed) + request * Math.ceil(keysOf(readsOf(mixed)) / REQUEST_LIMITS.batchGet) < costOf(queries);
  return readsOf(isWorth ? mixed : queries);
}

/** A page of a partition, by its index there. */
export interface ChosenPage {
  readonly partition: string;
  readonly pages: PartitionPages;
  readonly index: number;
}

/** The reads for some pages in at most this many requests, or in as few as possible. */
export function planChosen(chosen: readonly ChosenPage[], calls: number): PlannedRead[] {
  const among = new Map<PartitionPages, { readonly partition: string; readonly indexes: number[] }>();
  for (const { partition, pages, index } of chosen) {
    const some = among.get(pages) ?? { partition, indexes: [] };
    among.set(pages, some);
    some.indexes.push(index);
  }
  const partitions = Array.from(among, ([pages, { partition, indexes }]): PartitionRuns => {
    return { partition, pages, runs: runsOf(indexes) };
  });
  const reads = cheapestOf(
    partitions.map(({ runs, ...of }) => ({ ...of, runs: fewer(of.pages, runs) })),
    SCATTERED_REQUEST,
  );
  if (requestsOf(reads) <= calls) return reads;
  return partitions.flatMap(({ partition, pages, runs }) =>
    runs.map(({ first, last }) => {
      return { partition, pages, first, last, by: 'keys', expected: pages.markers(first, last) };
    }),
  );
}

/** Groups indexes into runs of neighbors. */
function runsOf(indexes: readonly number[]): PageRun[] {
  const runs: { first: number; last: number }[] = [];
  for (const index of indexes.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.last === index - 1) run.last = index;
    else runs.push({ first: index, last: index });
  }
  return runs;
}

/** How much to read at once. */
export interface Portion {
  /** Expected number of markers. */
  readonly markers: number;
  /** Maximum number of requests. */
  readonly calls: number;
}

/**
 * Splits planned reads into those wanted now and the rest; a read with more than is wanted is cut between pages. At
 * least one page is taken.
 */
export function takeReads(
  reads: readonly PlannedRead[],
  { markers, calls }: Portion,
): { readonly taken: readonly PlannedRead[]; readonly left: readonly PlannedRead[] } {
  const taken: PlannedRead[] = [];
  let expected = 0;
  let queries = 0;
  let keys = 0;
  for (const [index, read] of reads.entries()) {
    if (read.by === 'query') queries += 1;
    else keys += read.last - read.first + 1;
    const isEnough =
      taken.length > 0 && (expected >= markers || queries + Math.ceil(keys / REQUEST_LIMITS.batchGet) > calls);
    if (isEnough) return { taken, left: reads.slice(index) };
    const [now, later] = cut(read, markers - expected);
    taken.push(now);
    expected += now.expected;
    if (later) return { taken, left: [later, ...reads.slice(index + 1)] };
  }
  return { taken, left: [] };
}

/** Cuts a read after the page with which it has enough markers; returns both parts. */
function cut(read: PlannedRead, enough: number): [PlannedRead, PlannedRead | undefined] {
  const { pages, first, last, expected } = read;
  if (expected <= enough) return [read, undefined];
  let end = first;
  while (end < last && pages.markers(first, end) < enough) end += 1;
  const part = (from: number, to: number) => ({ ...read, first: from, last: to, expected: pages.markers(from, to) });
  return [part(first, end), end < last ? part(end + 1, last) : undefined];
}
