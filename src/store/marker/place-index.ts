import type { SortRange } from '../../keys/keyspace.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';

/** A range of one partition of the index of places. */
export interface PlaceQuery {
  readonly pk: string;
  /** Bounds of the sort keys, both included; the whole partition if omitted. */
  readonly range?: SortRange | undefined;
  /** The key, of table and index, after which the page begins. */
  readonly after?: Item | undefined;
  /** Most items of the page. */
  readonly limit: number;
}

/** One page of markers by place, in the order of their sort keys, and the key after which the next page begins, if any. */
export async function readPlacePage(
  database: Database,
  { pk, range, after, limit }: PlaceQuery,
  call: Call,
): Promise<{ readonly items: readonly Item[]; readonly next: Item | undefined }> {
  const request = rangeRequest(database, { index: 'place', pk, ...range, limit }, after);
  const { Items = [], LastEvaluatedKey } = await send(database, 'query', request, call);
  return { items: Items, next: LastEvaluatedKey };
}
