import { createHash } from 'node:crypto';

import { type Key, documentId } from '../../keys/document-id.js';
import { listDeadLetters, putDeadLetters } from '../../store/cell/stream-state.js';
import type { Database } from '../../store/database.js';
import { deleteInBulk } from '../../store/request/batch-delete.js';
import { newCall } from '../../store/request/meter.js';
import { IN_USE } from './state.js';
import type { Refusal } from './write.js';

const LONGEST_REASON = 1_000;
/** Used in place of a shard: dead letters of the search index are about a document, not a record. */
const FROM = 'document';
const sequenceOf = (key: Key) => createHash('sha256').update(documentId(key)).digest('hex');

/** Stores documents that OpenSearch rejects, as one dead letter each. */
export async function putRefusals(database: Database, refusals: readonly Refusal[]): Promise<void> {
  const letters = refusals.map(({ key, reason }) => ({
    shard: FROM,
    sequence: sequenceOf(key),
    reason: reason.slice(0, LONGEST_REASON),
    item: JSON.stringify(key),
    event: 'put',
  }));
  await putDeadLetters(database, IN_USE, letters, newCall());
}

/** All documents that OpenSearch has rejected since they were last retried. */
export async function listRefusals(database: Database): Promise<Refusal[]> {
  const letters = await listDeadLetters(database, IN_USE, newCall());
  return letters.map(({ item, reason }) => ({ key: JSON.parse(item) as Key, reason }));
}

/** Removes the dead letters of documents. */
export async function dropRefusals(database: Database, keys: readonly Key[]): Promise<void> {
  const letters = keys.map((key) => database.keys.deadLetter(IN_USE, `${sequenceOf(key)}.${FROM}`));
  await deleteInBulk(database, database.tables.derived, letters, newCall());
}
