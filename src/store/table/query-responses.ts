import type { QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

import type { Call, Item } from '../database.js';
import { isMissingTable } from '../request/failures.js';
import { rangeRequest, type StoredRange } from '../request/ranges.js';
import { send } from '../request/send.js';
import { monthFaults } from './month-tables.js';
import { isOfKey, refuse } from './table-differences.js';

/**
 * One response with a range; `after` is the key at which the previous one ended. A month without a table is empty, and so is one whose table has another key, as none of our readings
 * can be in it. Throws like `refuse` if its table has our key, but is not Cellport's otherwise.
 */
export async function queryResponse(
  call: Call,
  range: StoredRange,
  after?: Item,
): Promise<Partial<QueryCommandOutput>> {
  const { entities, derived } = call.db.tables;
  const { table = entities } = range;
  const isMonth = table !== entities && table !== derived;
  const faults = isMonth ? await monthFaults(call.db, table) : [];
  if (faults.some(isOfKey)) return {};
  refuse(faults);
  try {
    return await send(call, 'query', rangeRequest(call.db, range, after));
  } catch (error) {
    if (isMonth && isMissingTable(error)) return {};
    throw error;
  }
}

/**
 * Yields the items of a range, response by response, as DynamoDB returns them (up to 1 MB each, some of them empty), until there
 * are no more, or `most` items were returned. Each is requested when the previous one has been consumed.
 */
export async function* queryResponses(
  call: Call,
  range: StoredRange,
  most = Infinity,
  start?: Item,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = most;
  let after = start;
  do {
    const limit = Math.min(left, range.limit ?? Infinity);
    const response = await queryResponse(call, { ...range, limit: limit < Infinity ? limit : undefined }, after);
    const items = response.Items ?? [];
    left -= items.length;
    after = response.LastEvaluatedKey;
    yield items;
    // Only a missing key marks the end: a response may be empty without being the last.
  } while (after !== undefined && left > 0);
}

/** All items of a range that cannot have many. */
export async function queryAll(call: Call, range: StoredRange): Promise<Item[]> {
  const found: Item[] = [];
  for await (const items of queryResponses(call, range)) found.push(...items);
  return found;
}
