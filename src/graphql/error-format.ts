import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { ClientGone } from './work.js';

/** An error as a client sees it. */
export type FormatError = (error: unknown) => GraphQLFormattedError;

/** The innermost error, under everything that graphql-js and Apollo Server have wrapped around it. */
function causeOf(error: unknown): unknown {
  let inner = error;
  while (inner instanceof GraphQLError && inner.originalError !== undefined) inner = inner.originalError;
  return inner;
}

/** How graphql-js names the invalid part of a variable. */
const AT_PATH = /^Variable "\$([^"]+)" got invalid value .*? at "([^"]+)"; /s;
const WHOLE_VARIABLE = /^Variable "\$([^"]+)" /;

/** The path of the input that a coercion error is about, e.g. `bounds.west`. */
function fieldOf(message: string): string | undefined {
  return AT_PATH.exec(message)?.[2] ?? WHOLE_VARIABLE.exec(message)?.[1];
}

/** Apollo Server's codes for invalid requests; the API has one code for all of them. */
const INVALID_REQUEST: readonly unknown[] = ['BAD_REQUEST', 'BAD_USER_INPUT', 'OPERATION_RESOLUTION_FAILURE'];
/** Codes of errors in a document or its transport, whose messages reveal nothing internal. */
const SAFE: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_NOT_FOUND',
];

function isInvalidRequest({ message, path, nodes, originalError, extensions: { code } }: GraphQLError): boolean {
  // An argument or a directive may turn out to be invalid only when its variables are known.
  if (INVALID_REQUEST.includes(code) || message.startsWith('Argument "')) return true;
  // graphql-js gives no path to what is wrong with variables or the name of the operation.
  return code === undefined && path === undefined && (nodes !== undefined || originalError === undefined);
}

export const MASKED: GraphQLFormattedError = {
  message: 'Internal server error',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
};

/** A CellportError as it appears in a response. */
export function formatted(error: CellportError): GraphQLFormattedError {
  return { message: error.message, extensions: { ...error.details, code: error.code } };
}

/** Throws what `check` throws; a CellportError in the form that Apollo Server answers with the HTTP status 400 or 403. */
export function asBadRequest(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof CellportError)) throw error;
    throw new GraphQLError(error.message, {
      originalError: error,
      extensions: { http: { status: error.code === 'FORBIDDEN' ? 403 : 400 } },
    });
  }
}

/**
 * Formats errors for clients: those that a client can act on with the codes of the API, all others masked. Masked errors
 * are logged with their cause, and so are failures of DynamoDB.
 */
export function errorFormatter(log: Log): FormatError {
  // One failure of DynamoDB fails every field that waits for the same read, and is logged once.
  const logged = new WeakSet<Error>();
  return (error) => {
    const outer = error instanceof GraphQLError ? error : undefined;
    const path = outer?.path;
    const place = {
      ...(outer?.locations === undefined ? {} : { locations: outer.locations }),
      ...(path === undefined ? {} : { path }),
    };
    const cause = causeOf(error);
    const ours = cause instanceof CellportError ? cause : undefined;
    if (outer && SAFE.includes(outer.extensions['code'])) {
      const { message, extensions } = outer;
      return { message, ...place, extensions: { ...ours?.details, code: extensions['code'] } };
    }
    if (outer && isInvalidRequest(outer)) {
      const field = fieldOf(outer.message);
      const details = { ...ours?.details, ...(field === undefined ? {} : { field }) };
      return { message: outer.message, ...place, extensions: { ...details, code: 'BAD_USER_INPUT' } };
    }
    if (ours !== undefined) {
      if ((ours.code === 'UNAVAILABLE' || ours.code === 'THROTTLED') && !logged.has(ours)) {
        logged.add(ours);
        log.warn({ err: ours, path }, ours.message);
      }
      return { ...formatted(ours), ...place };
    }
    if (!(cause instanceof ClientGone)) log.error({ err: cause, path }, 'A request failed with an unexpected error');
    return { ...MASKED, ...place };
  };
}
