import type { Key } from '../../keys/document-id.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import type { Database } from '../database.js';
import { chunks, mapConcurrently } from './concurrency.js';
import type { Call } from './meter.js';
import { BACKGROUND_RETRIES, processAll } from './retries.js';
import { send } from './send.js';

const BATCHES_AT_A_TIME = 4;

/**
 * Deletes items of one table, whether they exist or not. Retries what DynamoDB throttles or leaves unprocessed, for about two
 * minutes without any progress, before it throws THROTTLED or UNAVAILABLE.
 */
export async function deleteInBulk(database: Database, table: string, keys: readonly Key[], call: Call): Promise<void> {
  async function deleteSome(left: readonly Key[]): Promise<readonly Key[]> {
    const deletions = left.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    const { UnprocessedItems } = await send(database, 'batchWrite', { RequestItems: { [table]: deletions } }, call);
    return (UnprocessedItems?.[table] ?? []).map(({ DeleteRequest }) => DeleteRequest?.Key as unknown as Key);
  }
  const retries = { ...BACKGROUND_RETRIES, signal: call.signal };
  await mapConcurrently(chunks(keys, REQUEST_LIMITS.batchWrite), BATCHES_AT_A_TIME, (some) =>
    processAll(some, deleteSome, retries),
  );
}
