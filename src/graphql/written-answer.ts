import { CellportError } from '../errors.js';
import { formatted } from './error-format.js';
import { spliced, stringify } from './json-text.js';
import type { OperationResult } from './operation-result.js';

/** The JSON of an answer to one event, written in pieces; of an error if it is longer than `maxBytes`. */
export async function writtenAnswer(answer: OperationResult, maxBytes: number): Promise<string> {
  try {
    return String(spliced(await stringify(answer, maxBytes)));
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
    return JSON.stringify({ errors: [formatted(error)] });
  }
}
