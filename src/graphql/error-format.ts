import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { ClientGone } from './work.js';

/** What was thrown at first, however often graphql-js and Apollo Server have wrapped it. */
function causeOf(error: unknown): unknown {
  let inner = error;
  while (inner instanceof GraphQLError && inner.originalError !== undefined) inner = inner.originalError;
  return inner;
}

/** Where graphql-js says in a variable's message which part of it was wrong. */
const AT_PATH = /^Variable "\$([^"]+)" got invalid value .*? at "([^"]+)"; /s;
const WHOLE_VARIABLE = /^Variable "\$([^"]+)" /;

/** Path of the input that a coercion error speaks of, e.g. `bounds.west`. */
function fieldOf(message: string): string | undefined {
  return AT_PATH.exec(message)?.[2] ?? WHOLE_VARIABLE.exec(message)?.[1];
}

/** Codes of Apollo Server for requests that are wrong as such; the contract has one for all of them. */
const WRONG_REQUEST = new Set(['BAD_REQUEST', 'BAD_USER_INPUT', 'OPERATION_RESOLUTION_FAILURE']);
/** Codes that say what is wrong with a document or its transport and tell nothing of ours. */
const SAFE = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_NOT_FOUND',
]);

/** An argument or a directive that turns out wrong only once its variables are known. */
const isArgumentError = (error: unknown) => error instanceof GraphQLError && error.message.startsWith('Argument "');

export const MASKED: GraphQLFormattedError = {
  message: 'Internal server error',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
};

/** A failure of ours as it stands in an answer. */
export function formatted(error: CellportError): GraphQLFormattedError {
  return { message: error.message, extensions: { ...error.details, code: error.code } };
}

/**
 * What a client is told of an error: failures that it can act on with the contract's codes, everything unexpected
 * masked. What is masked is logged with its cause, and so is what DynamoDB did to us.
 */
export function errorFormatter(log: Log): (told: GraphQLFormattedError, error: unknown) => GraphQLFormattedError {
  // One failure of DynamoDB fails every field that waited for the same read: one line is enough.
  const logged = new WeakSet<Error>();
  return (told, error) => {
    const place = {
      ...(told.locations === undefined ? {} : { locations: told.locations }),
      ...(told.path === undefined ? {} : { path: told.path }),
    };
    const code = String(told.extensions?.['code']);
    const cause = causeOf(error);
    const ours = cause instanceof CellportError ? cause : undefined;
    if (SAFE.has(code)) return { message: told.message, ...place, extensions: { ...ours?.details, code } };
    if (WRONG_REQUEST.has(code) || isArgumentError(error)) {
      const field = fieldOf(told.message);
      const details = { ...ours?.details, ...(field === undefined ? {} : { field }) };
      return { message: told.message, ...place, extensions: { ...details, code: 'BAD_USER_INPUT' } };
    }
    if (ours !== undefined) {
      if ((ours.code === 'UNAVAILABLE' || ours.code === 'THROTTLED') && !logged.has(ours)) {
        logged.add(ours);
        log.warn({ err: ours, path: told.path }, ours.message);
      }
      return { ...formatted(ours), ...place };
    }
    if (!(cause instanceof ClientGone)) log.error({ err: cause, path: told.path }, 'A request met an unexpected error');
    return { ...MASKED, ...place };
  };
}
