import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

import { INDEXES } from '../../keys/indexes.js';
import type { Database, Item } from '../database.js';
import type { RangeRead } from './meter.js';

const sortAttributeOf = (index: string | undefined) =>
  index === undefined ? 'sk' : (Object.entries(INDEXES).find(([name]) => name === index)?.[1] as { sk?: string })?.sk;

function textAt(item: Item | undefined, attribute: string | undefined): string | undefined {
  const value = attribute === undefined ? undefined : item?.[attribute];
  return typeof value === 'string' ? value : undefined;
}

/** The kind of items of the derived table in a range. */
export function derivedKind(keys: Database['keys'], pk: string, from: string | null): 'cells' | 'pages' | 'derived' {
  if (keys.parsePage({ pk, sk: from ?? '' }) !== undefined) return 'pages';
  return from !== null && keys.parseCell({ pk, sk: from }) !== undefined ? 'cells' : 'derived';
}

/** The range read by a Query call: a response ends where the next one begins. */
export function rangeReadOf(
  { tables, keys }: Database,
  {
    TableName,
    IndexName,
    ExpressionAttributeValues = {},
    ExclusiveStartKey,
    ScanIndexForward = true,
  }: QueryCommandInput,
  { ScannedCount = 0, LastEvaluatedKey }: QueryCommandOutput,
  readUnits: number,
): RangeRead {
  const { ':from': first, ':to': last, ':after': after, ...rest } = ExpressionAttributeValues;
  // Every Query names the bounds of its sort keys like this; the remaining value is the partition key.
  const pk = String(Object.values(rest)[0]);
  const attribute = sortAttributeOf(IndexName);
  const start = textAt(ExclusiveStartKey, attribute);
  const end = textAt(LastEvaluatedKey, attribute);
  const [lower, upper] = ScanIndexForward ? [start, end] : [end, start];
  const bound = first ?? after;
  const from = lower ?? (bound === undefined ? null : String(bound));
  const to = upper ?? (last === undefined ? null : String(last));
  const table = TableName === tables.derived ? derivedKind(keys, pk, from) : 'entities';
  return { index: IndexName ?? table, pk, from, to, items: ScannedCount, readUnits, cached: false };
}
