import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';

import type { ServerClock } from '../../clock.js';
import { clientOptions, SETTING_CLOCK, settingClock, type Connection } from '../../connection.js';
import type { Database } from '../../store/database.js';
import { isFailure, mapFailure } from '../../store/request/failures.js';
import { JsonCommand } from '../../store/request/json-command.js';
import { wireOperation } from '../../store/request/json-values.js';
import { withinTime } from '../../store/request/within-time.js';
import { describeTable } from '../../store/table/tables.js';
import type { StreamRecord, WireImage } from '../change.js';
import { NoStream, StreamFailure, type StreamPort } from '../ports.js';
import { withMonths } from './month-streams.js';
import { sharedStream } from './shared-stream.js';

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

const RECORDS_AT_A_TIME = 1_000;

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

interface RecordsJson {
  readonly Records?: readonly WireRecord[];
  readonly NextShardIterator?: string;
}

/** Records as they come: the SDK would rebuild every attribute of both images. */
const GET_RECORDS = wireOperation<object, RecordsJson>('GetRecords', 'DynamoDBStreams_20120810');

const ANSWER_WITHIN_MS = 10_000;

/** Creates a client for DynamoDB Streams, whose answers set `clock`. Nothing is sent before the first command. */
export function createStreamsClient(connection: Connection, clock?: ServerClock): DynamoDBStreamsClient {
  const client = new DynamoDBStreamsClient(clientOptions(connection, { attemptMs: ANSWER_WITHIN_MS }));
  if (clock !== undefined) client.middlewareStack.add(settingClock(clock), SETTING_CLOCK);
  return client;
}

/** The stream of a database's entities table, with those of the tables of recent months. */
export function openStream(database: Database, client: DynamoDBStreamsClient): StreamPort {
  return withMonths(database, openTableStream(database, database.tables.entities, client));
}

const shared = new WeakMap<DynamoDBStreamsClient, Map<string, StreamPort>>();

/** The stream of a table for all of its readers in this process, which read it as one where they can. */
export function openSharedStream(database: Database, name: string, client: DynamoDBStreamsClient): StreamPort {
  const streams = shared.get(client) ?? new Map<string, StreamPort>();
  shared.set(client, streams);
  const stream = streams.get(name) ?? sharedStream(openTableStream(database, name, client), database.clock);
  streams.set(name, stream);
  return stream;
}

/** The stream of a table. */
export function openTableStream(database: Database, name: string, client: DynamoDBStreamsClient): StreamPort {
  const ask = <T>(command: (options: { readonly abortSignal: AbortSignal }) => Promise<T>): Promise<T> =>
    withinTime(database, command, { failure: failureOf });
  let known: string | undefined;

  /** Whether it is still the table's stream: a table has only one that is enabled. */
  async function isEnabled(stream: string): Promise<boolean> {
    const command = new DescribeStreamCommand({ StreamArn: stream, Limit: 1 });
    try {
      const { StreamDescription: found } = await ask((options) => client.send(command, options));
      return found?.StreamStatus === 'ENABLED';
    } catch (error) {
      if (error instanceof StreamFailure) return false;
      throw error;
    }
  }

  return {
    async identify() {
      // To describe a table, the embedded engine reads all of it.
      if (database.waitsForDisk && known !== undefined && (await isEnabled(known))) return known;
      const table = await describeTable(database, name);
      const view = table?.StreamSpecification?.StreamViewType;
      if (table?.LatestStreamArn === undefined || view !== 'NEW_AND_OLD_IMAGES') {
        if (table === undefined) throw new NoStream(`there is no table ${name}`);
        throw new NoStream(`table ${name} must have a stream with NEW_AND_OLD_IMAGES; found ${view ?? 'none'}`);
      }
      known = table.LatestStreamArn;
      return known;
    },
    async listShards(stream, after) {
      const command = new DescribeStreamCommand({
        StreamArn: stream,
        ...(after === undefined ? {} : { ExclusiveStartShardId: after }),
      });
      const { StreamDescription: found } = await ask((options) => client.send(command, options));
      const shards = (found?.Shards ?? []).flatMap(({ ShardId, ParentShardId }) =>
        ShardId === undefined ? [] : [{ id: ShardId, parent: ParentShardId }],
      );
      return { shards, more: found?.LastEvaluatedShardId !== undefined };
    },
    async openShard(stream, shard, start) {
      const command = new GetShardIteratorCommand({
        StreamArn: stream,
        ShardId: shard,
        ...(start.type === 'oldest' || start.type === 'newest'
          ? { ShardIteratorType: start.type === 'oldest' ? 'TRIM_HORIZON' : 'LATEST' }
          : {
              ShardIteratorType: start.type === 'at' ? 'AT_SEQUENCE_NUMBER' : 'AFTER_SEQUENCE_NUMBER',
              SequenceNumber: start.sequence,
            }),
      });
      const { ShardIterator } = await ask((options) => client.send(command, options));
      if (ShardIterator === undefined) throw new Error(`shard ${shard} returned no iterator`);
      return ShardIterator;
    },
    async readRecords(iterator) {
      const input = { ShardIterator: iterator, Limit: RECORDS_AT_A_TIME };
      const command = new JsonCommand(GET_RECORDS, input, database.scheduler.takeTurn) as never;
      const { Records = [], NextShardIterator: next } = await ask(
        (options) => client.send(command, options) as Promise<RecordsJson>,
      );
      return { records: Records.map(recordOf), next };
    },
  };
}
