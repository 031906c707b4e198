import { createHash } from 'node:crypto';

import { deadLetterKey, putDeadLetters, readDeadLetters, type DeadLetter } from '../cell/dead-letters.js';
import type { Database } from '../database.js';
import { deleteInBulk } from '../request/batch-delete.js';
import type { Call } from '../request/meter.js';

/** Where rejected items of a source are listed among dead letters: each item once, as it is now. */
const ITEM = 'item';
const AT_A_TIME = 100;

/** An item that matches but is no marker; without a reason, it is a marker now, or gone. */
export type Rejected = Omit<DeadLetter, 'shard' | 'sequence'>;

const letterOf = (rejected: Rejected): DeadLetter => {
  return { ...rejected, shard: ITEM, sequence: createHash('sha256').update(rejected.item).digest('hex').slice(0, 32) };
};

/** Notes which items are rejected, and which no longer are. The last of several about one item counts. */
export async function noteRejected(
  database: Database,
  consumer: string,
  items: readonly Rejected[],
  call: Call,
): Promise<void> {
  const last = [...new Map(items.map((each) => [each.item, letterOf(each)])).values()];
  await putDeadLetters(
    database,
    consumer,
    last.filter(({ reason }) => reason !== ''),
    call,
  );
  const mended = last
    .filter(({ reason }) => reason === '')
    .map((letter) => deadLetterKey(database.keys, consumer, letter));
  await deleteInBulk(database, database.tables.derived, mended, call);
}

/** Forgets all rejected items. */
export async function forgetRejected(database: Database, consumer: string, call: Call): Promise<void> {
  for (;;) {
    const { letters } = await readDeadLetters(database, consumer, { first: AT_A_TIME }, call);
    if (letters.length === 0) return;
    const keys = letters.map((letter) => deadLetterKey(database.keys, consumer, letter));
    await deleteInBulk(database, database.tables.derived, keys, call);
  }
}
