import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { Readable } from 'node:stream';

import { systemClock } from '../clock.js';
import { type Connection, clientOptions } from '../connection.js';
import { readBlocks, replaceBlocks } from '../store/cell/blocks.js';
import type { Database } from '../store/database.js';
import { isFailure, mapFailure } from '../store/request/failures.js';
import { type Call, newCall } from '../store/request/meter.js';
import { rangeRequest } from '../store/request/ranges.js';
import { send } from '../store/request/send.js';
import { describeTable } from '../store/table/tables.js';
import { PACKING, decodePage } from '../store/page/page-data.js';
import { findDirectoryPart, putDirectoryPart } from '../store/page/page-directory.js';
import { findPage, pagesFrom } from '../store/page/pages.js';
import { replacePages } from '../store/page/replace-pages.js';
import { putDeadLetters } from '../store/cell/dead-letters.js';
import { loadStreamState, putStreamState } from '../store/cell/stream-state.js';
import type { PagesOptions } from './kept-pages.js';
import type { StreamRecord, WireImage } from './change.js';
import { withMonths } from './month-streams.js';
import { PageMemory } from './page-memory.js';
import { type CellsPort, NoStream, type StatePort, StreamFailure, type StreamPort } from './ports.js';

/** A record as returned by GetRecords and received by an AWS Lambda function. */
export interface WireRecord {
  readonly eventName?: string;
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    /** Seconds since 1970. */
    readonly ApproximateCreationDateTime?: number;
    readonly Keys?: WireImage;
    readonly OldImage?: WireImage;
    readonly NewImage?: WireImage;
  };
}

const RECORDS_IN_A_PAGE = 1_000;
/** A stream this much younger than its table was enabled later. */
const STREAM_WITHIN_MS = 60_000;

const failureOf = (error: unknown): unknown => {
  if (isFailure(error, 'TrimmedDataAccessException')) return new StreamFailure('trimmed', { cause: error });
  if (isFailure(error, 'ExpiredIteratorException')) return new StreamFailure('expired', { cause: error });
  if (isFailure(error, 'ResourceNotFoundException')) return new StreamFailure('gone', { cause: error });
  return mapFailure(error);
};

/** The relevant parts of a record. Throws if it has no sequence number. */
export function recordOf({ eventName = '', dynamodb = {} }: WireRecord): StreamRecord {
  const { SequenceNumber, ApproximateCreationDateTime = 0, Keys = {}, OldImage, NewImage } = dynamodb;
  if (SequenceNumber === undefined) throw new Error('a record of the stream has no sequence number');
  const at = ApproximateCreationDateTime * 1_000;
  return { sequence: SequenceNumber, event: eventName, at, keys: Keys, before: OldImage, after: NewImage };
}

/** A page of records as received: the SDK would rebuild every attribute of both images. */
async function getRecords(client: DynamoDBStreamsClient, iterator: string) {
  const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: RECORDS_IN_A_PAGE });
  let records: readonly WireRecord[] = [];
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { response } = result as { response: { statusCode: number; body: unknown } };
      if (response.statusCode !== 200) return result;
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
      const { Records, ...rest } = JSON.parse(Buffer.concat(chunks).toString()) as { Records?: readonly WireRecord[] };
      records = Records ?? [];
      response.body = Readable.from([Buffer.from(JSON.stringify(rest))]);
      return result;
    },
    // Closest to the wire, so that the SDK parses the response afterwards.
    { step: 'deserialize', priority: 'low', name: 'keepRecordsAsTheyCame' },
  );
  const { NextShardIterator } = await client.send(command);
  return { records, next: NextShardIterator };
}

const ANSWER_WITHIN_MS = 10_000;

/** Creates a client for DynamoDB Streams. Nothing is sent before the first command. */
export function createStreamsClient(connection: Connection): DynamoDBStreamsClient {
  return new DynamoDBStreamsClient(clientOptions(connection, { attemptMs: ANSWER_WITHIN_MS }));
}

/** The stream of a database's entities table, with those of the tables of recent months. */
export function openStream(database: Database, client: DynamoDBStreamsClient): StreamPort {
  const asking = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw failureOf(error);
    });
  return withMonths(database, {
    async identify() {
      const table = await describeTable(database, database.tables.entities);
      const view = table?.StreamSpecification?.StreamViewType;
      if (table?.LatestStreamArn === undefined || view !== 'NEW_AND_OLD_IMAGES') {
        throw new NoStream(
          `table ${database.tables.entities} must have a stream with NEW_AND_OLD_IMAGES; found ${view ?? 'none'}`,
        );
      }
      return table.LatestStreamArn;
    },
    async listShards(stream, after) {
      const { StreamDescription: found } = await asking(
        client.send(
          new DescribeStreamCommand({
            StreamArn: stream,
            ...(after === undefined ? {} : { ExclusiveStartShardId: after }),
          }),
        ),
      );
      const shards = (found?.Shards ?? []).flatMap(({ ShardId, ParentShardId }) =>
        ShardId === undefined ? [] : [{ id: ShardId, parent: ParentShardId }],
      );
      return { shards, more: found?.LastEvaluatedShardId !== undefined };
    },
    async openShard(stream, shard, start) {
      const { ShardIterator } = await asking(
        client.send(
          new GetShardIteratorCommand({
            StreamArn: stream,
            ShardId: shard,
            ...(start.type === 'oldest' || start.type === 'newest'
              ? { ShardIteratorType: start.type === 'oldest' ? 'TRIM_HORIZON' : 'LATEST' }
              : {
                  ShardIteratorType: start.type === 'at' ? 'AT_SEQUENCE_NUMBER' : 'AFTER_SEQUENCE_NUMBER',
                  SequenceNumber: start.sequence,
                }),
          }),
        ),
      );
      if (ShardIterator === undefined) throw new Error(`shard ${shard} returned no iterator`);
      return ShardIterator;
    },
    async readRecords(iterator) {
      const { records, next } = await asking(getRecords(client, iterator));
      return { records: records.map(recordOf), next };
    },
  });
}

/** The state of one consumer in the derived table. */
export function openState(database: Database, consumer: string, call: Call = newCall()): StatePort {
  return {
    load: () => loadStreamState(database, consumer, call),
    put: (next) => putStreamState(database, consumer, next, call),
    putDeadLetters: (records) => putDeadLetters(database, consumer, records, call),
  };
}

/** The blocks of the derived table. */
export function openCells(database: Database, call: Call = newCall()): CellsPort {
  return {
    read: (blocks, consistent) => readBlocks(database, blocks, consistent, call),
    write: (writes) => replaceBlocks(database, writes, call),
  };
}

/** The pages of the derived table. Their markers do not name their collection. */
export function openPages(database: Database, call: Call = newCall()): PagesOptions {
  return {
    open: (generation) => ({
      find: (scope, position) => findPage(database, { scope, generation }, position, call),
      from: (scope, begin, limit) => pagesFrom(database, { scope, generation }, begin, limit, call),
      write: (replacements) => replacePages(database, generation, replacements, call),
      findDirectoryPart: (scope, position) => findDirectoryPart(database, { scope, generation }, position, true, call),
      putDirectoryPart: (scope, part) => putDirectoryPart(database, { scope, generation }, part, call),
    }),
    memory: new PageMemory(),
    pack: PACKING,
    decode: (data) => decodePage(data, ''),
  };
}

/** Whether any collection exists, strongly consistent. An invalid item among the collections counts as one. */
async function hasCollections(database: Database): Promise<boolean> {
  const range = { index: 'entities', pk: database.keys.collectionsPartition, limit: 1, consistent: true } as const;
  const { Count = 0 } = await send(database, 'query', rangeRequest(database, range), newCall());
  return Count > 0;
}

/**
 * The time, in milliseconds since 1970, from which a first start has to count writes: now if there is no collection
 * yet, because markers are created after their collection; otherwise the table's creation; 0 if its stream was enabled
 * later, so that its first writes are not in the stream.
 */
export async function firstSince(database: Database): Promise<number> {
  const now = systemClock.wall();
  if (!(await hasCollections(database))) return now;
  const table = await describeTable(database, database.tables.entities);
  const created = table?.CreationDateTime?.getTime();
  const enabled = Date.parse(`${table?.LatestStreamLabel ?? ''}Z`);
  return created === undefined || Number.isNaN(enabled) || enabled - created > STREAM_WITHIN_MS ? 0 : created;
}
