/** The contract's error codes: what a client may switch on in `extensions.code`. */
export type ErrorCode = 'BAD_USER_INPUT' | 'NOT_FOUND' | 'CONFLICT' | 'LIMIT_EXCEEDED' | 'THROTTLED' | 'UNAVAILABLE';

/**
 * A failure that the caller can act on: its message and details reach the client unmasked. Anything else that is
 * thrown is a broken promise of ours, is logged with its cause and masked outside.
 */
export class CellportError extends Error {
  readonly code: ErrorCode;
  /** Goes into `extensions` beside the code, e.g. `{ field, value, allowed }` or `{ retryAfterMs }`. */
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

/** JSON as far as there is one: numbers from files may be bigints, and what is nested without end cannot be written. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  } catch {
    return '…';
  }
}

/** The value as it may stand in a message: short, on one line, NaN and Infinity by name. */
function shown(value: unknown): string {
  const isJson = typeof value === 'string' || typeof value === 'object';
  const text = isJson ? written(value) : String(value as number | boolean | bigint | undefined);
  return text.length > LONGEST_VALUE_SHOWN
    ? `${text.slice(0, LONGEST_VALUE_SHOWN)}… (${text.length} characters)`
    : text;
}

/** BAD_USER_INPUT that names the field, the value it had and what is allowed there. */
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

/** LIMIT_EXCEEDED: what was asked for, how much it would take, how much is allowed and what to do instead. */
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
