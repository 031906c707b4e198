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

const LONGEST_QUOTED = 100;
const LONGEST_TEXT = 1_000;
const MAX_LOCATIONS = 10;

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);

/** A message with long names and values cut: they come from the client, and each error repeats them. */
function shortMessage(message: string): string {
  if (message.length <= LONGEST_QUOTED) return message;
  const quoted = /"(?:[^"\\]|\\.)*"?/g;
  // Cut twice: what is far too long is not searched for quotes.
  const shorter = cut(message, 10 * LONGEST_TEXT).replace(quoted, (text) =>
    text.length > LONGEST_QUOTED + 2 ? `${text.slice(0, LONGEST_QUOTED)}…"` : text,
  );
  return cut(shorter, LONGEST_TEXT);
}

/** An error that is safe to send, even if its texts quote a client. */
function answered(
  message: string,
  details: Readonly<Record<string, unknown>>,
  place: Pick<GraphQLFormattedError, 'locations' | 'path'> = {},
): GraphQLFormattedError {
  const extensions = Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' ? cut(value, LONGEST_TEXT) : value,
    ]),
  );
  return { message: shortMessage(message), ...place, extensions };
}

/** Where in the document an error is. `readDocument` says why graphql-js is not asked. */
function placeOf({ nodes, locations, path }: GraphQLError): Pick<GraphQLFormattedError, 'locations' | 'path'> {
  const places = nodes?.flatMap(({ loc }) =>
    loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : [],
  );
  const found = places?.slice(0, MAX_LOCATIONS) ?? locations;
  return { ...(found === undefined ? {} : { locations: found }), ...(path === undefined ? {} : { path }) };
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
  return answered(error.message, { ...error.details, code: error.code });
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
    const place = outer ? placeOf(outer) : {};
    const { path } = place;
    const cause = causeOf(error);
    const ours = cause instanceof CellportError ? cause : undefined;
    if (outer && SAFE.includes(outer.extensions['code'])) {
      return answered(outer.message, { ...ours?.details, code: outer.extensions['code'] }, place);
    }
    if (outer && isInvalidRequest(outer)) {
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
