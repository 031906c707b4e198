import { stat } from 'node:fs/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';

import { systemClock } from '../clock.js';
import type { Config, ObjectsConfig } from '../config.js';
import type { Connection } from '../connection.js';
import { fullDisk } from '../disk.js';
import { isCopyInUse } from '../engine/keeper-file.js';
import { startEngine, type Engine } from '../engine/start.js';
import { badInput } from '../errors.js';
import { silentLog, type Log } from '../log.js';
import { createFolderStore } from '../objects/folder-store.js';
import type { ObjectStore } from '../objects/object-store.js';
import { orAskFor } from '../optional-package.js';
import { openToOthers } from '../private-files.js';
import { retry } from '../retry.js';
import { createDatabase } from '../store/create-database.js';
import type { Database, Patiently } from '../store/database.js';
import { isDisconnected } from '../store/request/failures.js';
import { createStreamsClient } from '../stream/source/dynamodb.js';
import { keepLogShort } from './short-log.js';

/** As long as an engine may take to start. */
const RESTARTS_WITHIN_MS = 60_000;
const SLOW_MS = 20_000;

interface Waiting {
  readonly log?: Log;
  /** Ends the waiting, with its reason. */
  readonly signal?: AbortSignal;
  /** Whether commands wait while the engine restarts. Always by default; those of clients should fail instead. */
  readonly waits?: () => boolean;
}

interface Opening extends Waiting {
  /** A client that tells how to connect, in place of the configuration. */
  readonly client?: DynamoDBClient;
}

/** How a client connects. The stream has its own endpoint, except on what is not AWS. */
async function connectionOf({ config }: DynamoDBClient): Promise<Connection> {
  const { region, credentials, endpoint } = config;
  if (!config.isCustomEndpoint || endpoint === undefined) return { region, credentials };
  const { protocol, hostname, port, path } = await endpoint();
  const at = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
  return { region, credentials, endpoint: at };
}

/**
 * Waits while the embedded engine starts, or restarts for the servers that share it: a running server recovers, so one
 * that starts must not fail. Says once that it waits.
 */
function createPatience({ log = silentLog, signal, waits = () => true }: Waiting) {
  let said = false;
  const onRetry = () => {
    if (!said) log.warn({}, 'Waiting for the embedded DynamoDB, which is starting or restarting');
    said = true;
  };
  const patiently: Patiently = (command) => {
    const until = systemClock.now() + RESTARTS_WITHIN_MS;
    const retryable = (error: unknown) => {
      if (!isDisconnected(error) || !waits() || systemClock.now() > until) return false;
      signal?.throwIfAborted();
      return true;
    };
    return retry(command, { attempts: Infinity, retryable, onRetry, firstMs: 200, longestMs: 1_000 });
  };
  return {
    patiently,
    async opening<T>(open: () => Promise<T>): Promise<T> {
      const slow = setTimeout(onRetry, SLOW_MS);
      return open().finally(() => clearTimeout(slow));
    },
  };
}

/** What readers of the stream need. */
export interface StreamBackend {
  readonly database: Database;
  readonly streams: DynamoDBStreamsClient;
}

/** An open database. */
export interface Backend extends StreamBackend {
  /** Describes the database, for display. */
  readonly where: string;
  /** Why data cannot be written, as far as this machine knows; undefined if nothing prevents it. */
  storageFault(this: void): Promise<string | undefined>;
  /** Closes all connections, and the embedded engine unless another process uses it. */
  close(): Promise<void>;
}

/** Long enough for an import on a busy machine. */
const ENGINE_ANSWERS_WITHIN_MS = 30_000;

/** Opens the object store without connecting to it. Throws BAD_USER_INPUT if its path is not a folder. */
async function openObjects(wanted: ObjectsConfig | undefined): Promise<(ObjectStore & { close?(): void }) | undefined> {
  // Loaded only if used: the SDK's client is large.
  if (wanted?.kind === 's3') {
    const opening = import('../objects/s3-store.js').catch(orAskFor('a bucket for geometry', '@aws-sdk/client-s3'));
    return (await opening).createS3Store(wanted);
  }
  if (wanted === undefined) return undefined;
  const found = await stat(wanted.folder).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) throw badInput('CELLPORT_OBJECTS', wanted.folder, 'a folder');
  return createFolderStore(wanted.folder);
}

/** Describes the database, for display. */
function describe({ database, dataDir }: Config): string {
  if (database.kind === 'embedded') return `embedded DynamoDB Local, data in ${dataDir}`;
  return database.endpoint ?? `AWS${database.region === undefined ? '' : `, ${database.region}`}`;
}

/** Opens the configured database; starts the embedded engine if none is configured. Throws UNAVAILABLE if that fails. */
export async function openBackend(config: Config, { client, ...waiting }: Opening = {}): Promise<Backend> {
  const { tables, keyStyle, dataDir } = config;
  const given = client && (await connectionOf(client));
  const wanted = given ? ({ ...given, kind: 'configured', streamsEndpoint: given.endpoint } as const) : config.database;
  const objects = await openObjects(config.objects);
  const patience = createPatience(waiting);
  const engine: Engine | undefined =
    wanted.kind === 'embedded' ? await patience.opening(() => startEngine({ dataDir })) : undefined;
  const endpoint = wanted.kind === 'embedded' ? engine?.currentEndpoint : wanted.endpoint;
  const region = wanted.kind === 'embedded' ? engine?.region : wanted.region;
  const credentials = engine === undefined ? { credentials: given?.credentials } : { credentials: engine.credentials };
  const storageFault = () => (engine === undefined ? Promise.resolve(undefined) : fullDisk(dataDir));
  const database = createDatabase({
    tables,
    keyStyle,
    endpoint,
    region,
    ...credentials,
    waitsForDisk: engine !== undefined,
    // The engine executes commands one by one, so a command that waits for others must not be abandoned and sent again.
    ...(engine === undefined
      ? {}
      : {
          attemptMs: ENGINE_ANSWERS_WITHIN_MS,
          giveUpAfterMs: ENGINE_ANSWERS_WITHIN_MS,
          patiently: patience.patiently,
          storageFault,
        }),
    geometry: { objects, inlineBytes: config.limits.inlineGeometryBytes },
  });
  const shortLog = engine === undefined || engine.log === null ? undefined : keepLogShort(database, engine.log);
  const streamsEndpoint = wanted.kind === 'embedded' ? endpoint : wanted.streamsEndpoint;
  const streams = createStreamsClient({ endpoint: streamsEndpoint, region, ...credentials }, database.clock);
  return {
    database,
    streams,
    where: describe(config),
    storageFault,
    close: async () => {
      await shortLog?.stop();
      streams.destroy();
      objects?.close?.();
      database.client.destroy();
      await engine?.close();
    },
  };
}

/** Logs what the owner of the folders should know: who else can reach their data, and that it may be damaged. */
function inspectFolders({ database, dataDir, objects }: Config, log: Log): void {
  const apart = objects?.kind === 'folder' && !objects.folder.startsWith(dataDir) ? [objects.folder] : [];
  const warnings = [dataDir, ...apart].map(openToOthers);
  if (database.kind === 'embedded' && isCopyInUse(dataDir)) {
    warnings.push(
      `${dataDir} was copied while an engine ran there, so it may be damaged or lack what was last written; ` +
        'stop every process that uses a data folder before you copy it',
    );
  }
  for (const warning of warnings) if (warning !== undefined) log.warn({}, warning);
}

/** Opens the database, runs the work and closes the database, even if the work fails. */
export async function withBackend<T>(
  { config, ...waiting }: Waiting & { readonly config: Config; readonly log: Log },
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  inspectFolders(config, waiting.log);
  const backend = await openBackend(config, waiting);
  try {
    return await work(backend);
  } finally {
    await backend.close();
  }
}
