import { writeSync } from 'node:fs';
import { pino } from 'pino';

import { systemClock } from './clock.js';
import { CellportError } from './errors.js';
import { LOG_LEVELS, nothing, type Log, type LogFields, type LogLevel, type Write } from './log.js';

const COUNT_EVERY_MS = 1_000;
/** Number of different failures tracked within a second; all others are counted together. */
const MOST_FAILURES = 100;

interface Failure {
  readonly write: Write;
  readonly fields: LogFields;
  readonly message: string;
  count: number;
}

/** Identifies equal failures. Numbers in messages are ignored, because they are often durations and sizes. */
function keyOf(level: string, { err }: LogFields, message: string): string {
  const { name, code } = err instanceof Error ? (err as NodeJS.ErrnoException) : {};
  const cause = err instanceof Error ? err.message.slice(0, 200).replaceAll(/\d+/g, '0') : '';
  return [level, message, code ?? name, cause].join('\n');
}

/**
 * Returns a logger that writes the first of several equal failures at once, and then once a second the number of
 * repetitions as `count`: an outage fails every request.
 */
function countingRepeats(log: Log): Log {
  const failures = new Map<string, Failure>();
  let timer: NodeJS.Timeout | undefined;

  // Only while something is counted: a process may open and close many servers.
  function flushLater(): void {
    if (timer !== undefined) return;
    timer = setTimeout(flush, COUNT_EVERY_MS).unref();
    process.once('exit', flush);
  }

  function flush(): void {
    clearTimeout(timer);
    process.off('exit', flush);
    timer = undefined;
    for (const [key, failure] of failures) {
      const { write, fields, message, count } = failure;
      failure.count = 0;
      if (count === 0) failures.delete(key);
      else write({ ...fields, count }, message);
    }
    if (failures.size > 0) flushLater();
  }

  function counted(level: 'error' | 'warn'): Write {
    return (fields, message) => {
      const key = keyOf(level, fields, message);
      const known = failures.get(key) ?? (failures.size < MOST_FAILURES ? undefined : failures.get(level));
      if (known !== undefined) {
        known.count += 1;
        return;
      }
      const write: Write = (...line) => log[level](...line);
      flushLater();
      if (failures.size < MOST_FAILURES) {
        failures.set(key, { write, fields, message, count: 0 });
        write(fields, message);
      } else {
        failures.set(level, { write, fields: {}, message: 'other failures', count: 1 });
      }
    };
  }

  return {
    error: counted('error'),
    warn: counted('warn'),
    info: (...line) => log.info(...line),
    debug: (...line) => log.debug(...line),
  };
}

/** Whether an error is a bug, which only its stack locates, rather than an external failure. */
function isBug(error: unknown): boolean {
  if (error instanceof CellportError || !(error instanceof Error)) return false;
  return !('$metadata' in error) && typeof (error as NodeJS.ErrnoException).code !== 'string';
}

/** The messages of an error and its causes that `text` does not contain yet. */
function reasons(error: unknown, text: string): string {
  let all = text;
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth += 1) {
    const reason = each.message === '' ? each.name : each.message;
    if (!all.includes(reason)) all += `: ${reason}`;
  }
  return all;
}

const LONGEST_LINE = 400;

/** A line for a terminal, without control characters that the message may contain. */
function lineFor(level: string, { err, count }: LogFields, message: string, stacks: boolean): string {
  const text = reasons(err, message).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const short = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
  const times = typeof count === 'number' ? ` (${count} more in the last second)` : '';
  const advice = !stacks && isBug(err) ? ' (CELLPORT_LOG=debug shows where)' : '';
  const stack = stacks && err instanceof Error ? `\n${err.stack ?? ''}` : '';
  return `${new Date(systemClock.wall()).toISOString().slice(11, 19)} ${level.padEnd(5)} ${short}${times}${advice}${stack}\n`;
}

/** Writes readable lines. */
function terminalLog(level: LogLevel, write: (line: string) => void): Log {
  const most = LOG_LEVELS.indexOf(level);
  const at = (name: LogLevel): Write =>
    LOG_LEVELS.indexOf(name) > most
      ? nothing
      : (fields, message) => write(lineFor(name, fields, message, level === 'debug'));
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** Writes one JSON object per line. Stacks of external failures are omitted as uninformative. */
function jsonLog(level: LogLevel, write: (line: string) => void): Log {
  const err = (error: unknown) => {
    const { stack, ...fields } = pino.stdSerializers.err(error as Error);
    return level === 'debug' || isBug(error) ? { stack, ...fields } : fields;
  };
  return pino({ name: 'cellport', level, serializers: { err } }, { write });
}

// Synchronous, so that the last line before a crash is written. Standard output is reserved for results.
const toStandardError = (line: string) => {
  try {
    writeSync(2, line);
  } catch {
    // Its reader has gone, or does not keep up: no work must fail because of that.
  }
};

/**
 * Creates a logger that writes to standard error: readable lines to a terminal, otherwise one JSON object per line.
 * Stacks are written at level `debug`, and for bugs always in JSON. Equal failures are counted, see `countingRepeats`.
 */
export function createLog(level: LogLevel, terminal = process.stderr.isTTY, write = toStandardError): Log {
  return countingRepeats(terminal ? terminalLog(level, write) : jsonLog(level, write));
}
