import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Limits } from '../../model/limits.js';
import type { FormatError } from '../error-format.js';
import { documentBytes, readDocument } from '../limits/document-limits.js';

/** A valid document, or the errors for which it is refused, as clients see them. */
export type Verdict =
  | { readonly document: DocumentNode; readonly errors?: undefined }
  | { readonly document?: undefined; readonly errors: readonly GraphQLFormattedError[] };

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
  readonly introspection: boolean;
  readonly format: FormatError;
}

/** The first errors are enough to fix a document or its variables; each one costs a search for similar names. */
export const MAX_ERRORS = 20;

/** Memory for cached verdicts. */
const CACHE_BYTES = 32 * 1024 * 1024;
const BYTES_OF_ERROR = 3_000;

/** Adds the code that graphql-js does not set. */
function withCode(error: unknown, code: string): unknown {
  if (!(error instanceof GraphQLError)) return error;
  const { message, nodes = null, source, positions, originalError } = error;
  return new GraphQLError(message, { nodes, source, positions, originalError, extensions: { code } });
}

/**
 * Returns a reader that parses and validates each text once, however many requests and subscriptions send it at the
 * same time. Refused documents are cached, too.
 */
export function documentReader({ schema, limits, introspection, format }: DocumentOptions): (text: string) => Verdict {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const known = new LRUCache<string, Verdict>({ maxSize: CACHE_BYTES });

  /** Even with `hideSuggestions`, graphql-js asks "Did you mean" about subfields. */
  const worded = (error: GraphQLError) => {
    if (!introspection) error.message = error.message.replace(/ Did you mean .*$/s, '');
    return withCode(error, 'GRAPHQL_VALIDATION_FAILED');
  };

  function judge(text: string): { readonly verdict: Verdict; readonly bytes: number } {
    try {
      const document = readDocument(text, limits);
      const found = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection });
      if (found.length === 0) return { verdict: { document }, bytes: documentBytes(document) };
      const errors = found.map((error) => format(worded(error)));
      return { verdict: { errors }, bytes: errors.length * BYTES_OF_ERROR };
    } catch (error) {
      return { verdict: { errors: [format(withCode(error, 'GRAPHQL_PARSE_FAILED'))] }, bytes: BYTES_OF_ERROR };
    }
  }

  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const { verdict, bytes } = judge(text);
    // Caching a text longer than the limit would cost more than refusing it again.
    if (text.length <= limits.maxDocumentBytes) known.set(text, verdict, { size: bytes + 2 * text.length + 1 });
    return verdict;
  };
}
