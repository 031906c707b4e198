import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import type * as lib from '@aws-sdk/lib-dynamodb';

import { INDEXES } from '../../keys/indexes.js';

type Attributes = Readonly<Record<string, unknown>>;
type Transacted = NonNullable<lib.TransactWriteCommandInput['TransactItems']>;
type Statements = NonNullable<lib.BatchExecuteStatementCommandInput['Statements']>;
type Batches = NonNullable<(lib.BatchGetCommandInput | lib.BatchWriteCommandInput)['RequestItems']>;

/** The fields by which requests name the items that they read or write: each operation has some of these. */
export interface Request {
  readonly TableName?: string | undefined;
  readonly IndexName?: string | undefined;
  readonly Key?: Attributes | undefined;
  readonly Item?: Attributes | undefined;
  readonly ExpressionAttributeValues?: Attributes | undefined;
  readonly RequestItems?: Batches | undefined;
  readonly TransactItems?: Transacted | undefined;
  readonly Statements?: Statements | undefined;
}

/** The fields in which responses report the capacity that they consumed. */
export interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
  /** The item after an update. */
  readonly Attributes?: Attributes | undefined;
}

/** A partition key that a request names; `item` if it names the whole item, and with it the keys of its indexes. */
interface Named {
  readonly table: string;
  readonly index?: string | undefined;
  readonly pk: unknown;
  readonly item?: Attributes | undefined;
}

const ofItem = (table: string, item: Attributes | undefined): Named => ({ table, pk: item?.['pk'], item });
const ofKey = (table: string, key: Attributes | undefined): Named => ({ table, pk: key?.['pk'] });

function namedInBatch(table: string, batch: Batches[string]): Named[] {
  if ('Keys' in batch) return (batch.Keys ?? []).map((key) => ofKey(table, key));
  return (Array.isArray(batch) ? batch : []).map(({ PutRequest, DeleteRequest }) =>
    PutRequest ? ofItem(table, PutRequest.Item) : ofKey(table, DeleteRequest?.Key),
  );
}

/** A statement names its table in quotes, and the partition key by `pk = ?`, or first of all in an INSERT. */
function namedByStatement({ Statement = '', Parameters = [] }: Statements[number]): Named {
  const [, table = ''] = /"([^"]*)"/.exec(Statement) ?? [];
  const before = Statement.slice(0, Math.max(0, Statement.indexOf('pk = ?')));
  return { table, pk: Parameters[before.split('?').length - 1] };
}

/** The partition keys that a request names: none for a Scan. */
function namedBy(request: Request, { Attributes: after }: Answer): Named[] {
  const { TableName: table = '', IndexName: index, Key, Item, RequestItems, TransactItems, Statements } = request;
  if (Item !== undefined) return [ofItem(table, Item)];
  if (Key !== undefined) return [{ ...ofKey(table, Key), item: after }];
  if (RequestItems !== undefined) return Object.entries(RequestItems).flatMap((entry) => namedInBatch(...entry));
  if (Statements !== undefined) return Statements.map(namedByStatement);
  if (TransactItems !== undefined) {
    return TransactItems.flatMap(({ Put, Update, Delete, ConditionCheck }) => {
      const action: Request = Put ?? Update ?? Delete ?? ConditionCheck ?? {};
      const { TableName = '', Item: put, Key: key } = action;
      return [put === undefined ? ofKey(TableName, key) : ofItem(TableName, put)];
    });
  }
  for (const [name, pk] of Object.entries(request.ExpressionAttributeValues ?? {})) {
    // Every Query names the bounds of its sort keys like this; the remaining value is the partition key.
    if (!BOUNDS.has(name)) return [{ table, index, pk }];
  }
  return [];
}

const BOUNDS = new Set([':from', ':to', ':after']);

export type Take = (table: string, index: string | undefined, pk: unknown, units: number) => void;

/** Divides the units of a table or an index equally between the keys that were named in it. */
function divide(
  units: number | undefined,
  table: string,
  index: string | undefined,
  pks: readonly unknown[],
  take: Take,
) {
  if (units === undefined || units === 0) return;
  if (pks.length === 0) take(table, index, undefined, units);
  for (const pk of pks) take(table, index, pk, units / pks.length);
}

/**
 * Divides the capacity that an answer reports between the partition keys that its request names, equally between those of a
 * batch. `pk` is undefined for what cannot be attributed: scans, and index entries that a deletion removes or a move leaves,
 * as requests do not name them.
 */
export function attribute(request: Request, answer: Answer, take: Take): void {
  const { ConsumedCapacity: reported } = answer;
  if (reported === undefined) return;
  const named = namedBy(request, answer);
  for (const { TableName: table = '', CapacityUnits, Table, GlobalSecondaryIndexes } of [reported].flat()) {
    const here = named.filter((each) => each.table === table);
    const [first] = here;
    const index = first?.index ?? request.IndexName;
    divide(
      Table?.CapacityUnits ?? CapacityUnits,
      table,
      index,
      here.map(({ pk }) => pk),
      take,
    );
    for (const [name, { CapacityUnits: units }] of Object.entries(GlobalSecondaryIndexes ?? {})) {
      const attribute = Object.entries(INDEXES).find(([known]) => known === name)?.[1].pk ?? '';
      const pks = here.flatMap(({ item }) => item?.[attribute] ?? []);
      divide(units, table, name, pks, take);
    }
  }
}
