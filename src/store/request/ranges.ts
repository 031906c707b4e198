import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import { INDEXES } from '../../keys/indexes.js';
import type { Database, Item } from '../database.js';

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
