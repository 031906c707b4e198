import { pino } from 'pino';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** A logger: takes fields first, then one sentence. Errors go into the field `err`. */
export interface Log {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

/** A logger that writes one JSON object per line to standard error; standard output is for results. */
export function createLog(level: LogLevel): Log {
  // Synchronous, so that the last line before a crash is written.
  return pino({ name: 'cellport', level }, pino.destination({ fd: 2, sync: true }));
}

const nothing: Write = () => {};

/** A logger that discards everything. */
export const silentLog: Log = { error: nothing, warn: nothing, info: nothing, debug: nothing };
