import { deflateRawSync, inflateRawSync } from 'node:zlib';

import type { CellSums } from '../../geo/cell-sums.js';
import { addTo } from '../../model/cell-changes.js';
import type { RecentSums } from '../../pages/recent-cells.js';
import type { RecentPart, RecentWrite } from '../../pages/recent-writes.js';
import type { Call, Item } from '../database.js';
import { bulkWriter } from '../request/batches.js';
import { chunks, mapConcurrently } from '../request/pacing.js';
import { queryAll } from '../table/query-responses.js';
import type { OwnPublications } from './own-publications.js';
import { decodePage, encodePage } from './page-data.js';
import { UnknownPageFormat } from './pages.js';

/** What pages lack they have after a minute, or it is not read at all. */
const REMEMBERED_SECONDS = 3_600;
/** Well below the largest item, if maps draw up to 2 KB of each marker. */
const WRITES_IN_AN_ITEM = 500;
const ITEMS_AT_A_TIME = 4;

/** Names what was published after a version of the consumer's state, in the last of some attempts. */
export interface Published {
  readonly scope: string;
  readonly version: number;
  readonly attempt: number;
}

/** What was published after a version. */
export interface PublishedPart extends RecentPart {
  readonly version: number;
}

/** A batch, the name of a finest cell or place, and what to add to its count and sums. */
type Sum = readonly [batch: number, name: string, count: number, sumLng: number, sumLat: number];

const sumsIn = ({ batch, sums }: RecentSums): Sum[] =>
  Array.from(sums, ([name, { count, sumLng, sumLat }]) => [batch, name, count, sumLng, sumLat]);

/**
 * An item: `a` is the attempt, `b` the batch, `d` the entries as in pages, `g` other map versions than theirs, those of
 * deletions too, `l` the incarnations of the entries and then of the deletions, and `c` the sums.
 */
function itemOf(batch: number, writes: readonly RecentWrite[], sums: readonly Sum[]) {
  const entries = writes.flatMap(({ entry }) => entry ?? []);
  const others = writes.filter(({ entry, mapVersion }) => entry?.marker.mapVersion !== mapVersion);
  const inOrder = [...writes.filter(({ entry }) => entry), ...writes.filter(({ entry }) => !entry)];
  const l = packed(inOrder.map(({ life }) => life && [life.id, life.mapVersion, ...life.former]));
  const g = others.map(({ key, mapVersion }) => [key, mapVersion]);
  return { b: batch, d: encodePage(entries), g, l, c: packed(sums) };
}

const packed = (value: unknown) => Uint8Array.from(deflateRawSync(JSON.stringify(value)));
const unpacked = (data: unknown): unknown =>
  data instanceof Uint8Array ? JSON.parse(inflateRawSync(data).toString()) : [];

function sumsOf(c: unknown): RecentSums[] {
  const all = unpacked(c) as Sum[];
  const byBatch = new Map<number, Map<string, CellSums>>();
  for (const [batch, name, count, sumLng, sumLat] of all) {
    const sums = byBatch.get(batch) ?? new Map<string, CellSums>();
    // What could not be published at once is published in several parts.
    addTo(sums, name, { count, sumLng, sumLat });
    byBatch.set(batch, sums);
  }
  return Array.from(byBatch, ([batch, sums]) => ({ batch, sums }));
}

function partOf({ b, d, g, l, c }: Item, collection: string): RecentPart {
  const entries = d instanceof Uint8Array ? decodePage(d, collection) : undefined;
  if (entries === undefined) throw new UnknownPageFormat();
  const versions = new Map(g as readonly (readonly [string, number])[]);
  const written = entries.map((entry): RecentWrite => {
    const { key, mapVersion } = entry.marker;
    const other = versions.get(key);
    versions.delete(key);
    return { key, mapVersion: other ?? mapVersion, entry };
  });
  const deleted = Array.from(versions, ([key, mapVersion]): RecentWrite => ({ key, mapVersion, entry: undefined }));
  const lives = unpacked(l) as readonly (readonly [number, number, ...former: number[]] | null)[];
  const writes = [...written, ...deleted].map((write, index): RecentWrite => {
    const [id, mapVersion, ...former] = lives[index] ?? [];
    return { ...write, life: id === undefined || mapVersion === undefined ? undefined : { id, mapVersion, former } };
  });
  return { batch: Number(b), writes, sums: sumsOf(c) };
}

/**
 * Publishes writes, each marker once, and sums, and notes them in `own`. They never change, and DynamoDB removes them later.
 * Returns the number of items.
 */
export async function putRecentWrites(
  call: Call,
  { scope, version, attempt }: Published,
  { batch, writes, sums }: RecentPart,
  own?: OwnPublications,
): Promise<number> {
  const { keys, tables, clock } = call.db;
  const ttl = Math.ceil(clock.wall() / 1_000) + REMEMBERED_SECONDS;
  const write = bulkWriter(call, tables.derived);
  const parts = chunks(writes, WRITES_IN_AN_ITEM);
  const all = sums.flatMap(sumsIn);
  const size = Math.ceil(all.length / parts.length);
  await mapConcurrently(parts, ITEMS_AT_A_TIME, async (some, part) => {
    // Packing one takes some milliseconds, in which nothing else is done.
    await call.db.scheduler.takeTurn(call.signal);
    const packed = itemOf(batch, some, all.slice(part * size, (part + 1) * size));
    const item = { ...keys.recentWrites(scope, version, `${attempt}.${part}`), ttl, a: attempt, ...packed };
    await write([item]);
    own?.add({ scope, version, item });
  });
  return parts.length;
}

/** The items of each scope, by the version that they were published after and the attempt that counts. */
export type PublishedItems = Readonly<
  Record<string, readonly (readonly [version: number, attempt: number, items: number])[]>
>;

/** What to read: what was published in a scope from one version to another, both included. */
export interface PublishedRange {
  readonly scope: string;
  readonly from: number;
  readonly to: number;
  /** The items that there are; undefined if that is unknown. */
  readonly items?: PublishedItems[string] | undefined;
}

/**
 * The items of the attempts that count. A read may lag: where some that are named are missing, it is repeated, strongly
 * consistent, as it is at once where none are named.
 */
async function itemsIn(call: Call, { scope, from, to, items: listed }: PublishedRange): Promise<PublishedItem[]> {
  if (listed?.length === 0) return [];
  const range = { index: 'derived', ...call.db.keys.recentWritesRange(scope, from, to) } as const;
  const items = await queryAll(call, { ...range, consistent: listed === undefined });
  const published = items.map((item) => publishedIn(call, item));
  if (listed === undefined) return lastAttempts(published);
  const found = listed.map(([version, attempt, count]) => {
    const of = published.filter((one) => one.version === version && one.attempt === attempt);
    return of.length === count ? of : undefined;
  });
  if (found.includes(undefined)) return itemsIn(call, { scope, from, to });
  return found.flatMap((of) => of ?? []);
}

interface PublishedItem {
  readonly item: Item;
  readonly version: number;
  readonly attempt: number;
}

function publishedIn({ db }: Call, item: Item): PublishedItem {
  const key = { pk: String(item['pk']), sk: String(item['sk']) };
  return { item, version: db.keys.parseRecentWrites(key)?.version ?? 0, attempt: Number(item['a'] ?? 0) };
}

function lastAttempts(published: readonly PublishedItem[]): PublishedItem[] {
  const last = new Map<number, number>();
  for (const { version, attempt } of published) last.set(version, Math.max(attempt, last.get(version) ?? 0));
  return published.filter(({ version, attempt }) => attempt === last.get(version));
}

/**
 * What was published, in order; that of `own`, if this process has published all of it. Throws UnknownPageFormat.
 */
export async function readRecentWrites(
  call: Call,
  range: PublishedRange,
  collection: string,
  own?: readonly Item[],
): Promise<PublishedPart[]> {
  const published = own ? lastAttempts(own.map((item) => publishedIn(call, item))) : await itemsIn(call, range);
  const parts: PublishedPart[] = [];
  for (const { item, version } of published) {
    await call.db.scheduler.takeTurn(call.signal);
    parts.push({ ...partOf(item, collection), version });
  }
  return parts;
}
