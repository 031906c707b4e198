import { randomUUID } from 'node:crypto';
import type * as aws from '@aws-sdk/client-dynamodb';
import * as lib from '@aws-sdk/lib-dynamodb';

import { READS_OF_A_WRITE, unitsOf as readUnitsOf } from '../../model/read-cost.js';
import { inSpan, type Attributes } from '../../tracing.js';
import type { Call, Database } from '../database.js';
import { mapFailure } from './failures.js';
import { itemBytes } from './item-size.js';
import { JsonCommand, type JsonOperation } from './json-command.js';
import { plainOperation, wireOperation } from './json-values.js';
import type { Meter, RangeRead } from './meter.js';
import { rangeReadOf } from './read-log.js';
import type { WireMap } from './wire.js';
import { withinTime } from './within-time.js';

type WireItems<Output> = Omit<Output, 'Items'> & { Items?: readonly WireMap[] };

/** The operations on items with their inputs and outputs. A request is such an input: a plain value. */
export interface Operations {
  get: { input: lib.GetCommandInput; output: lib.GetCommandOutput };
  batchGet: { input: lib.BatchGetCommandInput; output: lib.BatchGetCommandOutput };
  /** In wire format, for tables of others. */
  wireBatchGet: { input: aws.BatchGetItemCommandInput; output: aws.BatchGetItemCommandOutput };
  query: { input: lib.QueryCommandInput; output: lib.QueryCommandOutput };
  /** In wire format, for tables of others. */
  wireQuery: { input: aws.QueryCommandInput; output: WireItems<aws.QueryCommandOutput> };
  scan: { input: lib.ScanCommandInput; output: lib.ScanCommandOutput };
  /** With items and keys in wire format: a single value that JavaScript cannot represent must not cost a whole response. */
  wireScan: { input: aws.ScanCommandInput; output: WireItems<aws.ScanCommandOutput> };
  put: { input: lib.PutCommandInput; output: lib.PutCommandOutput };
  update: { input: lib.UpdateCommandInput; output: lib.UpdateCommandOutput };
  delete: { input: lib.DeleteCommandInput; output: lib.DeleteCommandOutput };
  batchWrite: { input: lib.BatchWriteCommandInput; output: lib.BatchWriteCommandOutput };
  transactWrite: { input: lib.TransactWriteCommandInput; output: lib.TransactWriteCommandOutput };
  /** Independent PartiQL statements. */
  batchExecute: { input: lib.BatchExecuteStatementCommandInput; output: lib.BatchExecuteStatementCommandOutput };
}

export type Operation = keyof Operations;

/** An operation, and what the meter counts for it. An operation without `writes` is a read. */
interface Dispatch<K extends Operation> {
  readonly json: JsonOperation<Operations[K]['input'], Operations[K]['output']>;
  readonly keysRead?: (input: Operations[K]['input']) => number;
  readonly writes?: (input: Operations[K]['input']) => number;
  readonly itemsRead?: (output: Operations[K]['output']) => number;
  /** The read units that AWS charges at least, where DynamoDB Local may report less. */
  readonly leastUnits?: (input: Operations[K]['input'], output: Operations[K]['output']) => number;
  /** Whether each call reads a part of a range. */
  readonly isRange?: boolean;
  /** The range that a call read, for explanations. */
  readonly range?: (
    database: Database,
    input: Operations[K]['input'],
    output: Operations[K]['output'],
    readUnits: number,
  ) => RangeRead;
}

const total = (lists: Readonly<Record<string, readonly unknown[]>> | undefined) =>
  Object.values(lists ?? {}).reduce((sum, list) => sum + list.length, 0);
const countOf = ({ Count = 0 }: { readonly Count?: number | undefined }) => Count;

/** A Query that finds nothing costs as much as one that finds a little. */
const leastOfRange = ({ ConsistentRead }: Pick<lib.QueryCommandInput, 'ConsistentRead'>) =>
  ConsistentRead === true ? 1 : 0.5;

/** Each item of a batch is rounded up on its own, and a key that is absent costs as much as a small item. */
function leastOfBatch(
  { RequestItems: tables = {} }: lib.BatchGetCommandInput,
  { Responses: found = {}, UnprocessedKeys: left = {} }: lib.BatchGetCommandOutput,
): number {
  return Object.entries(tables).reduce((sum, [table, { Keys: keys = [], ConsistentRead }]) => {
    const items = found[table] ?? [];
    const absent = keys.length - items.length - (left[table]?.Keys?.length ?? 0);
    // The sizes are as reported.
    if (absent === 0) return sum;
    const units = items.reduce((units, item) => units + readUnitsOf(itemBytes(item)), readUnitsOf(0) * absent);
    return sum + (ConsistentRead === true ? 2 : 1) * units;
  }, 0);
}

const keysIn = ({ RequestItems: tables = {} }: Pick<lib.BatchGetCommandInput, 'RequestItems'>) =>
  Object.values(tables).reduce((sum, { Keys: keys = [] }) => sum + keys.length, 0);
const one = () => 1;

const TRANSACT_WRITE = plainOperation<lib.TransactWriteCommandInput, lib.TransactWriteCommandOutput>(
  'TransactWriteItems',
  lib.TransactWriteCommand,
);

const DISPATCH: { readonly [K in Operation]: Dispatch<K> } = {
  get: {
    json: plainOperation('GetItem', lib.GetCommand),
    keysRead: one,
    itemsRead: ({ Item: item }) => (item === undefined ? 0 : 1),
  },
  batchGet: {
    json: plainOperation('BatchGetItem', lib.BatchGetCommand),
    keysRead: keysIn,
    itemsRead: (output) => total(output.Responses),
    leastUnits: leastOfBatch,
  },
  wireBatchGet: {
    json: wireOperation('BatchGetItem'),
    keysRead: keysIn,
    itemsRead: (output) => total(output.Responses),
  },
  query: {
    json: plainOperation('Query', lib.QueryCommand),
    itemsRead: countOf,
    leastUnits: leastOfRange,
    isRange: true,
    range: rangeReadOf,
  },
  wireQuery: { json: wireOperation('Query'), itemsRead: countOf, leastUnits: leastOfRange, isRange: true },
  scan: { json: plainOperation('Scan', lib.ScanCommand), itemsRead: countOf, isRange: true },
  wireScan: { json: wireOperation('Scan'), itemsRead: countOf, isRange: true },
  put: { json: plainOperation('PutItem', lib.PutCommand), writes: one },
  update: { json: plainOperation('UpdateItem', lib.UpdateCommand), writes: one },
  delete: { json: plainOperation('DeleteItem', lib.DeleteCommand), writes: one },
  batchWrite: {
    json: plainOperation('BatchWriteItem', lib.BatchWriteCommand),
    writes: (input) => total(input.RequestItems),
  },
  transactWrite: {
    json: {
      ...TRANSACT_WRITE,
      inJson: (input) => TRANSACT_WRITE.inJson({ ClientRequestToken: randomUUID(), ...input }),
    },
    writes: (input) => input.TransactItems?.length ?? 0,
  },
  batchExecute: {
    json: plainOperation('BatchExecuteStatement', lib.BatchExecuteStatementCommand),
    writes: (input) => input.Statements?.length ?? 0,
  },
};

/** What a call may expect of a write, in read units: most items are in an index, too. */
const LEAST_WRITE = 2 * READS_OF_A_WRITE;

interface Answer {
  readonly ConsumedCapacity?: aws.ConsumedCapacity | aws.ConsumedCapacity[] | undefined;
  readonly ScannedCount?: number | undefined;
}

const unitsOf = ({ ConsumedCapacity }: Answer) =>
  [ConsumedCapacity ?? []].flat().reduce((sum, consumed) => sum + (consumed.CapacityUnits ?? 0), 0);

function count<K extends Operation>(
  meter: Meter,
  operation: K,
  input: Operations[K]['input'],
  output: Operations[K]['output'],
  units: number,
): void {
  const { keysRead, writes, itemsRead, isRange } = DISPATCH[operation] as Dispatch<K>;
  const { ScannedCount = 0 }: Answer = output;
  meter[writes === undefined ? 'readUnits' : 'writeUnits'] += units;
  meter.getItems += keysRead?.(input) ?? 0;
  meter.writes += writes?.(input) ?? 0;
  meter.itemsReturned += itemsRead?.(output) ?? 0;
  if (isRange !== true) return;
  meter.queries += 1;
  meter.itemsScanned += ScannedCount;
}

/** The capacity to ask for: a sampler needs that of each index. For unpriced writes it must not slow down the embedded engine. */
function capacityWanted({ consumption, waitsForDisk }: Database, writing: boolean, unpriced: boolean) {
  if (unpriced && (consumption === undefined || (writing && waitsForDisk))) return undefined;
  return consumption !== undefined && writing ? 'INDEXES' : 'TOTAL';
}

/** The attributes of a command's span, as OpenTelemetry names them. */
function attributesOf(input: Operations[Operation]['input']): Attributes {
  const tables =
    'TableName' in input ? [input.TableName] : Object.keys('RequestItems' in input ? (input.RequestItems ?? {}) : {});
  const index = 'IndexName' in input ? input.IndexName : undefined;
  return { 'db.system.name': 'aws.dynamodb', 'aws.dynamodb.table_names': tables, 'aws.dynamodb.index_name': index };
}

/**
 * Sends one command: the only place where items of DynamoDB are read or written. Counts the response in the call's
 * meter, passes it to the database's sampler, and lists a Query among its reads. Throws THROTTLED or
 * UNAVAILABLE when the SDK's retries did not succeed in time, LIMIT_EXCEEDED before it sends more than the call may use, the reason of the call's signal when it is aborted, and
 * the SDK's error if it is about the request itself.
 */
export async function send<K extends Operation>(
  call: Call,
  operation: K,
  input: Operations[K]['input'],
): Promise<Operations[K]['output']> {
  const { meter, reads, signal, claim, traced, unpriced = false } = call;
  const { json, range, writes, leastUnits, keysRead } = DISPATCH[operation] as Dispatch<K>;
  const writing = writes !== undefined;
  // A command that fails may have cost as much: DynamoDB charges for conditions that do not hold.
  const endClaim = claim?.(writing ? LEAST_WRITE * writes(input) : Math.max(1, keysRead?.(input) ?? 0) / 2);
  const capacity = capacityWanted(call.db, writing, unpriced);
  const priced: Operations[K]['input'] =
    capacity === undefined ? input : { ...input, ReturnConsumedCapacity: capacity };
  const ends = { signal, failure: mapFailure };
  const { client, scheduler } = call.db;
  const run = (options: { readonly abortSignal: AbortSignal }) =>
    client.send(new JsonCommand(json, priced, scheduler.takeTurn) as never, options) as Promise<
      Operations[K]['output']
    >;
  const [output, units] = await inSpan(traced, `DynamoDB ${operation}`, attributesOf(input), async (note) => {
    const answer = await withinTime(call.db, run, ends);
    const took = capacity === undefined ? 0 : Math.max(unitsOf(answer), leastUnits?.(input, answer) ?? 0);
    note({ [writing ? 'cellport.write_units' : 'cellport.read_units']: took });
    return [answer, took] as const;
  });
  count(meter, operation, input, output, units);
  endClaim?.();
  call.db.consumption?.note(input, output, writing, operation);
  if (reads && range) reads.push(range(call.db, input, output, units));
  return output;
}
