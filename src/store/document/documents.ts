import { limitExceeded } from '../../errors.js';
import type { Call, Item } from '../database.js';
import { deleteInBulk, putInBulk } from '../request/batches.js';
import { readItem } from '../request/conditional-write.js';
import { send } from '../request/send.js';
import { queryResponses } from '../table/query-responses.js';

/** A GraphQL document that servers may trust. */
export interface TrustedDocument {
  /** SHA-256 of its text, in hexadecimal. */
  readonly hash: string;
  /** The same of its text as graphql-js prints it, in which form many clients send it. */
  readonly printedHash: string;
  /** The names of its operations. */
  readonly name: string;
  readonly text: string;
}

/** Servers keep all of them in memory. */
const MOST_DOCUMENTS = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;

const bytesOf = (documents: readonly TrustedDocument[]) =>
  documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

/** The item of the version has no text. */
const documentFromItem = ({ sk, printedHash, name, text }: Item): TrustedDocument[] =>
  typeof text === 'string' ? [{ hash: String(sk), text, name: String(name), printedHash: String(printedHash) }] : [];

/** The version of the list of trusted documents; 0 before the first change. */
export async function documentsVersion(call: Call): Promise<number> {
  const version = (await readItem(call, call.db.keys.documentsVersion))?.['version'];
  return typeof version === 'number' ? version : 0;
}

/** The trusted documents, by hash; no more than the limits, which commands that run at the same time may exceed. */
export async function listDocuments(call: Call): Promise<readonly TrustedDocument[]> {
  const { pk } = call.db.keys.documentsVersion;
  const range = { index: 'entities', pk, consistent: true } as const;
  const found: TrustedDocument[] = [];
  for await (const items of queryResponses(call, range, MOST_DOCUMENTS + 1)) {
    found.push(...items.flatMap(documentFromItem));
    if (bytesOf(found) > MOST_BYTES) break;
  }
  return found;
}

/** Tells servers that the list has changed; only after it has, so that none of them misses the change. */
async function raiseVersion(call: Call): Promise<void> {
  const update = {
    TableName: call.db.tables.entities,
    Key: { ...call.db.keys.documentsVersion },
    UpdateExpression: 'ADD #version :one',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':one': 1 },
  };
  await send(call, 'update', update);
}

/** Adds documents to the list, and replaces those with the same texts. Throws LIMIT_EXCEEDED. */
export async function addDocuments(call: Call, documents: readonly TrustedDocument[]): Promise<void> {
  const before = await listDocuments(call);
  const all = [...new Map([...before, ...documents].map((each) => [each.hash, each])).values()];
  const advice = 'remove those that no client sends any more';
  if (all.length > MOST_DOCUMENTS) {
    throw limitExceeded('number of trusted documents', all.length, MOST_DOCUMENTS, advice);
  }
  if (bytesOf(all) > MOST_BYTES) throw limitExceeded('bytes of trusted documents', bytesOf(all), MOST_BYTES, advice);
  const items = documents.map(({ hash, ...rest }) => ({ ...call.db.keys.document(hash), ...rest }));
  await putInBulk(call, call.db.tables.entities, items);
  await raiseVersion(call);
}

/** Removes the documents with these hashes from the list. */
export async function removeDocuments(call: Call, hashes: readonly string[]): Promise<void> {
  const keys = hashes.map((hash) => call.db.keys.document(hash));
  await deleteInBulk(call, call.db.tables.entities, keys);
  await raiseVersion(call);
}
