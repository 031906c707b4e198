import type { Key } from '../../keys/document-id.js';
import type { Call } from '../database.js';
import type { Leased } from '../lease.js';
import { PAGE_FORMAT } from '../page/page-data.js';
import type { WrittenPages } from '../page/written-pages.js';
import { putVersion } from '../request/conditional-write.js';
import { send } from '../request/send.js';

/** The name under which the state of the consumer of Cellport's own table is stored. */
export const CONSUMER = 'cells';

/** How far one shard of the stream has been processed. */
export interface ShardProgress {
  /** Sequence number of the last completed record; absent if there is none yet. */
  readonly after?: string | undefined;
  /** When its end was read, in milliseconds since 1970: it has no more records. */
  readonly endedAt?: number | undefined;
  /** A time, in milliseconds since 1970: everything written before it has been read. */
  readonly since: number;
}

/** The records of one shard in a batch, by the sequence numbers of the first and last. */
export interface SequenceRange {
  /** Stored although it follows from the progress, to detect that the stream has trimmed it. */
  readonly first: string;
  readonly to: string;
}

/** Records that the cells have missed; counts are inexact until a recount. */
export interface StreamGap {
  /** RFC 3339, UTC, milliseconds. */
  readonly since: string;
  readonly reason: string;
}

/** The state shared by the consumers of a stream: the owner, the progress, and the batch in progress. */
export interface StreamState extends Leased {
  readonly token: string;
  /** Identifies how records are folded into blocks. */
  readonly layout: string;
  /** The stream that sequence numbers and shards belong to. */
  readonly stream: string;
  /** Number of the last planned batch. */
  readonly batch: number;
  readonly shards: Readonly<Record<string, ShardProgress>>;
  /** The records of `batch`, from when it is stored until all blocks are known to include it. */
  readonly plan: Readonly<Record<string, SequenceRange>> | null;
  readonly gap: StreamGap | null;
  /** Number of dead letters so far; of a source, of items that are rejected now. */
  readonly deadLetters: number;
  /** Number of records folded so far. */
  readonly records: number;
  /** A time, in milliseconds since 1970, at which the stream had no shards other than `shards`. */
  readonly listedAt: number;
  /** Whether everything in the stream had been processed when this was written. */
  readonly atEnd: boolean;
  /** A time, in milliseconds since 1970, by which everything in the stream had been processed; null if unknown. */
  readonly endAt: number | null;
  /** The pages of markers that are as complete and exact as the cells; null if there are none. */
  readonly pages: PageGeneration | null;
  /** While there are none, those that were maintained last, and until when; null or omitted if there are none. */
  readonly formerPages?: (PageGeneration & Pick<StreamState, 'endAt'>) | null;
  /** Published writes that pages may lack; null or omitted if there are none. */
  readonly published?: PublishedWrites | null;
  /** The pages that were written lately; null or omitted if that is unknown. */
  readonly written?: WrittenPages | null;
  /**
   * A time, in milliseconds since 1970, since which no record of a reading has been missed by those who keep summaries; 0
   * if none ever was, null if it is unknown.
   */
  readonly summariesSince: number | null;
}

/** The last batch known to be complete. */
export const completeBatch = ({ batch, plan }: Pick<StreamState, 'batch' | 'plan'>): number =>
  plan === null ? batch : batch - 1;

/** Where an owner began: others may have counted the records of these batches, as they published them, with other ones. */
export interface Began {
  /** It publishes from this version of the state on. */
  readonly version: number;
  /** The first batch that it applies. */
  readonly batch: number;
}

/** Where the writes are that pages may lack: what was published from one version of the state to another. */
export interface PublishedWrites {
  readonly from: number;
  readonly to: number;
  /** Where its owner began. */
  readonly began: Began;
  /** With them, pages include everything written by this time, in milliseconds since 1970. */
  readonly endAt: number;
  /** JSON of `PublishedItems`; omitted if they are too many to name, or an earlier release has published. */
  readonly items?: string | undefined;
}

/** Identifies pages that belong together: a recount rewrites all of them as another generation. */
export interface PageGeneration {
  readonly generation: string;
}

/** Loads the state of a consumer, strongly consistent by default; undefined before its first start. */
export async function loadStreamState(
  call: Call,
  consumer: string,
  { consistent = true }: { readonly consistent?: boolean } = {},
): Promise<StreamState | undefined> {
  const { keys, tables } = call.db;
  const { Item } = await send(call, 'get', {
    TableName: tables.derived,
    Key: keys.streamState(consumer),
    ConsistentRead: consistent,
  });
  if (Item === undefined) return undefined;
  const { pk: _pk, sk: _sk, pages, setAside, summariesSince = null, ...state } = Item as unknown as Key & StoredState;
  const kept = pages?.format === PAGE_FORMAT ? { generation: pages.generation } : null;
  return { ...state, deadLetters: setAside, pages: kept, summariesSince };
}

/** The state as an item. A version with another page format cannot continue with these pages, nor this one with those. */
type StoredState = Omit<StreamState, 'pages' | 'summariesSince' | 'deadLetters'> & {
  /** The number of dead letters. */
  readonly setAside: number;
  readonly pages: (PageGeneration & { readonly format: number }) | null;
  /** Null or omitted if it is unknown. */
  readonly summariesSince?: number | null;
};

/** Replaces the state of version `next.version - 1`; returns false if another write came first, like `putVersion`. */
export function putStreamState(call: Call, consumer: string, next: StreamState): Promise<boolean> {
  const { keys, tables } = call.db;
  const { deadLetters: setAside, ...state } = next;
  const pages = next.pages && { ...next.pages, format: PAGE_FORMAT };
  const stored: StoredState = { ...state, setAside, pages };
  return putVersion(call, tables.derived, { ...keys.streamState(consumer), ...stored });
}
