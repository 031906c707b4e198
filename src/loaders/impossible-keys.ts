import { CellportError } from '../errors.js';
import type { Key } from '../keys/document-id.js';

/** A key; undefined for an impossible name, because one that is too long would fail the whole batch. */
export function ifPossible(make: () => Key): Key | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof CellportError) return undefined;
    throw error;
  }
}
