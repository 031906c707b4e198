import type { RecentPart, RecentWrite } from '../../pages/recent-writes.js';
import type { Database, Item } from '../database.js';
import { bulkWriter } from '../request/batch-write.js';
import { chunks } from '../request/concurrency.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { queryAll } from '../table/query-responses.js';
import { decodePage, encodePage } from './page-data.js';
import { UnknownPageFormat } from './pages.js';

/** What pages lack they have after a minute, or it is not read at all. */
const REMEMBERED_SECONDS = 3_600;
/** Well below the largest item, if maps draw up to 2 KB of each marker. */
const WRITES_IN_AN_ITEM = 500;

/** Names what was published after a version of the consumer's state. */
export interface Published {
  readonly scope: string;
  readonly version: number;
}

/** An item: `b` is the batch, `d` the entries as in pages, `g` other map versions than theirs, those of deletions too. */
function itemOf(batch: number, writes: readonly RecentWrite[]) {
  const entries = writes.flatMap(({ entry }) => entry ?? []);
  const others = writes.filter(({ entry, mapVersion }) => entry?.marker.mapVersion !== mapVersion);
  return { b: batch, d: encodePage(entries), g: others.map(({ key, mapVersion }) => [key, mapVersion]) };
}

function partOf({ b, d, g }: Item, collection: string): RecentPart {
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
  return { batch: Number(b), writes: [...written, ...deleted] };
}

/** Publishes the writes of a batch, each marker once. They never change, and DynamoDB removes them later. */
export async function putRecentWrites(
  database: Database,
  { scope, version }: Published,
  { batch, writes }: RecentPart,
  call: Call,
): Promise<void> {
  const { keys, tables, clock } = database;
  const ttl = Math.ceil(clock.wall() / 1_000) + REMEMBERED_SECONDS;
  const write = bulkWriter(database, tables.derived, call);
  // Packing one takes some milliseconds, in which nothing else is done.
  for (const [part, some] of chunks(writes, WRITES_IN_AN_ITEM).entries())
    await write([{ ...keys.recentWrites(scope, version, part), ttl, ...itemOf(batch, some) }]);
}

/** What was published from one version to another, both included, in order. Throws UnknownPageFormat. */
export async function readRecentWrites(
  database: Database,
  { scope, collection }: { readonly scope: string; readonly collection: string },
  from: number,
  to: number,
  call: Call,
): Promise<RecentPart[]> {
  // A lagging read might lack some of them, and nothing would tell.
  const range = { index: 'derived', ...database.keys.recentWritesRange(scope, from, to), consistent: true } as const;
  const items = await queryAll(database, rangeRequest(database, range), call);
  const parts: RecentPart[] = [];
  for (const item of items) {
    await database.scheduler.takeTurn(call.signal);
    parts.push(partOf(item, collection));
  }
  return parts;
}
