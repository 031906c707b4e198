import { CellportError } from '../../errors.js';
import { formatted } from '../error-format.js';
import { spliced, stringify } from './json-text.js';
import type { OperationResult } from './operation-result.js';

/** Serializes the answer to one event as JSON, in pieces; an error instead if it is longer than `maxBytes`. */
export async function writtenAnswer(answer: OperationResult, maxBytes: number): Promise<string> {
  try {
    return String(spliced(await stringify(answer, maxBytes)));
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
    return JSON.stringify({ errors: [formatted(error)] });
  }
}
