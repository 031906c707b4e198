import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import { INDEXES } from '../keys/indexes.js';
import type { Database, Item } from './database.js';
import type { Call } from './meter.js';
import { send } from './send.js';

/** Items of one partition of an index, or of the cells, between two sort keys, both included. */
export interface StoredRange {
  readonly index: 'geoA' | 'geoB' | 'cells';
  readonly pk: string;
  readonly from: string;
  readonly to: string;
  /** At most so many items; all of them where it is left out. */
  readonly limit?: number | undefined;
  /** Strongly consistent, which only cells can be: indexes are not. */
  readonly consistent?: boolean | undefined;
}

/** The Query of one page of a range. */
export function rangeRequest(
  { tables }: Pick<Database, 'tables'>,
  { index, pk, from, to, limit, consistent }: StoredRange,
  after?: Item,
): QueryCommandInput {
  const ofCells = index === 'cells';
  const names = ofCells ? { pk: 'pk', sk: 'sk' } : INDEXES[index];
  return {
    TableName: ofCells ? tables.derived : tables.entities,
    ...(ofCells ? {} : { IndexName: index }),
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#pk': names.pk, '#sk': names.sk },
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(consistent === true ? { ConsistentRead: true } : {}),
    ...(after === undefined ? {} : { ExclusiveStartKey: after }),
  };
}

/**
 * All items of a range in the order of their sort keys, page by page as DynamoDB gives them (up to 1 MB each, some of
 * them empty), until the range or the limit ends. A page is asked for when the one before it has been taken.
 */
export async function* readRange(
  database: Database,
  range: StoredRange,
  call: Call,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = range.limit ?? Infinity;
  let after: Item | undefined;
  do {
    const limit = Number.isFinite(left) ? left : undefined;
    const page = await send(database, 'query', rangeRequest(database, { ...range, limit }, after), call);
    const items = page.Items ?? [];
    left -= items.length;
    after = page.LastEvaluatedKey;
    yield items;
    // Only the missing key ends a range: a page may be empty and still not be the last.
  } while (after !== undefined && left > 0);
}
