import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import { CellportError, type ErrorCode } from '../errors.js';
import type { Log } from '../log.js';
import { ClientGone } from './work.js';

/** An error as a client sees it. */
export type FormatError = (error: unknown) => GraphQLFormattedError;

/** The innermost error, without the wrappers of graphql-js and Apollo Server. */
function causeOf(error: unknown): unknown {
  let inner = error;
  while (inner instanceof GraphQLError && inner.originalError !== undefined) inner = inner.originalError;
  return inner;
}

const LONGEST_QUOTED = 100;
const LONGEST_TEXT = 1_000;
const MAX_LOCATIONS = 10;

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);

/** Shortens long names and values in a message: they come from the client, and each error repeats them. */
function shortMessage(message: string): string {
  if (message.length <= LONGEST_QUOTED) return message;
  const quoted = /"(?:[^"\\]|\\.)*"?/g;
  // Cut before searching for quotes, too: searching a very long text is slow.
  const shorter = cut(message, 10 * LONGEST_TEXT).replace(quoted, (text) =>
    text.length > LONGEST_QUOTED + 2 ? `${text.slice(0, LONGEST_QUOTED)}…"` : text,
  );
  return cut(shorter, LONGEST_TEXT);
}

/** An error that is safe to send, even if its message quotes a client. */
function answered(
  message: string,
  details: Readonly<Record<string, unknown>>,
  place: Partial<GraphQLFormattedError> = {},
): GraphQLFormattedError {
  const extensions = Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' ? cut(value, LONGEST_TEXT) : value,
    ]),
  );
  return { message: shortMessage(message), ...place, extensions };
}

/** The location and path of an error. See `readDocument` for why graphql-js is not asked for the location. */
function placeOf({ nodes, locations, path }: GraphQLError): Partial<GraphQLFormattedError> {
  const places = nodes?.flatMap(({ loc }) =>
    loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : [],
  );
  const found = places?.slice(0, MAX_LOCATIONS) ?? locations;
  return { ...(found === undefined ? {} : { locations: found }), ...(path === undefined ? {} : { path }) };
}

/** Apollo Server's codes for invalid requests; this API uses one code for all of them. */
const INVALID_REQUEST: readonly unknown[] = ['BAD_REQUEST', 'BAD_USER_INPUT', 'OPERATION_RESOLUTION_FAILURE'];
/** Codes of errors in a document or its transport, whose messages reveal nothing internal. */
const SAFE: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_NOT_FOUND',
];

function isInvalidRequest({ message, path, nodes, originalError, extensions: { code } }: GraphQLError): boolean {
  // Some arguments and directives prove invalid only once their variables are known.
  if (INVALID_REQUEST.includes(code) || message.startsWith('Argument "')) return true;
  // graphql-js gives no path for errors in variables or in the name of the operation.
  return code === undefined && path === undefined && (nodes !== undefined || originalError === undefined);
}

export const MASKED: GraphQLFormattedError = {
  message: 'Internal server error',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
};

const STATUS: Partial<Record<ErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  THROTTLED: 429,
  UNAVAILABLE: 503,
};

/** The HTTP status of an error that a client can act on. */
export const statusOfCode = (code: unknown): number => STATUS[code as ErrorCode] ?? 400;

/** A CellportError as it appears in a response. */
export function formatted(error: CellportError): GraphQLFormattedError {
  return answered(error.message, { ...error.details, code: error.code });
}

/**
 * Returns a formatter of errors for clients: errors that a client can act on keep their code and message, all others
 * are masked. Masked errors are logged with their cause, as are failures of DynamoDB.
 */
export function errorFormatter(log: Log): FormatError {
  // One failure of DynamoDB fails every field that waits for the same read, but is logged once.
  const logged = new WeakSet<Error>();
  return (error) => {
    const outer = error instanceof GraphQLError ? error : undefined;
    const place = outer ? placeOf(outer) : {};
    const { path } = place;
    const cause = causeOf(error);
    const ours = cause instanceof CellportError ? cause : undefined;
    if (outer && SAFE.includes(outer.extensions['code'])) {
      return answered(outer.message, { ...ours?.details, code: outer.extensions['code'] }, place);
    }
    if (outer && (ours !== undefined || cause instanceof GraphQLError) && isInvalidRequest(outer)) {
      const { field } = outer.extensions;
      const details = { ...ours?.details, ...(field === undefined ? {} : { field }) };
      return answered(outer.message, { ...details, code: 'BAD_USER_INPUT' }, place);
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
