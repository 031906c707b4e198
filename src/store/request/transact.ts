import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

import { retry } from '../../retry.js';
import type { Call } from '../database.js';
import { cancellationCodes, holds, isTransactionConflict } from './failures.js';
import { CONFLICT_RETRIES, TooManyUpdates } from './pacing.js';
import { send } from './send.js';

type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>;
export type Write = Writes[number];

/**
 * Does some writes in one transaction, without waiting for others; returns false, having written nothing, if it was
 * canceled: a condition did not hold, or another transaction was under way. The SDK sends a token with all attempts, so
 * that a repeated attempt is not refused if the first was applied.
 */
export function transactOnce(call: Call, writes: Writes): Promise<boolean> {
  return holds(send(call, 'transactWrite', { TransactItems: writes }), 'TransactionCanceledException');
}

/** Which writes of a rejected transaction had a condition that did not hold. */
const refusedBy = (error: unknown): number[] =>
  cancellationCodes(error).flatMap((code, index) => (code === 'ConditionalCheckFailed' ? [index] : []));

/**
 * Does some writes in one transaction, and waits for other transactions on the same items. Returns which of them, by their
 * index, had a condition that did not hold: if there is one, nothing has been written. Throws CONFLICT if there is always
 * another transaction.
 */
export async function transact(call: Call, writes: Writes): Promise<readonly number[]> {
  try {
    await retry(() => send(call, 'transactWrite', { TransactItems: writes }), {
      ...CONFLICT_RETRIES,
      retryable: (error) => isTransactionConflict(error) && refusedBy(error).length === 0,
      signal: call.signal,
    });
    return [];
  } catch (error) {
    const refused = refusedBy(error);
    if (refused.length === 0) throw isTransactionConflict(error) ? new TooManyUpdates() : error;
    call.meter.writes += writes.length;
    return refused;
  }
}
