import {
  type ConsumedCapacity,
  ScanCommand as WireScanCommand,
  type ScanCommandInput as WireScanInput,
  type ScanCommandOutput as WireScanOutput,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type BatchWriteCommandOutput,
  DeleteCommand,
  type DeleteCommandInput,
  type DeleteCommandOutput,
  GetCommand,
  type GetCommandInput,
  type GetCommandOutput,
  PutCommand,
  type PutCommandInput,
  type PutCommandOutput,
  type QueryCommandInput,
  type QueryCommandOutput,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  type TransactWriteCommandOutput,
  UpdateCommand,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';

import type { Database } from '../database.js';
import { mapFailure, unavailable } from './failures.js';
import type { Call, Meter } from './meter.js';
import { type RangeRead, rangeReadOf } from './read-log.js';
import { type WireMap, queryCommand } from './query-items.js';

/** The operations on items, with what each takes and gives. A request is such an input: a plain value. */
export interface Operations {
  get: { input: GetCommandInput; output: GetCommandOutput };
  batchGet: { input: BatchGetCommandInput; output: BatchGetCommandOutput };
  query: { input: QueryCommandInput; output: QueryCommandOutput };
  scan: { input: ScanCommandInput; output: ScanCommandOutput };
  /** With items and keys as DynamoDB writes them: one value that JavaScript cannot hold must not cost a whole page. */
  wireScan: { input: WireScanInput; output: Omit<WireScanOutput, 'Items'> & { Items?: readonly WireMap[] } };
  put: { input: PutCommandInput; output: PutCommandOutput };
  update: { input: UpdateCommandInput; output: UpdateCommandOutput };
  delete: { input: DeleteCommandInput; output: DeleteCommandOutput };
  batchWrite: { input: BatchWriteCommandInput; output: BatchWriteCommandOutput };
  transactWrite: { input: TransactWriteCommandInput; output: TransactWriteCommandOutput };
}

export type Operation = keyof Operations;

/** How an operation is sent and what of it is metered: how often it reads by key, reads a range, writes, gets back. */
interface Dispatch<K extends Operation> {
  readonly run: (
    database: Database,
    input: Operations[K]['input'],
    options: { readonly abortSignal?: AbortSignal },
  ) => Promise<Operations[K]['output']>;
  readonly asked: (input: Operations[K]['input']) => { readonly getItems?: number; readonly writes?: number };
  readonly returned: (output: Operations[K]['output']) => number;
  readonly reads: boolean;
  /** What range a call of it read, for those who want to see. */
  readonly range?: (
    database: Database,
    input: Operations[K]['input'],
    output: Operations[K]['output'],
    readUnits: number,
  ) => RangeRead;
}

const items = (lists: Readonly<Record<string, readonly unknown[]>> | undefined) =>
  Object.values(lists ?? {}).reduce((sum, list) => sum + list.length, 0);

const DISPATCH: { readonly [K in Operation]: Dispatch<K> } = {
  get: {
    run: ({ client }, input, options) => client.send(new GetCommand(input), options),
    asked: () => ({ getItems: 1 }),
    returned: (output) => (output.Item === undefined ? 0 : 1),
    reads: true,
  },
  batchGet: {
    run: ({ client }, input, options) => client.send(new BatchGetCommand(input), options),
    asked: (input) => ({
      getItems: Object.values(input.RequestItems ?? {}).reduce((sum, table) => sum + (table.Keys?.length ?? 0), 0),
    }),
    returned: (output) => items(output.Responses),
    reads: true,
  },
  query: {
    run: ({ client }, input, options) => client.send(queryCommand(input), options),
    asked: () => ({}),
    returned: (output) => output.Count ?? 0,
    reads: true,
    range: rangeReadOf,
  },
  scan: {
    run: ({ client }, input, options) => client.send(new ScanCommand(input), options),
    asked: () => ({}),
    returned: (output) => output.Count ?? 0,
    reads: true,
  },
  wireScan: {
    // The SDK's type of a value knows its types by name; ours is read by whichever name is there.
    run: ({ client }, input, options) =>
      client.send(new WireScanCommand(input), options) as unknown as Promise<Operations['wireScan']['output']>,
    asked: () => ({}),
    returned: (output) => output.Count ?? 0,
    reads: true,
  },
  put: {
    run: ({ client }, input, options) => client.send(new PutCommand(input), options),
    asked: () => ({ writes: 1 }),
    returned: () => 0,
    reads: false,
  },
  update: {
    run: ({ client }, input, options) => client.send(new UpdateCommand(input), options),
    asked: () => ({ writes: 1 }),
    returned: () => 0,
    reads: false,
  },
  delete: {
    run: ({ client }, input, options) => client.send(new DeleteCommand(input), options),
    asked: () => ({ writes: 1 }),
    returned: () => 0,
    reads: false,
  },
  batchWrite: {
    run: ({ client }, input, options) => client.send(new BatchWriteCommand(input), options),
    asked: (input) => ({ writes: items(input.RequestItems) }),
    returned: () => 0,
    reads: false,
  },
  transactWrite: {
    run: ({ client }, input, options) => client.send(new TransactWriteCommand(input), options),
    asked: (input) => ({ writes: input.TransactItems?.length ?? 0 }),
    returned: () => 0,
    reads: false,
  },
};

interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
  readonly ScannedCount?: number | undefined;
}

const unitsOf = ({ ConsumedCapacity }: Answer) =>
  [ConsumedCapacity ?? []].flat().reduce((sum, consumed) => sum + (consumed.CapacityUnits ?? 0), 0);

function count<K extends Operation>(
  meter: Meter,
  operation: K,
  input: Operations[K]['input'],
  output: Operations[K]['output'],
): void {
  const { asked, returned, reads } = DISPATCH[operation] as Dispatch<K>;
  const { ScannedCount }: Answer = output;
  const { getItems = 0, writes = 0 } = asked(input);
  const units = unitsOf(output);
  meter.getItems += getItems;
  meter.writes += writes;
  if (reads) meter.readUnits += units;
  else meter.writeUnits += units;
  if (operation === 'query' || operation === 'scan' || operation === 'wireScan') {
    meter.queries += 1;
    meter.itemsScanned += ScannedCount ?? 0;
  }
  meter.itemsReturned += returned(output);
}

/**
 * A signal that is aborted by the caller's or after a time, and a promise that rejects with it at once: the SDK would
 * first sleep out the pause before a retry.
 */
function giveUp(afterMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(unavailable(`no answer within ${afterMs} ms`)), afterMs);
  const pass = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', pass, { once: true });
  return {
    signal: controller.signal,
    givenUp: new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
    }),
    settle: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', pass);
    },
  };
}

/**
 * Sends one command: the only place where DynamoDB is asked for items. Adds ReturnConsumedCapacity, unless the call is
 * unpriced, counts the answer in the call's meter, and a Query among its reads. Throws THROTTLED or UNAVAILABLE when the SDK's retries did not help in time, the reason of the
 * call's signal when it is aborted, and the SDK's error where it says something of the request itself.
 */
export async function send<K extends Operation>(
  database: Database,
  operation: K,
  input: Operations[K]['input'],
  { meter, reads, signal: outer, unpriced = false }: Call,
): Promise<Operations[K]['output']> {
  outer?.throwIfAborted();
  const { run, range } = DISPATCH[operation] as Dispatch<K>;
  const { signal, givenUp, settle } = giveUp(database.giveUpAfterMs, outer);
  try {
    const asked: Operations[K]['input'] = unpriced ? input : { ...input, ReturnConsumedCapacity: 'TOTAL' };
    const output = await Promise.race([run(database, asked, { abortSignal: signal }), givenUp]);
    count(meter, operation, input, output);
    if (reads && range) reads.push(range(database, input, output, unitsOf(output)));
    return output;
  } catch (error) {
    throw signal.aborted ? signal.reason : mapFailure(error);
  } finally {
    settle();
  }
}
