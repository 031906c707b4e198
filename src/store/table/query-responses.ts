import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

import type { Call, Item } from '../database.js';
import { isMissingTable } from '../request/failures.js';
import { send } from '../request/send.js';
import { monthFaults } from './month-tables.js';
import { isOfKey, refuse } from './table-differences.js';

/**
 * One response to a Query. A month without a table is empty, and so is one whose table has another key, as none of our readings
 * can be in it. Throws like `refuse` if its table has our key, but is not Cellport's otherwise.
 */
export async function queryResponse(call: Call, request: QueryCommandInput): Promise<Partial<QueryCommandOutput>> {
  const { entities, derived } = call.db.tables;
  const { TableName = entities } = request;
  const isMonth = TableName !== entities && TableName !== derived;
  const faults = isMonth ? await monthFaults(call.db, TableName) : [];
  if (faults.some(isOfKey)) return {};
  refuse(faults);
  try {
    return await send(call, 'query', request);
  } catch (error) {
    if (isMonth && isMissingTable(error)) return {};
    throw error;
  }
}

/**
 * Yields the items of a Query, response by response, as DynamoDB returns them (up to 1 MB each, some of them empty), until there
 * are no more, or `most` items were returned. Each is requested when the previous one has been consumed.
 */
export async function* queryResponses(
  call: Call,
  request: QueryCommandInput,
  most = Infinity,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = most;
  let after: Item | undefined;
  do {
    const limit = Math.min(left, request.Limit ?? Infinity);
    const response = await queryResponse(call, {
      ...request,
      ...(limit < Infinity ? { Limit: limit } : {}),
      ...(after === undefined ? {} : { ExclusiveStartKey: after }),
    });
    const items = response.Items ?? [];
    left -= items.length;
    after = response.LastEvaluatedKey;
    yield items;
    // Only a missing key marks the end: a response may be empty without being the last.
  } while (after !== undefined && left > 0);
}

/** All items of a Query that cannot have many. */
export async function queryAll(call: Call, request: QueryCommandInput): Promise<Item[]> {
  const found: Item[] = [];
  for await (const items of queryResponses(call, request)) found.push(...items);
  return found;
}
