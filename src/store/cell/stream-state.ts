import type { Key } from '../../keys/document-id.js';
import { putInBulk } from '../request/batch-write.js';
import { putVersion } from '../request/conditional-put.js';
import type { Database } from '../database.js';
import type { Leased } from '../lease.js';
import { PAGE_FORMAT } from '../page/page-data.js';
import type { Call } from '../request/meter.js';
import { queryAll } from '../request/query-pages.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';

/** How far one shard of the stream is complete. */
export interface ShardProgress {
  /** Sequence number of the last record that is complete; absent while there is none. */
  readonly after?: string | undefined;
  /** When its end was read, in milliseconds since 1970: it has no more records. */
  readonly endedAt?: number | undefined;
  /** A time, in milliseconds since 1970, before which nothing was written that is still to be read. */
  readonly since: number;
}

/** The records of one shard in a batch, by the sequence numbers of the first and the last of them. */
export interface SequenceRange {
  /** Stored although it follows from the progress, so that it shows if the stream has trimmed it. */
  readonly first: string;
  readonly to: string;
}

/** Records that the cells have missed; counts are inexact until a recount. */
export interface StreamGap {
  /** RFC 3339, UTC, milliseconds. */
  readonly since: string;
  readonly reason: string;
}

/** What the consumers of a stream share: the owner, how far the work is complete, and what is in progress. */
export interface StreamState extends Leased {
  readonly token: string;
  /** Names how records are folded into blocks. */
  readonly layout: string;
  /** The stream that sequence numbers and shards belong to. */
  readonly stream: string;
  /** Number of the last planned batch. */
  readonly batch: number;
  readonly shards: Readonly<Record<string, ShardProgress>>;
  /** What `batch` is made of, from when it is stored until all blocks are known to have it. */
  readonly plan: Readonly<Record<string, SequenceRange>> | null;
  readonly gap: StreamGap | null;
  /** Dead letters so far. */
  readonly setAside: number;
  /** Records folded so far. */
  readonly records: number;
  /** A time, in milliseconds since 1970, at which the stream had no shards but those in `shards`. */
  readonly listedAt: number;
  /** Whether everything in the stream was complete when this was written. */
  readonly atEnd: boolean;
  /** A time, in milliseconds since 1970, by which everything in the stream was complete; null if none is known. */
  readonly endAt: number | null;
  /** The pages of markers that are as complete and as exact as the cells; null if none are. */
  readonly pages: PageGeneration | null;
}

/** Names pages that belong together: a recount rewrites all of them as another generation. */
export interface PageGeneration {
  readonly generation: string;
}

/** A record that could not be understood, stored for a human to look at. */
export interface DeadLetter {
  readonly shard: string;
  readonly sequence: string;
  readonly reason: string;
  /** Key of the item as JSON, truncated if it is long. */
  readonly item: string;
  /** INSERT, MODIFY or REMOVE. */
  readonly event: string;
}

/** The state of a consumer, strongly consistent by default; undefined before its first start. */
export async function loadStreamState(
  database: Database,
  consumer: string,
  call: Call,
  { consistent = true }: { readonly consistent?: boolean } = {},
): Promise<StreamState | undefined> {
  const { keys, tables } = database;
  const { Item } = await send(
    database,
    'get',
    { TableName: tables.derived, Key: keys.streamState(consumer), ConsistentRead: consistent },
    call,
  );
  if (Item === undefined) return undefined;
  const { pk: _pk, sk: _sk, pages, ...state } = Item as unknown as Key & StoredState;
  const isCurrent = pages?.batch === state.batch && pages.planned === (state.plan !== null);
  const isKept = isCurrent && pages.format === PAGE_FORMAT;
  return { ...state, pages: isKept ? { generation: pages.generation } : null };
}

/**
 * The state as an item. Its pages name the last batch again, and whether it is still planned: a version of this program that
 * keeps no pages leaves them behind when it completes this batch or plans another one. One that writes another format cannot
 * continue with these pages, nor this one with those.
 */
type StoredState = Omit<StreamState, 'pages'> & {
  readonly pages?:
    (PageGeneration & { readonly format: number; readonly batch: number; readonly planned: boolean }) | null;
};

/** Replaces the state of version `next.version - 1`; false if another write came first, as in `putVersion`. */
export function putStreamState(database: Database, consumer: string, next: StreamState, call: Call): Promise<boolean> {
  const { keys, tables } = database;
  const pages = next.pages && { ...next.pages, format: PAGE_FORMAT, batch: next.batch, planned: next.plan !== null };
  const stored: StoredState = { ...next, pages };
  return putVersion(database, tables.derived, { ...keys.streamState(consumer), ...stored }, call);
}

/** Stores dead letters; storing them again changes nothing. */
export async function putDeadLetters(
  database: Database,
  consumer: string,
  records: readonly DeadLetter[],
  call: Call,
): Promise<void> {
  const items = records.map((record) => ({
    // Sequence numbers are documented to be unique only within their shard.
    ...database.keys.deadLetter(consumer, `${record.sequence}.${record.shard}`),
    ...record,
  }));
  await putInBulk(database, database.tables.derived, items, call);
}

/** All dead letters, in the order of their sequence numbers. */
export async function listDeadLetters(database: Database, consumer: string, call: Call): Promise<DeadLetter[]> {
  const range = { index: 'cells', ...database.keys.deadLetterPartition(consumer) } as const;
  const request = rangeRequest(database, range);
  const items = await queryAll(database, request, call);
  return items.map(({ pk: _pk, sk: _sk, ...record }) => record as unknown as DeadLetter);
}
