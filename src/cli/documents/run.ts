import { CellportError } from '../../errors.js';
import { addDocuments, listDocuments, removeDocuments } from '../../store/document/documents.js';
import { newCall } from '../../store/request/meter.js';
import { grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';
import { readDocuments } from './read-documents.js';

export async function add({ config, database, log, signal }: CommandSession, files: readonly string[]): Promise<void> {
  const documents = await readDocuments(files, config.limits, log);
  await addDocuments(database, documents, newCall(signal));
  console.log(`${grouped(documents.length)} documents added; servers know them within a second`);
}

export async function list({ database, signal }: CommandSession, json: boolean): Promise<void> {
  const documents = await listDocuments(database, newCall(signal));
  if (json) console.log(JSON.stringify({ documents }, null, 2));
  else for (const { hash, name } of documents) console.log(printable(`${hash}  ${name}`));
  console.error(`${grouped(documents.length)} trusted documents`);
}

/** Removes those with these hashes or names, or all. */
export async function remove(
  { database, signal }: CommandSession,
  wanted: readonly string[],
  all: boolean,
): Promise<void> {
  const documents = await listDocuments(database, newCall(signal));
  const unknown = wanted.find((each) => !documents.some(({ hash, name }) => each === hash || each === name));
  if (unknown !== undefined || (wanted.length === 0) !== all) {
    const what = unknown === undefined ? 'pass hashes or names, or --all' : `no trusted document is named ${unknown}`;
    throw new CellportError('BAD_USER_INPUT', `${what}; \`cellport documents list\` shows all`);
  }
  const removed = documents.filter(({ hash, name }) => all || wanted.includes(hash) || wanted.includes(name));
  const hashes = removed.map(({ hash }) => hash);
  await removeDocuments(database, hashes, newCall(signal));
  console.log(`${grouped(hashes.length)} documents removed; servers refuse them within a second`);
}
