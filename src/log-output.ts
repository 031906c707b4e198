import { writeSync } from 'node:fs';
import { pino } from 'pino';

import { CellportError } from './errors.js';
import { type Fields, LOG_LEVELS, type Log, type LogLevel, type Write, nothing } from './log.js';
import { countingRepeats } from './log-failures.js';

/** Whether an error is a fault of the program, of which only the stack says where; others come from outside. */
function isBug(error: unknown): boolean {
  if (error instanceof CellportError || !(error instanceof Error)) return false;
  return !('$metadata' in error) && typeof (error as NodeJS.ErrnoException).code !== 'string';
}

/** The messages of an error and its causes that are not in the text already. */
function reasons(error: unknown, text: string): string {
  let all = text;
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth += 1) {
    const reason = each.message === '' ? each.name : each.message;
    if (!all.includes(reason)) all += `: ${reason}`;
  }
  return all;
}

const LONGEST_LINE = 400;

/** A line for a reader at a terminal, without the control characters that a message may contain. */
function lineFor(level: string, { err, count }: Fields, message: string, stacks: boolean): string {
  const text = reasons(err, message).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const short = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
  const times = typeof count === 'number' ? ` (${count} more in the last second)` : '';
  const advice = !stacks && isBug(err) ? ' (CELLPORT_LOG=debug shows where)' : '';
  const stack = stacks && err instanceof Error ? `\n${err.stack ?? ''}` : '';
  return `${new Date().toISOString().slice(11, 19)} ${level.padEnd(5)} ${short}${times}${advice}${stack}\n`;
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

/** Writes one JSON object per line. The stack of what comes from outside says nothing, and is left out. */
function jsonLog(level: LogLevel, write: (line: string) => void): Log {
  const err = (error: unknown) => {
    const { stack, ...fields } = pino.stdSerializers.err(error as Error);
    return level === 'debug' || isBug(error) ? { stack, ...fields } : fields;
  };
  return pino({ name: 'cellport', level, serializers: { err } }, { write });
}

// Synchronous, so that the last line before a crash is written; standard output is for results.
const toStandardError = (line: string) => void writeSync(2, line);

/**
 * A logger that writes to standard error: a readable line to a terminal, a JSON object per line to anything else. Stacks
 * are shown with the level `debug`, and those of bugs in JSON. Equal failures are counted, see `countingRepeats`.
 */
export function createLog(level: LogLevel, terminal = process.stderr.isTTY, write = toStandardError): Log {
  const log = countingRepeats(terminal ? terminalLog(level, write) : jsonLog(level, write));
  process.once('exit', log.flush);
  return log;
}
