import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';

import type { Database, Item } from '../database.js';
import type { Call } from './meter.js';
import { send } from './send.js';

/**
 * Yields the items of a Query page by page as DynamoDB returns them (up to 1 MB each, some of them empty), until there
 * are no more, or `most` items were returned. Each page is requested when the previous one has been consumed.
 */
export async function* queryPages(
  database: Database,
  request: QueryCommandInput,
  call: Call,
  most = Infinity,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = most;
  let after: Item | undefined;
  do {
    const limit = Math.min(left, request.Limit ?? Infinity);
    const page = await send(
      database,
      'query',
      {
        ...request,
        ...(limit < Infinity ? { Limit: limit } : {}),
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      },
      call,
    );
    const items = page.Items ?? [];
    left -= items.length;
    after = page.LastEvaluatedKey;
    yield items;
    // Only a missing key marks the end: a page may be empty without being the last.
  } while (after !== undefined && left > 0);
}

/** All items of a Query that cannot have many. */
export async function queryAll(database: Database, request: QueryCommandInput, call: Call): Promise<Item[]> {
  const found: Item[] = [];
  for await (const items of queryPages(database, request, call)) found.push(...items);
  return found;
}
