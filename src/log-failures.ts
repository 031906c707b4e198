import type { LogFields, Log, Write } from './log.js';

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

/** A logger that also reports counts it has not written yet. */
interface CountingLog extends Log {
  readonly flush: () => void;
}

/**
 * Returns a logger that writes the first of several equal failures at once, and then once a second the number of
 * repetitions as `count`: an outage fails every request.
 */
export function countingRepeats(log: Log): CountingLog {
  const failures = new Map<string, Failure>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [key, failure] of failures) {
      const { write, fields, message, count } = failure;
      failure.count = 0;
      if (count === 0) failures.delete(key);
      else write({ ...fields, count }, message);
    }
    if (failures.size > 0) timer = setTimeout(flush, COUNT_EVERY_MS).unref();
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
      timer ??= setTimeout(flush, COUNT_EVERY_MS).unref();
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
    flush,
  };
}
