/**
 * Runs the stream's consumer in an AWS Lambda, whenever an event source mapping of the entities' stream calls `handler`.
 * docs/stream.md says how to set it up.
 */
import type { Clock } from '../clock.js';
import { readConfig, silenceSdkAdvice, type Config } from '../config.js';
import { createLog } from '../log-output.js';
import { inBackground } from '../server/background.js';
import { openPurging } from '../server/cdn.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { createDatabase } from '../store/create-database.js';
import type { Database } from '../store/database.js';
import { ownTables } from '../store/table/tables.js';
import { isAfter, type StreamRecord } from '../stream/change.js';
import { Consumer, type ConsumerOptions } from '../stream/consume/consumer.js';
import { consumerParts } from '../stream/consume/derived-ports.js';
import { BRIEF_LOAD_POLICY } from '../stream/consume/flood.js';
import { createStreamsClient, recordOf, type WireRecord } from '../stream/source/dynamodb.js';

/** The event that the mapping sends. That of a schedule has no records: everything in the stream is then awaited. */
export interface StreamEvent {
  readonly Records?: readonly WireRecord[];
}

/** Identifies the record from which records are to be delivered again; needs `ReportBatchItemFailures`. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** The part of AWS's context that is used. */
export interface LambdaContext {
  readonly getRemainingTimeInMillis: () => number;
}

export interface StreamBackend {
  readonly database: Database;
  readonly streams: ReturnType<typeof createStreamsClient>;
}

/** Time before AWS ends the call, after which no batch is begun, and after which the one that is being applied is left to the next call. */
const STOPS_BEFORE_END_MS = 5_000;
const LEAVES_BEFORE_END_MS = 2_000;
const LOOK_MS = 200;
/** A quarter of a server's, so that a call can apply a batch within its time and memory. */
const LIMITS = { records: 50_000, cells: 50_000 };

/**
 * Creates a handler for the tables of a configuration, or for the database that `open` returns. The event only tells that
 * there are records, which the consumer reads from the stream itself, from where its stored state is, like a server's. The
 * call ends once they are applied, by this process or by another one that holds the lease.
 */
export function createHandler(
  config: Config,
  open: () => StreamBackend = () => openBackend(config),
  tuning: Pick<ConsumerOptions, 'leaseMs'> = {},
) {
  const log = createLog(config.logLevel);
  let ready: ReturnType<typeof start> | undefined;
  /** That of the last call. */
  let consumer: Consumer | undefined;

  /** Opens the database, once it is known that its tables are Cellport's and that their stream can be read. */
  async function start() {
    const backend = open();
    await ownTables(backend.database);
    const parts = consumerParts(backend, log);
    // A consumer would try again and again.
    await parts.stream.listShards(await parts.stream.identify(), undefined);
    const completeAt = () => parts.clock.now() - (consumer?.status().behindMs ?? Infinity);
    const purging = config.cdn && openPurging(config.cdn, backend.database.keys, completeAt, log);
    // What former processes have read, they may not have purged.
    purging?.noteAll();
    return { parts, purging };
  }

  return async ({ Records = [] }: StreamEvent, context?: LambdaContext): Promise<StreamAnswer> => {
    ready ??= start();
    const { parts, purging } = await ready.catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    const { clock } = parts;
    const remainingMs = context?.getRemainingTimeInMillis() ?? Infinity;
    const records = Records.map(recordOf);
    const awaited = awaitRecord(records.at(-1), clock);
    const stopAt = clock.now() + remainingMs - Math.min(STOPS_BEFORE_END_MS, remainingMs / 2);
    let appliedAt: number | undefined;
    const isDone = () => appliedAt !== undefined && (purging?.unpurgedSince() ?? Infinity) > appliedAt;
    consumer = new Consumer({
      ...parts,
      ...tuning,
      // Calls for records end as soon as these are applied.
      days: { ...parts.days, closes: records.length === 0 },
      limits: LIMITS,
      load: BRIEF_LOAD_POLICY,
      lookMs: LOOK_MS,
      onRecord(record, shard) {
        awaited.onRecord(record, shard);
        purging?.onRecord(record);
      },
      onLoss: (reason) => purging?.onLoss(reason),
      enough(state, completeAt, closed) {
        if (closed && awaited.isApplied(state, completeAt)) appliedAt ??= clock.now();
        return isDone() || clock.now() >= stopAt;
      },
    });
    const purgingNow = purging && inBackground((signal) => purging.run(signal));
    await consumer.run(untilEnd(remainingMs));
    await purgingNow?.stop();
    const [first] = records;
    if (isDone()) return { batchItemFailures: [] };
    const message =
      'Not everything was applied, or purged from the CDN, in time: set a timeout of at least 60 s and, if this repeats, more memory';
    log.error({ from: first?.sequence, remainingMs }, message);
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first.sequence }] };
  };
}

function untilEnd(remainingMs: number): AbortSignal {
  if (remainingMs === Infinity) return new AbortController().signal;
  return AbortSignal.timeout(Math.max(0, Math.floor(remainingMs - Math.min(LEAVES_BEFORE_END_MS, remainingMs / 4))));
}

function openBackend({ database: wanted, tables, keyStyle }: Config): StreamBackend {
  const { endpoint, streamsEndpoint, region } = wanted.kind === 'configured' ? wanted : {};
  const database = createDatabase({ tables, keyStyle, endpoint, region });
  return { database, streams: createStreamsClient({ endpoint: streamsEndpoint, region }, database.clock) };
}

let handle: ReturnType<typeof createHandler> | undefined;

/** The function that the mapping calls. Settings are read on the first call. */
export function handler(event: StreamEvent, context?: LambdaContext): Promise<StreamAnswer> {
  if (handle === undefined) {
    silenceSdkAdvice();
    handle = createHandler(readConfig());
  }
  return handle(event, context);
}

/** Maximum time for a record that one reader of the stream has got to appear for others. */
const APPEARS_WITHIN_MS = 300;
/** Times of records are cut to seconds, by DynamoDB Local to minutes, and clocks that DynamoDB sets differ by two seconds. */
const TIMES_DIFFER_MS = 65_000;

/**
 * Waits for a record, delivered just now, to be applied; without one, for everything that was written before. AWS does not
 * tell which shard it is from, so this is learned when the record is read. If another process had read it before, the
 * stream has been read to its end since.
 */
export function awaitRecord(record: Pick<StreamRecord, 'sequence' | 'at'> | undefined, clock: Pick<Clock, 'now'>) {
  const readBy = clock.now() + APPEARS_WITHIN_MS;
  let shard: string | undefined;
  return {
    /** Call with each record that is read. */
    onRecord(this: void, read: StreamRecord, from?: string): void {
      if (read.sequence === record?.sequence) shard = from;
    },
    /** Whether a state includes it, given when the stream was last known to be read to its end, by the clock. */
    isApplied(this: void, { shards, endAt }: StreamState, completeAt = -Infinity): boolean {
      if (completeAt >= readBy) return true;
      if (record === undefined) return false;
      const after = shard === undefined ? undefined : shards[shard]?.after;
      if (after !== undefined) return !isAfter(record.sequence, after);
      return record.at > 0 && endAt !== null && endAt >= record.at + APPEARS_WITHIN_MS + TIMES_DIFFER_MS;
    },
  };
}
