import type { Reservation } from '../access/budgets.js';
import type { Bounds } from '../geo/bounds.js';
import { fromZ, LONGEST_Z, toZ } from '../geo/geohash.js';
import { lastInCover } from '../geo/zone-cover.js';
import { compareBytes } from '../keys/byte-order.js';
import type { Keyspace } from '../keys/keyspace.js';
import { groupBy } from '../loaders/group.js';
import { partitionRange, positionOf } from '../pages/directory.js';
import { rangeBounds } from '../plan/explain.js';
import type { Call } from '../store/database.js';
import { newMeter, type PageRead, type RangeRead } from '../store/request/meter.js';
import type { Reported } from './work.js';

/** A range that was read, with its location on the globe. */
interface ExplainedRead extends RangeRead {
  /** The bounding box of the range's cells, in degrees; null if its keys are not geohashes. */
  readonly bounds: Bounds | null;
  /** The range's cells: all geohashes of one length from `first` to `last`, both included. */
  readonly geohashes: { readonly first: string; readonly last: string } | null;
}

/** A read with its half-open range of geohashes of length 10, and its index in the reads of the request. */
interface Located {
  readonly read: ExplainedRead;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const GEOGRAPHIC = new Set(['geoA', 'geoB', 'cells']);

/** The ranges of the pages that were read, ending where the last page ends. */
function locatePages(read: RangeRead, at: number, pages: readonly PageRead[]): Located {
  const { pk, from, to } = read;
  const last = pages.findLast((page) => page.pk === pk && to !== null && page.begin <= to);
  const partition = partitionRange(from?.charAt(0) ?? '');
  const z = { from: positionOf(from ?? ''), to: last?.end == null ? partition.to : positionOf(last.end) };
  const geohashes = { first: fromZ(z.from, LONGEST_Z), last: fromZ(Math.max(z.from, z.to - 1), LONGEST_Z) };
  return { read: { ...read, bounds: rangeBounds(z), geohashes }, at, ...z };
}

function locate(read: RangeRead, at: number, keys: Keyspace, pages: readonly PageRead[]): Located {
  const { index, pk, from, to } = read;
  if (index === 'pages') return locatePages(read, at, pages);
  const range = GEOGRAPHIC.has(index) && from !== null && to !== null && keys.parseGeoRange({ pk, from, to });
  if (!range) return { read: { ...read, bounds: null, geohashes: null }, at, from: 0, to: 0 };
  const first = range.first;
  const last = range.of === 'zones' ? lastInCover(range.last) : range.last;
  const size = 32 ** (LONGEST_Z - first.length);
  const z = { from: toZ(first) * size, to: (toZ(last) + 1) * size };
  return { read: { ...read, bounds: rangeBounds(z), geohashes: { first, last } }, at, ...z };
}

/** Joins two adjacent reads. */
function joined(a: Located, b: Located): Located {
  const z = { from: a.from, to: b.to };
  const read = {
    ...a.read,
    to: b.read.to,
    items: a.read.items + b.read.items,
    bounds: rangeBounds(z),
    geohashes: a.read.geohashes && b.read.geohashes && { first: a.read.geohashes.first, last: b.read.geohashes.last },
  };
  return { read, at: Math.min(a.at, b.at), ...z };
}

/** The ranges of one partition that came from a cache only, with adjacent ones joined. */
function cachedRanges(members: readonly Located[]): Located[] {
  const listed = members.filter(({ read }) => !read.cached);
  const found: Located[] = [];
  for (const member of members.filter(({ read }) => read.cached).sort((a, b) => a.from - b.from || b.to - a.to)) {
    const before = found.at(-1);
    const isListed = [...listed, ...(before ? [before] : [])].some(
      ({ from, to }) => from <= member.from && member.to <= to,
    );
    if (isListed) continue;
    if (before?.to === member.from) found[found.length - 1] = joined(before, member);
    else found.push(member);
  }
  return found;
}

/**
 * The ranges of one request, in the order in which they were read or found in a cache. Adjacent cached ranges are
 * joined, and omitted if the request has also read them.
 */
export function explainReads(
  reads: readonly RangeRead[],
  keys: Keyspace,
  pages: readonly PageRead[] = [],
): ExplainedRead[] {
  const ordered = pages.toSorted((a, b) => compareBytes(a.begin, b.begin));
  const all = reads.map((read, at) => locate(read, at, keys, ordered));
  const partitions = groupBy(all, ({ read: { index, pk } }) => `${index}\n${pk}`);
  const cached = [...partitions.values()].flatMap(cachedRanges);
  const listed = [...all.filter(({ read }) => !read.cached), ...cached].sort((a, b) => a.at - b.at);
  return listed.map(({ read }) => read);
}

type Headers = Readonly<Record<string, unknown>>;

const COST = 'x-cellport-cost';
const EXPLAIN = 'x-cellport-explain';

/** Maximum number of ranges in one response. */
const MAX_READS = 500;

/** What a request asks to be told about itself; `headers` has lower-case names. */
export function reportedBy(headers: Headers): Reported {
  return { cost: headers[COST] === '1', reads: headers[EXPLAIN] === '1' };
}

/** Removes both headers from a request. */
export function asksForNothing(headers: Record<string, unknown>): void {
  delete headers[COST];
  delete headers[EXPLAIN];
}

/** A request that was executed, and the key convention of what it read. */
interface Executed {
  readonly call: Call;
  /** What it took from the budget of its principal, in read units. */
  readonly budget?: Reservation['cost'] | undefined;
  /** Whether the client may know nothing else. */
  readonly budgetOnly?: boolean;
  readonly keys: Keyspace;
}

function readsOf(done: Executed | undefined) {
  const { reads = [], pages = [] } = done?.call ?? {};
  const explained = done ? explainReads(reads, done.keys, pages) : [];
  return {
    reads: explained.slice(0, MAX_READS),
    readsLeftOut: Math.max(0, explained.length - MAX_READS),
    pages: pages.slice(0, MAX_READS).map(({ bounds, markers }) => ({ bounds, markers })),
  };
}

/**
 * The JSON of a response with the requested extensions: `cost` is what DynamoDB charged, `reads` the ranges it read,
 * `pages` the pages of markers that it used. `done` is undefined for a request that failed before it was executed.
 */
export function withExtensions(body: string, headers: Headers, done?: Executed): string {
  const { budget, budgetOnly = false } = done ?? {};
  const { cost, reads } = reportedBy(headers);
  if (!cost && (budgetOnly || !reads)) return body;
  const meter = budgetOnly ? {} : (done?.call.meter ?? newMeter());
  const extensions = { ...(cost && { cost: { ...meter, ...budget } }), ...(reads && !budgetOnly && readsOf(done)) };
  // Spliced in without parsing: a map requests the cost of each response, and some responses are long.
  return `${body.slice(0, body.lastIndexOf('}'))},"extensions":${JSON.stringify(extensions)}}\n`;
}
