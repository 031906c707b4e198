import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';

import { CellportError } from '../errors.js';
import { checkDocument } from './document-limits.js';
import type { Limits } from '../model/limits.js';

/** A failure as Apollo Server answers it, with a status of its own. */
function refusal(error: unknown): unknown {
  if (!(error instanceof CellportError)) return error;
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: error.code, http: { status: 400 } },
  });
}

/** Throws what `check` throws in the shape that Apollo Server passes on. */
export function refusing(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw refusal(error);
  }
}

/** Characters of documents that are remembered as being within the limits. */
const REMEMBERED_CHARACTERS = 8 * 1024 * 1024;

/** Checks documents against the limits, each text once. What cannot be parsed passes: the parser will say why. */
export function documentChecker(limits: Limits): (source: string) => void {
  const known = new LRUCache<string, true>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_, text) => text.length + 1,
  });
  return (source) => {
    if (known.has(source)) return;
    try {
      checkDocument(source, limits);
    } catch (error) {
      if (error instanceof CellportError) throw refusal(error);
      return;
    }
    known.set(source, true);
  };
}
