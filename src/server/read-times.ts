import type { Database } from '../store/database.js';

const READS: readonly unknown[] = ['QueryCommand', 'BatchGetItemCommand', 'GetItemCommand'];
/** Fewer say little about the database. */
const FEWEST = 5;

/**
 * Measures the reads of a database from here on. The function that it returns gives the mean time of those that have ended
 * since it was last called, retries included; undefined if they were few.
 */
export function timeReads({ client }: Pick<Database, 'client'>): () => number | undefined {
  let count = 0;
  let sum = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (!READS.includes(commandName)) return next(args);
        const began = performance.now();
        try {
          return await next(args);
        } finally {
          count += 1;
          sum += performance.now() - began;
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
