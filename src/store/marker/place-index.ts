import { INDEXES } from '../../keys/indexes.js';
import type { SortRange } from '../../keys/keyspace.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';

/** A stretch of one partition of the index of places. */
export interface PlaceQuery {
  readonly pk: string;
  /** Bounds of the sort keys, both included; all of the partition where there are none. */
  readonly range?: SortRange | undefined;
  /** The keys, of table and index, after which it begins. */
  readonly after?: Item | undefined;
  /** Most items of one page. */
  readonly limit: number;
}

/** One page of markers by their place, in the order of their sort keys, and where the next one begins if there is one. */
export async function readPlacePage(
  database: Database,
  { pk, range, after, limit }: PlaceQuery,
  call: Call,
): Promise<{ readonly items: readonly Item[]; readonly next: Item | undefined }> {
  const names = INDEXES.place;
  const { Items = [], LastEvaluatedKey } = await send(
    database,
    'query',
    {
      TableName: database.tables.entities,
      IndexName: 'place',
      KeyConditionExpression: range === undefined ? '#pk = :pk' : '#pk = :pk AND #sk BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#pk': names.pk, ...(range === undefined ? {} : { '#sk': names.sk }) },
      ExpressionAttributeValues: {
        ':pk': pk,
        ...(range === undefined ? {} : { ':from': range.from, ':to': range.to }),
      },
      Limit: limit,
      ...(after === undefined ? {} : { ExclusiveStartKey: after }),
    },
    call,
  );
  return { items: Items, next: LastEvaluatedKey };
}
