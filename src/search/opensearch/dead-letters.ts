import { createHash } from 'node:crypto';

import { documentId, type Key } from '../../keys/document-id.js';
import { deadLetterKey, putDeadLetters, readDeadLetters } from '../../store/cell/dead-letters.js';
import { newCall, type Database } from '../../store/database.js';
import { deleteInBulk } from '../../store/request/batches.js';
import { IN_USE } from './state.js';
import type { Refusal } from './write.js';

const LONGEST_REASON = 1_000;
const AT_A_TIME = 500;

/** Dead letters of the search index are about a document, not a record: a hash takes the place of the sequence number. */
const letterNameOf = (key: Key) => ({
  shard: 'document',
  sequence: createHash('sha256').update(documentId(key)).digest('hex'),
});

/** Stores documents that OpenSearch rejects, as one dead letter each. */
export async function putRefusals(database: Database, refusals: readonly Refusal[]): Promise<void> {
  const letters = refusals.map(({ key, reason }) => ({
    ...letterNameOf(key),
    reason: reason.slice(0, LONGEST_REASON),
    item: JSON.stringify(key),
    event: 'put',
  }));
  await putDeadLetters(newCall(database), IN_USE, letters);
}

/** The documents that OpenSearch has rejected since they were last retried, some at a time. */
export async function* refusalsIn(database: Database, signal: AbortSignal): AsyncGenerator<Refusal[]> {
  for (let after: string | undefined, more = true; more;) {
    const page = { first: AT_A_TIME, after };
    const { letters, next } = await readDeadLetters(newCall(database, signal), IN_USE, page);
    yield letters.map(({ item, reason }) => ({ key: JSON.parse(item) as Key, reason }));
    more = next !== null;
    after = next ?? undefined;
  }
}

/** Removes the dead letters of documents. */
export async function dropRefusals(database: Database, keys: readonly Key[]): Promise<void> {
  const letters = keys.map((key) => deadLetterKey(database.keys, IN_USE, letterNameOf(key)));
  await deleteInBulk(newCall(database), database.tables.derived, letters);
}
