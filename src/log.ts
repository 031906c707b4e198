import { pino } from 'pino';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** What the parts of Cellport need of a logger: fields first, then one sentence. A failure goes under the field `err`. */
export interface Log {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

/** A logger that writes one JSON object a line to standard error, so that standard output stays for what was asked for. */
export function createLog(level: LogLevel): Log {
  // Written synchronously: the last line before a crash is the one that is needed.
  return pino({ name: 'cellport', level }, pino.destination({ fd: 2, sync: true }));
}

const nothing: Write = () => {};

/** A logger that forgets everything, for tests and for commands that speak to a human only. */
export const silentLog: Log = { error: nothing, warn: nothing, info: nothing, debug: nothing };
