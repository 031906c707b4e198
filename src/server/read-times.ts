import { systemClock } from '../clock.js';
import type { Database } from '../store/database.js';

const READS: readonly unknown[] = ['QueryCommand', 'BatchGetItemCommand', 'GetItemCommand'];
/** With fewer reads, the mean says little about the database. */
const FEWEST = 5;

/**
 * Starts measuring the reads of a database. The returned function gives the mean time in milliseconds of the reads that
 * ended since its last call, retries included; undefined if there were fewer than five.
 */
export function timeReads({ client }: Pick<Database, 'client'>): () => number | undefined {
  let count = 0;
  let sum = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (!READS.includes(commandName)) return next(args);
        const began = systemClock.now();
        try {
          return await next(args);
        } finally {
          count += 1;
          sum += systemClock.now() - began;
        }
      },
    { step: 'initialize' },
  );
  return () => {
    const mean = count < FEWEST ? undefined : sum / count;
    count = 0;
    sum = 0;
    return mean;
  };
}
