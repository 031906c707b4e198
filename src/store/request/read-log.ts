import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

import type { Bounds } from '../../geo/bounds.js';
import { INDEXES } from '../../keys/indexes.js';
import type { Database, Item } from '../database.js';

/** A range of one partition that a response is based on, read by one Query call or found in a cache. */
export interface RangeRead {
  /** The index, or for a table itself `entities`, `cells`, `pages` or `derived` (the rest of the derived table). */
  readonly index: string;
  readonly pk: string;
  /** Bounds of the sort keys, both included; null if the range is open. For a single response, the part that it covered. */
  readonly from: string | null;
  readonly to: string | null;
  /** Number of items read, before filters; for a cached range, the number of its items. */
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
}

/** A page of markers that a response is based on. */
export interface PageRead {
  readonly pk: string;
  /** Its begin and exclusive end in the order of its partition; null for the partition's end. */
  readonly begin: string;
  readonly end: string | null;
  readonly markers: number;
  /** The bounding box of its markers, in degrees; null if it has none. */
  readonly bounds: Bounds | null;
}

const sortAttributeOf = (index: string | undefined) =>
  index === undefined ? 'sk' : (Object.entries(INDEXES).find(([name]) => name === index)?.[1] as { sk?: string })?.sk;

function textAt(item: Item | undefined, attribute: string | undefined): string | undefined {
  const value = attribute === undefined ? undefined : item?.[attribute];
  return typeof value === 'string' ? value : undefined;
}

/** The kind of items of the derived table in a range. */
function derivedKind(keys: Database['keys'], pk: string, from: string | null): 'cells' | 'pages' | 'derived' {
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
