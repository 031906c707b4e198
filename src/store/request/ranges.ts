import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import { INDEXES, type IndexAttributes, type IndexName } from '../../keys/indexes.js';
import type { Database, Item } from '../database.js';

/** A partition of a table or an index. */
export interface StoredPartition {
  /** The table, if it is not one of the two: that of a month of readings, which is empty if it does not exist. */
  readonly table?: string | undefined;
  readonly pk: string;
}

/** How to read a range. */
export interface RangeOptions {
  /** Maximum number of items per response. */
  readonly limit?: number | undefined;
  /** Strongly consistent, which tables can be and indexes cannot. */
  readonly consistent?: boolean | undefined;
  readonly descending?: boolean | undefined;
}

/** Items of one partition of a table or an index, between two sort keys. */
export interface StoredRange extends StoredPartition, RangeOptions {
  /** An index of the entities table, or a table itself: `entities` or `derived`. */
  readonly index: IndexName | 'entities' | 'derived';
  /** Bounds of the sort keys, both included; the whole partition if omitted. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Instead of both bounds: only items after this sort key. */
  readonly behind?: string | undefined;
  /** Paths of the attributes to return; all if omitted. */
  readonly attributes?: readonly string[] | undefined;
}

/** Attribute paths with an alias for each name, because some are reserved words. */
function projection(paths: readonly string[]) {
  const names = paths.flatMap((path) => path.split('.'));
  return {
    ProjectionExpression: paths
      .map((path) =>
        path
          .split('.')
          .map((name) => `#_${name}`)
          .join('.'),
      )
      .join(', '),
    names: Object.fromEntries(names.map((name) => [`#_${name}`, name])),
  };
}

/** The Query for one response with a range; `after` is the key at which the previous one ended. */
export function rangeRequest(
  { tables }: Database,
  { index, table, pk, from, to, behind, limit, consistent = false, descending = false, attributes }: StoredRange,
  after?: Item,
): QueryCommandInput {
  const isTable = index === 'entities' || index === 'derived';
  const keys: IndexAttributes = isTable ? { pk: 'pk', sk: 'sk' } : INDEXES[index];
  const [bounds, values] =
    behind !== undefined
      ? [' AND #sk > :after', { ':after': behind }]
      : from !== undefined && to !== undefined
        ? [' AND #sk BETWEEN :from AND :to', { ':from': from, ':to': to }]
        : ['', {}];
  const { names, ...projected } = attributes === undefined ? { names: {} } : projection(attributes);
  return {
    TableName: table ?? (index === 'derived' ? tables.derived : tables.entities),
    ...(isTable ? {} : { IndexName: index }),
    KeyConditionExpression: `#pk = :pk${bounds}`,
    ExpressionAttributeNames: { '#pk': keys.pk, ...(bounds === '' ? {} : { '#sk': keys.sk ?? '' }), ...names },
    ExpressionAttributeValues: { ':pk': pk, ...values },
    ...projected,
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(consistent ? { ConsistentRead: true } : {}),
    ...(descending ? { ScanIndexForward: false } : {}),
    ...(after === undefined ? {} : { ExclusiveStartKey: after }),
  };
}
