export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, unknown>>;
export type Write = (fields: LogFields, message: string) => void;

/** A logger: pass fields first, then one sentence. Errors go into the field `err`. */
export interface Log {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

/** A writer that discards its lines. */
export const nothing: Write = () => {};

/** A logger that discards everything. */
export const silentLog: Log = { error: nothing, warn: nothing, info: nothing, debug: nothing };
