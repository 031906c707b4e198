/** The error codes of the API, in `extensions.code`. */
export type ErrorCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'LIMIT_EXCEEDED'
  | 'THROTTLED'
  | 'UNAVAILABLE';

/**
 * An error that the caller can act on: its message and details are sent to the client. Any other error is a bug, which
 * is logged with its cause and masked.
 */
export class CellportError extends Error {
  readonly code: ErrorCode;
  /** Added to `extensions` next to the code, for example `{ field, value, allowed }` or `{ retryAfterMs }`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CellportError';
    this.code = code;
    this.details = details;
  }

  /** Copied by graphql-js into errors of servers that do not format them as this one does. */
  get extensions(): Readonly<Record<string, unknown>> {
    return { ...this.details, code: this.code };
  }
}

/** For `catch`: answers a CellportError, with one of some codes if any are given; throws other errors on. */
export const ifRefused =
  <T>(answer: (error: CellportError) => T, ...codes: readonly ErrorCode[]) =>
  (error: unknown): T => {
    if (error instanceof CellportError && (codes.length === 0 || codes.includes(error.code))) return answer(error);
    throw error;
  };

/** The reason for a failure that clients may see. The messages of others may name paths, hosts or accounts. */
export function reasonFor(error: unknown): string {
  return error instanceof CellportError ? error.message : 'an unexpected error; see the log of the server';
}

const LONGEST_VALUE_SHOWN = 80;

/**
 * Roughly the first `room` characters of a value as JSON. The value may be megabytes long, nested too deep for the
 * stack, or circular.
 */
function beginning(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  // Numbers in files may be bigints. JSON has no Infinity.
  if (typeof value !== 'object') return String(value as number | boolean | bigint | undefined);
  if (value === null || room <= 0) return value === null ? 'null' : '…';
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  let text = open ?? '';
  for (const name of Object.keys(value)) {
    if (text.length > room) break;
    const key = Array.isArray(value) ? '' : `${beginning(name, room - text.length)}:`;
    const separator = text.length > 1 ? ',' : '';
    const member = (value as Readonly<Record<string, unknown>>)[name];
    text += separator + key + beginning(member, room - text.length - key.length - 1);
  }
  return text + close;
}

/** Formats a value for a message: short, on one line, with NaN and Infinity by name. */
export function shown(value: unknown): string {
  const text = beginning(value, LONGEST_VALUE_SHOWN + 1);
  if (text.length <= LONGEST_VALUE_SHOWN) return text;
  const length = typeof value === 'string' ? ` (${value.length} characters)` : '';
  return `${text.slice(0, LONGEST_VALUE_SHOWN)}…${length}`;
}

/** The message for a value that is not allowed: names the field, what is allowed, and the value. */
export const mustBe = (field: string, allowed: string, value: unknown): string =>
  `${field} must be ${allowed}; got ${shown(value)}`;

/** BAD_USER_INPUT that names the field, its value and the allowed values. */
export function badInput(field: string, value: unknown, allowed: string): CellportError {
  return new CellportError('BAD_USER_INPUT', mustBe(field, allowed, value), { field, value: shown(value), allowed });
}

/** NOT_FOUND for a named object, for example `notFound('collection', 'parks')`. */
export function notFound(what: string, name: string): CellportError {
  return new CellportError('NOT_FOUND', `there is no ${what} ${shown(name)}`, { [what]: name });
}

/** LIMIT_EXCEEDED that names the field, its value and the limit, with advice. */
export function limitExceeded(
  field: string,
  value: number | string,
  limit: number | string,
  advice: string,
): CellportError {
  return new CellportError('LIMIT_EXCEEDED', `${field} is ${value}, the limit is ${limit}: ${advice}`, {
    field,
    value,
    limit,
  });
}
