import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

import { afterPartition, type DirectoryPart } from '../../pages/directory.js';
import type { OrderedMarker } from '../../pages/ordered-marker.js';
import { inSpan } from '../../tracing.js';
import type { Call, Item } from '../database.js';
import { batchGet, type BatchGetOptions } from '../request/batches.js';
import type { RangeOptions } from '../request/ranges.js';
import { send } from '../request/send.js';
import { queryAll, queryResponse } from '../table/query-responses.js';
import { columnsOfPage, entriesOfColumns, type PageColumns } from './page-data.js';

/** The pages of a collection that belong together: a recount rewrites all of them as another generation. */
export interface PageSet {
  readonly scope: string;
  readonly generation: string;
}

/** The same, with the key of the collection for their markers. */
export interface PagesOf extends PageSet {
  readonly collection: string;
}

/** The part of its partition that a page spans. */
export interface PageSpan {
  readonly begin: string;
  /** The begin of the next page when this one was written; undefined for the last page of a partition. */
  readonly end: string | undefined;
}

export interface StoredPage extends PageSpan {
  /** The last round of stream changes applied to it. */
  readonly round: number;
  /** The last round in which a marker moved from it to another page. */
  readonly lost: number | undefined;
  readonly entries: readonly OrderedMarker[];
  /** What the entries were made of. */
  readonly columns: PageColumns;
  /** Size of the item in bytes. */
  readonly bytes: number;
}

/** A page to be stored. */
export interface NewPage extends PageSpan {
  readonly markers: number;
  readonly data: Uint8Array;
}

/** A stored page whose entries are still encoded. */
export interface RawPage extends NewPage {
  readonly round: number;
  readonly lost: number | undefined;
}

/** Replaces a page by one or more that together span it, all or none. */
export interface PageReplacement {
  readonly scope: string;
  readonly begin: string;
  /** The round of the page when it was read; undefined if it did not exist. */
  readonly seen: number | undefined;
  readonly round: number;
  /** See `StoredPage`. */
  readonly lost: number | undefined;
  readonly pages: readonly NewPage[];
}

/**
 * Overhead of a page's attributes in bytes: `b` is its round, `e` its end, `l` the round in which it lost a marker, `n`
 * the number of markers, `d` their data.
 */
const OVERHEAD = 60;

/** Approximate size in bytes of the item of a page with this data. */
export const pageBytes = (data: Uint8Array): number => OVERHEAD + data.length;

/** The page in an item; undefined if the item is not a page. */
function rawPageOf({ sk, b, e, l, n, d }: Item): RawPage | undefined {
  if (!(d instanceof Uint8Array) || typeof sk !== 'string' || typeof b !== 'number') return undefined;
  return {
    begin: sk,
    end: typeof e === 'string' ? e : undefined,
    round: b,
    lost: typeof l === 'number' ? l : undefined,
    markers: typeof n === 'number' ? n : 0,
    data: d,
  };
}

/** The page with its entries; also undefined if it has a format that this version does not know. */
function pageOf(item: Item, collection: string): StoredPage | undefined {
  const raw = rawPageOf(item);
  const columns = raw && columnsOfPage(raw.data);
  if (!columns) return undefined;
  const { begin, end, round, lost, data } = raw;
  return { begin, end, round, lost, entries: entriesOfColumns(columns, collection), columns, bytes: pageBytes(data) };
}

/** A page in a format that this version cannot read. */
export class UnknownPageFormat extends Error {
  constructor() {
    super('a page has the format of another version');
    this.name = 'UnknownPageFormat';
  }
}

/** The page in an item. Throws UnknownPageFormat. */
export function pageOfItem(item: Item, collection: string): StoredPage {
  const page = pageOf(item, collection);
  if (page === undefined) throw new UnknownPageFormat();
  return page;
}

/** The page for a position, strongly consistent; undefined if its partition has no pages. */
export async function findPage(
  call: Call,
  { scope, generation }: PageSet,
  position: string,
): Promise<RawPage | undefined> {
  const { pk, sk: from } = call.db.keys.page(scope, generation, position.charAt(0));
  const range = { index: 'derived', pk, from, to: position, descending: true, limit: 1, consistent: true } as const;
  const { Items: [item] = [] } = await queryResponse(call, range);
  return item && rawPageOf(item);
}

/** Some pages of a partition in order, starting with this begin, strongly consistent. */
export async function pagesFrom(
  call: Call,
  { scope, generation }: PageSet,
  begin: string,
  limit: number,
): Promise<RawPage[]> {
  const { pk } = call.db.keys.page(scope, generation, begin);
  const to = afterPartition(begin);
  const range = { index: 'derived', pk, from: begin, to, limit, consistent: true } as const;
  const { Items = [] } = await queryResponse(call, range);
  return Items.map(rawPageOf).filter((page) => page !== undefined);
}

/** Pages by begin, in that order; undefined for those that do not exist. */
export async function getPages(
  call: Call,
  { scope, collection, generation }: PagesOf,
  begins: readonly string[],
  options: BatchGetOptions = {},
): Promise<(StoredPage | undefined)[]> {
  const keys = begins.map((begin) => call.db.keys.page(scope, generation, begin));
  const items = await batchGet(call, call.db.tables.derived, keys, options);
  return inSpan(call.traced, 'cellport.decode', { 'cellport.pages': items.length }, () =>
    items.map((item) => item && pageOfItem(item, collection)),
  );
}

/** The pages of one partition whose begins are between two positions, both included. */
export async function queryPages(
  call: Call,
  { scope, collection, generation }: PagesOf,
  { from, to, consistent = false }: { readonly from: string; readonly to: string; readonly consistent?: boolean },
): Promise<StoredPage[]> {
  const { pk } = call.db.keys.page(scope, generation, from);
  const items = await queryAll(call, { index: 'derived', pk, from, to, consistent });
  return items.map((item) => pageOfItem(item, collection));
}

/** Maximum number of pages in one item: about 3 KB. */
export const MOST_HINTS = 256;

type Stored = readonly [begins: readonly string[], markers: readonly number[], bytes: readonly number[]];

function dataOf({ hints }: DirectoryPart): Uint8Array {
  const stored: Stored = [
    hints.map(({ begin }) => begin),
    hints.map(({ markers }) => markers),
    hints.map(({ bytes }) => bytes),
  ];
  return brotliCompressSync(JSON.stringify(stored));
}

/** The part in an item: `e` is where it ends, `d` its hints. */
function partOf({ sk, d, e }: Item): DirectoryPart[] {
  if (!(d instanceof Uint8Array) || typeof sk !== 'string') return [];
  const [begins, markers, bytes] = JSON.parse(brotliDecompressSync(d).toString()) as Stored;
  const hints = begins.map((begin, index) => ({ begin, markers: markers[index] ?? 0, bytes: bytes[index] ?? 0 }));
  return [{ begin: sk, hints, end: typeof e === 'string' ? e : afterPartition(sk) }];
}

/** Some parts of a directory, in order. */
export interface DirectoryParts {
  readonly parts: readonly DirectoryPart[];
  /** Whether these are all of the requested parts. */
  readonly isWhole: boolean;
}

/** The first parts of a directory that begin from one position to another, both included, by one Query. */
export async function readDirectory(
  call: Call,
  { scope, generation }: PageSet,
  range: RangeOptions & { readonly from: string; readonly to: string },
): Promise<DirectoryParts> {
  const { pk } = call.db.keys.pageDirectory(scope, generation, range.from);
  const { Items = [], LastEvaluatedKey } = await queryResponse(call, { index: 'derived', pk, ...range });
  return { parts: Items.flatMap(partOf), isWhole: LastEvaluatedKey === undefined };
}

/** The part of a directory that a position belongs to; undefined if none of its partition begins before. */
export async function findDirectoryPart(
  call: Call,
  of: PageSet,
  position: string,
  consistent: boolean,
): Promise<DirectoryPart | undefined> {
  const range = { from: position.charAt(0), to: position, limit: 1, descending: true, consistent };
  return (await readDirectory(call, of, range)).parts[0];
}

/** Replaces a part unconditionally, because a directory is only a hint. */
export async function putDirectoryPart(call: Call, { scope, generation }: PageSet, part: DirectoryPart): Promise<void> {
  const Item = { ...call.db.keys.pageDirectory(scope, generation, part.begin), e: part.end, d: dataOf(part) };
  await send(call, 'put', { TableName: call.db.tables.derived, Item });
}
