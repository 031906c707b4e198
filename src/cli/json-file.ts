import { readFile } from 'node:fs/promises';

import { CellportError, reasonFor } from '../errors.js';
import { readMapping, type Mapping } from '../sources/mapping.js';

/** Far more than any file has that people write. */
const MOST_BYTES = 256 * 1024;

/** A JSON file, and what it says. */
export interface JsonFile<T> {
  readonly json: string;
  readonly value: T;
}

/** Reads a JSON file. Throws BAD_USER_INPUT naming the file, with a line for each fault that `read` finds. */
export async function readJsonFile<T>(path: string, read: (json: unknown) => T): Promise<JsonFile<T>> {
  const fail = (reason: string) => new CellportError('BAD_USER_INPUT', `${path}: ${reason}`, { file: path });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw fail((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : reasonFor(error));
  }
  if (text.length > MOST_BYTES) throw fail(`it has more than ${MOST_BYTES} bytes`);
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw fail(`it is not JSON: ${(error as Error).message}`);
  }
  try {
    return { value: read(json), json: JSON.stringify(json) };
  } catch (error) {
    throw error instanceof CellportError ? fail(error.message.replaceAll('\n', `\n${path}: `)) : error;
  }
}

/** A mapping as it is in a file, checked. */
export interface MappingFile {
  readonly json: string;
  readonly mapping: Mapping;
}

/** Reads the mapping in a file. Throws BAD_USER_INPUT naming the file, with a line for each fault. */
export async function readMappingFile(path: string): Promise<MappingFile> {
  const { json, value: mapping } = await readJsonFile(path, readMapping);
  return { json, mapping };
}
