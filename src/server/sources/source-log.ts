import type { Log } from '../../log.js';
import type { SourceCollection } from '../../store/source/source-mapping.js';

/** A log whose lines name a source. The message does, too: a terminal shows no fields, and equal messages are counted as one. */
export function sourceLog(log: Log, { key, source: { table } }: SourceCollection): Log {
  const named =
    (level: keyof Log): Log['error'] =>
    (fields, message) =>
      log[level]({ collection: key, table, ...fields }, `source ${key}: ${message}`);
  return { error: named('error'), warn: named('warn'), info: named('info'), debug: named('debug') };
}
