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
import type { TrustedDocument } from '../../store/document/documents.js';

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
export async function readDocuments(
  files: readonly string[],
  limits: Limits,
  log: Log,
): Promise<readonly TrustedDocument[]> {
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
