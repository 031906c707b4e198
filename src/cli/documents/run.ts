import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Kind, print, type DocumentNode } from 'graphql';
import { z } from 'zod';

import { CellportError } from '../../errors.js';
import { errorFormatter } from '../../graphql/error-format.js';
import { documentReader } from '../../graphql/execution/documents.js';
import { sha256 } from '../../graphql/execution/persisted.js';
import { buildSchema } from '../../graphql/schema.js';
import type { Log } from '../../log.js';
import type { Limits } from '../../model/limits.js';
import { addDocuments, listDocuments, removeDocuments, type TrustedDocument } from '../../store/document/documents.js';
import { grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

/** The manifest of Apollo, and that of graphql-codegen: texts by id. */
const MANIFEST = z.union([
  z.object({ operations: z.array(z.object({ id: z.string(), body: z.string() })) }).transform((all) => all.operations),
  z.record(z.string(), z.string()).transform((texts) => Object.entries(texts).map(([id, body]) => ({ id, body }))),
]);

/** The documents in a file: those of a manifest with their ids, or one. */
async function documentsIn(file: string): Promise<readonly { readonly id?: string; readonly body: string }[]> {
  try {
    const body = await readFile(file, 'utf8');
    return extname(file) === '.json' ? MANIFEST.parse(JSON.parse(body)) : [{ body }];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const allowed = 'a .graphql file or a manifest of persisted documents, as graphql-codegen and Apollo write it';
    throw new CellportError('BAD_USER_INPUT', `${file} must be ${allowed}${code ? `: ${code}` : ''}`, { file });
  }
}

const namesOf = ({ definitions }: DocumentNode) =>
  definitions.flatMap((each) => (each.kind === Kind.OPERATION_DEFINITION ? (each.name?.value ?? []) : [])).join(' ');

/**
 * The documents in files, checked against the schema and the limits. Throws one BAD_USER_INPUT with a line for each fault:
 * its file and line.
 */
async function readDocuments(files: readonly string[], limits: Limits, log: Log): Promise<readonly TrustedDocument[]> {
  const read = documentReader({ schema: buildSchema(), limits, introspection: true, format: errorFormatter(log) });
  const faults: string[] = [];
  const found = new Map<string, TrustedDocument>();
  for (const file of files) {
    for (const { id, body: text } of await documentsIn(file)) {
      const hash = sha256(text);
      const { document, errors = [] } = read(text);
      const at = id === undefined ? file : `${file}, document ${id}`;
      faults.push(...errors.map(({ message, locations: [first] = [] }) => `${at}:${first?.line ?? 1}: ${message}`));
      if (id !== undefined && id !== hash) {
        faults.push(`${at}: clients must name it by the SHA-256 of its text, ${hash}; set hashAlgorithm to sha256`);
      }
      if (document) found.set(hash, { hash, printedHash: sha256(print(document)), name: namesOf(document), text });
    }
  }
  if (faults.length > 0) throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
  return [...found.values()];
}

/** Adds those in files; returns their hashes. */
export async function add({ config, call, log }: CommandSession, files: readonly string[]): Promise<readonly string[]> {
  const documents = await readDocuments(files, config.limits, log);
  await addDocuments(call, documents);
  console.log(`${grouped(documents.length)} documents added; servers know them within a second`);
  return documents.map(({ hash }) => hash);
}

export async function list({ call }: CommandSession, json: boolean): Promise<void> {
  const documents = await listDocuments(call);
  if (json) console.log(JSON.stringify({ documents }, null, 2));
  else for (const { hash, name } of documents) console.log(printable(`${hash}  ${name}`));
  console.error(`${grouped(documents.length)} trusted documents`);
}

/** Removes those with these hashes or names, or all; returns their hashes. */
export async function remove(
  { call }: CommandSession,
  wanted: readonly string[],
  all: boolean,
): Promise<readonly string[]> {
  const documents = await listDocuments(call);
  const unknown = wanted.find((each) => !documents.some(({ hash, name }) => each === hash || each === name));
  if (unknown !== undefined || (wanted.length === 0) !== all) {
    const what = unknown === undefined ? 'pass hashes or names, or --all' : `no trusted document is named ${unknown}`;
    throw new CellportError('BAD_USER_INPUT', `${what}; \`cellport documents list\` shows all`);
  }
  const removed = documents.filter(({ hash, name }) => all || wanted.includes(hash) || wanted.includes(name));
  const hashes = removed.map(({ hash }) => hash);
  await removeDocuments(call, hashes);
  console.log(`${grouped(hashes.length)} documents removed; servers refuse them within a second`);
  return hashes;
}
