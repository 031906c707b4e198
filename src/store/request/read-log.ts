import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

import { INDEXES } from '../../keys/indexes.js';
import type { Database, Item } from '../database.js';

/** A range of one partition that a response is based on, read by one Query call or found in a cache. */
export interface RangeRead {
  /** The index, or for a table itself `entities`, `cells` or `derived` (cells and the rest of the derived table). */
  readonly index: string;
  readonly pk: string;
  /** Bounds of the sort keys, both included; null if the range is open. Of a page, what that page covered. */
  readonly from: string | null;
  readonly to: string | null;
  /** Items read, before filters; of a cache the items that it holds there. */
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
}

type Asked = Pick<
  QueryCommandInput,
  'TableName' | 'IndexName' | 'ExpressionAttributeValues' | 'ExclusiveStartKey' | 'ScanIndexForward'
>;

const sortAttributeOf = (index: string | undefined) =>
  index === undefined ? 'sk' : (Object.entries(INDEXES).find(([name]) => name === index)?.[1] as { sk?: string })?.sk;

function textAt(item: Item | undefined, attribute: string | undefined): string | undefined {
  const value = attribute === undefined ? undefined : item?.[attribute];
  return typeof value === 'string' ? value : undefined;
}

/** The range that a Query call read: a page ends where the next one begins. */
export function rangeReadOf(
  { tables, keys }: Pick<Database, 'tables' | 'keys'>,
  { TableName, IndexName, ExpressionAttributeValues = {}, ExclusiveStartKey, ScanIndexForward = true }: Asked,
  { ScannedCount = 0, LastEvaluatedKey }: Pick<QueryCommandOutput, 'ScannedCount' | 'LastEvaluatedKey'>,
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
  const isCell = TableName === tables.derived && from !== null && keys.parseCell({ pk, sk: from }) !== undefined;
  const table = TableName === tables.derived ? (isCell ? 'cells' : 'derived') : 'entities';
  return { index: IndexName ?? table, pk, from, to, items: ScannedCount, readUnits, cached: false };
}
