import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createServerClock, systemClock, type Clock } from '../clock.js';
import { clientOptions, GIVE_UP_AFTER_MS, SETTING_CLOCK, settingClock, type Connection } from '../connection.js';
import { createKeyspace, type KeyStyle } from '../keys/keyspace.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import { Scheduler } from '../scheduling/scheduler.js';
import type { Database, GeometryStore, Patiently, Tables } from './database.js';
import { createOnce } from './request/create-once.js';
import { isFailure, isTransient, mapFailure, mayHaveArrived, unavailable } from './request/failures.js';

export interface DatabaseOptions extends Connection {
  readonly tables: Tables;
  readonly keyStyle: KeyStyle;
  readonly maxSockets?: number | undefined;
  readonly giveUpAfterMs?: number | undefined;
  /** Milliseconds that one attempt of a command may take. */
  readonly attemptMs?: number | undefined;
  /**
   * Whether each write waits for a disk, as with the embedded engine: many writes then go into one transaction, which
   * waits once. On AWS that would cost twice the write units for no benefit.
   */
  readonly waitsForDisk?: boolean | undefined;
  /** How commands wait for a database that restarts; by default they fail. */
  readonly patiently?: Patiently | undefined;
  /** The machine's clock; the system's by default. */
  readonly clock?: Clock | undefined;
  /** Why nothing can be written, as far as this machine knows. Asked before each write, which is refused then. */
  readonly storageFault?: (() => Promise<string | undefined>) | undefined;
  /** Default: no object store, and the default limit. */
  readonly geometry?: GeometryStore | undefined;
}

/** With the pauses before them, they take less than `GIVE_UP_AFTER_MS`. */
const ATTEMPTS = 4;

/**
 * Lets the SDK retry a write that meets a transaction on its item, which takes milliseconds, and notes in a failure whether
 * an earlier attempt may have been applied: `mayHaveBeenApplied`.
 */
function watchAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => {
      // Of one command, as the SDK makes this chain for each.
      let applied = false;
      return async (request) => {
        try {
          return await next(request);
        } catch (error) {
          const retries = isFailure(error, 'TransactionConflictException') ? { $retryable: {} } : {};
          Object.assign(error as Error, retries, { applied });
          applied ||= mayHaveArrived(error);
          throw error;
        }
      };
    },
    { step: 'deserialize', priority: 'high', name: 'watchAttempts' },
  );
}

const READS = /^(Get|BatchGet|TransactGet|Query|Scan|Describe|List)/;

/** Refuses all writes with UNAVAILABLE while there is a fault, and names the fault of a write that failed meanwhile. */
function refuseWrites({ middlewareStack }: DynamoDBClient, storageFault: () => Promise<string | undefined>): void {
  async function check(cause?: unknown): Promise<void> {
    const fault = await storageFault();
    if (fault !== undefined) throw unavailable(fault, cause);
  }
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (request) => {
        if (READS.test(commandName)) return next(request);
        await check();
        try {
          return await next(request);
        } catch (error) {
          if (isTransient(mapFailure(error))) await check(error);
          throw error;
        }
      },
    { step: 'initialize', name: 'refuseWrites' },
  );
}

/** Creates a database to send commands to. Nothing is sent before the first command. */
export function createDatabase(options: DatabaseOptions): Database {
  const { tables, keyStyle, maxSockets, giveUpAfterMs = GIVE_UP_AFTER_MS, waitsForDisk = false } = options;
  const client = new DynamoDBClient(
    clientOptions(options, { attempts: ATTEMPTS, attemptMs: options.attemptMs, maxSockets }),
  );
  // The logger middleware would walk every value of every response for a log line that is never written.
  client.middlewareStack.remove('loggerMiddleware');
  watchAttempts(client);
  createOnce(client);
  const clock = createServerClock(options.clock ?? systemClock);
  client.middlewareStack.add(settingClock(clock), SETTING_CLOCK);
  if (options.storageFault !== undefined) refuseWrites(client, options.storageFault);
  return {
    client: DynamoDBDocumentClient.from(client),
    tables,
    keys: createKeyspace(keyStyle),
    clock,
    scheduler: new Scheduler(clock),
    giveUpAfterMs,
    waitsForDisk,
    patiently: options.patiently ?? ((command) => command()),
    geometry: options.geometry ?? { objects: undefined, inlineBytes: DEFAULT_LIMITS.inlineGeometryBytes },
  };
}
