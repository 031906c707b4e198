/** The error codes of the API, in `extensions.code`. */
export type ErrorCode =
  'BAD_USER_INPUT' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'LIMIT_EXCEEDED' | 'THROTTLED' | 'UNAVAILABLE';

/**
 * An error that the caller can act on: its message and details reach the client. Any other error is a bug, which is logged
 * with its cause and masked.
 */
export class CellportError extends Error {
  readonly code: ErrorCode;
  /** Goes into `extensions` with the code, e.g. `{ field, value, allowed }` or `{ retryAfterMs }`. */
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
}

const LONGEST_VALUE_SHOWN = 80;

/** The value as JSON, as far as possible: numbers from files may be bigints, and values may be circular or nested too deep. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  } catch {
    return '…';
  }
}

/** The value for a message: short, on one line, NaN and Infinity by name. */
function shown(value: unknown): string {
  const isJson = typeof value === 'string' || typeof value === 'object';
  const text = isJson ? written(value) : String(value as number | boolean | bigint | undefined);
  return text.length > LONGEST_VALUE_SHOWN
    ? `${text.slice(0, LONGEST_VALUE_SHOWN)}… (${text.length} characters)`
    : text;
}

/** BAD_USER_INPUT that names the field, its value and what is allowed. */
export function badInput(field: string, value: unknown, allowed: string): CellportError {
  const text = shown(value);
  return new CellportError('BAD_USER_INPUT', `${field} must be ${allowed}; got ${text}`, {
    field,
    value: text,
    allowed,
  });
}

/** NOT_FOUND for one thing by its name, e.g. `notFound('collection', 'parks')`. */
export function notFound(what: string, name: string): CellportError {
  return new CellportError('NOT_FOUND', `there is no ${what} ${shown(name)}`, { [what]: name });
}

/** LIMIT_EXCEEDED: the field, its value, the limit and what to do instead. */
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
