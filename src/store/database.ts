import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { type KeyStyle, type Keyspace, createKeyspace } from '../keys/keyspace.js';

/** Names of the two tables. */
export interface Tables {
  /** What is true: collections and markers. It carries the stream. */
  readonly entities: string;
  /** What follows from it: cells and the state of the stream's consumer. */
  readonly derived: string;
}

/** An item as lib-dynamodb gives and takes it: plain JavaScript values. */
export type Item = Readonly<Record<string, unknown>>;

export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly tables: Tables;
  readonly keys: Keyspace;
  /** How long one command may take, its retries included, before it fails as UNAVAILABLE. */
  readonly giveUpAfterMs: number;
  /** See `DatabaseOptions`. */
  readonly waitsForDisk: boolean;
}

export interface DatabaseOptions {
  readonly tables: Tables;
  readonly keyStyle: KeyStyle;
  /** Endpoint, region and credentials come from the AWS SDK's own variables and chain where they are left out. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly maxSockets?: number | undefined;
  readonly giveUpAfterMs?: number | undefined;
  /**
   * Whether each write waits for a disk of its own, as the embedded engine's does: then many writes go into one
   * transaction, which waits once. On AWS that would cost twice the write units and gain nothing.
   */
  readonly waitsForDisk?: boolean | undefined;
}

const MAX_SOCKETS = 64;
/** The SDK's pauses before them are random, up to 1, 2 and 4 s when throttled: under the 10 s that a request may take. */
const MAX_ATTEMPTS = 4;
const GIVE_UP_AFTER_MS = 8_000;
const CONNECT_WITHIN_MS = 2_000;
const ATTEMPT_WITHIN_MS = 5_000;

/**
 * A client with keep-alive connections that retries throttling and broken connections with jitter, a bounded number of
 * times. Nothing is sent before the first command.
 */
export function createDatabase(options: DatabaseOptions): Database {
  const sockets = { keepAlive: true, maxSockets: options.maxSockets ?? MAX_SOCKETS };
  const client = new DynamoDBClient({
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    retryMode: 'standard',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      httpAgent: sockets,
      httpsAgent: sockets,
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: ATTEMPT_WITHIN_MS,
      throwOnRequestTimeout: true,
    },
  });
  // It walks through every value of every answer to make a line that nobody reads: there is no logger.
  client.middlewareStack.remove('loggerMiddleware');
  return {
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    tables: options.tables,
    keys: createKeyspace(options.keyStyle),
    giveUpAfterMs: options.giveUpAfterMs ?? GIVE_UP_AFTER_MS,
    waitsForDisk: options.waitsForDisk ?? false,
  };
}
