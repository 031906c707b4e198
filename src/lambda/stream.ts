/**
 * Maintains the cells in an AWS Lambda: an event-source mapping of the entities' stream calls `handler`. docs/stream.md
 * says how to set it up, and why each record counts once.
 */
import { readConfig, silenceSdkAdvice, type Config } from '../config.js';
import { createLog } from '../log-output.js';
import { applyRecords } from '../store/cell/apply-records.js';
import { CONSUMER } from '../store/cell/stream-state.js';
import { createDatabase, type Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { ownTables } from '../store/table/tables.js';
import { applyStreamRecords } from '../stream/consume/apply-records.js';
import { openState } from '../stream/consume/derived-ports.js';
import { claimForRecords, noteStream } from '../stream/consume/ownership.js';
import type { StatePort } from '../stream/ports.js';
import { recordOf, type WireRecord } from '../stream/source/dynamodb.js';

/** The event that the mapping sends. */
export interface StreamEvent {
  readonly Records: readonly (WireRecord & { readonly eventSourceARN?: string })[];
}

/** Identifies the record from which records are to be delivered again; needs `ReportBatchItemFailures`. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** The part of AWS's context that is used. */
export interface LambdaContext {
  readonly getRemainingTimeInMillis: () => number;
}

/** Time reserved for the answer before AWS ends the call: without an answer the whole batch is delivered again. */
const ANSWERS_BEFORE_END_MS = 2_000;

/** Creates a handler for the tables of a configuration, or for the database that `open` returns. */
export function createHandler(config: Config, open: () => Database = () => openDatabase(config)) {
  const log = createLog(config.logLevel);
  let ready: Promise<Database> | undefined;
  /** The stream that the last records came from. */
  let stream: string | undefined;

  /** Opens the database, once it is known that its tables are Cellport's and no server maintains the same cells. */
  async function start(): Promise<Database> {
    const database = open();
    await ownTables(database);
    await claimForRecords(openState(database, CONSUMER), database.clock.wall());
    return database;
  }

  /** Checks for a gap when records come from a new stream. */
  async function note(state: StatePort, wall: number, source: string | undefined): Promise<void> {
    if (source === undefined || source === stream) return;
    const gap = await noteStream(state, source, wall);
    if (gap !== null) log.error({ gap, stream: source }, 'The cells have a gap; run `cellport recount`');
    stream = source;
  }

  return async ({ Records }: StreamEvent, context?: LambdaContext): Promise<StreamAnswer> => {
    ready ??= start();
    const database = await ready.catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    const state = openState(database, CONSUMER);
    await note(state, database.clock.wall(), Records[0]?.eventSourceARN);
    const again = await applyStreamRecords(
      {
        keys: database.keys,
        clock: database.clock,
        log,
        signal: untilEnd(context),
        putDeadLetters: (records) => state.putDeadLetters(records),
        apply: (markers, blocks) => applyRecords(database, markers, blocks, database.clock.wall(), newCall()),
      },
      Records.map(recordOf),
    );
    return { batchItemFailures: again === undefined ? [] : [{ itemIdentifier: again }] };
  };
}

function untilEnd(context: LambdaContext | undefined): AbortSignal {
  if (context === undefined) return new AbortController().signal;
  return AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - ANSWERS_BEFORE_END_MS));
}

function openDatabase({ database, tables, keyStyle }: Config): Database {
  const where = database.kind === 'configured' ? { endpoint: database.endpoint, region: database.region } : {};
  return createDatabase({ tables, keyStyle, ...where });
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
