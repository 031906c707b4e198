import { Command, Option } from 'commander';

import { grouped, printable } from './progress.js';
import { wholeNumber, withDatabase, type CommandSession } from './session.js';

interface DeadLetterOptions {
  readonly stream?: boolean;
  readonly first: number;
  readonly after?: string;
  readonly json?: boolean;
}

/** Prints one page of dead letters to standard output, and their number to standard error. */
async function run(
  { database, signal }: CommandSession,
  { stream = false, first, after, json = false }: DeadLetterOptions,
): Promise<void> {
  const { listDeadLetters } = await import('../server/dead-letters.js');
  const of = stream ? 'derived' : 'search';
  const { letters, next, total } = await listDeadLetters(database, of, { first, after }, signal);
  if (json) {
    const deadLetters = letters.map(({ item, reason, event }) => ({ item, reason, event }));
    console.log(JSON.stringify({ deadLetters, total, next }, null, 2));
    return;
  }
  for (const { item, reason } of letters) console.log(printable(`${item}  ${reason}`));
  const more = next === null ? '' : `; next page: --after ${next}`;
  console.error(`${grouped(letters.length)} of ${grouped(total)} dead letters${more}`);
}

export function deadLettersCommand(): Command {
  return new Command('dead-letters')
    .description('Count and list dead letters: documents that OpenSearch rejected, and why')
    .option('--stream', 'list records of the stream that could not be counted instead')
    .addOption(new Option('-n, --first <n>', 'dead letters per page').argParser(wholeNumber(1, 1_000)).default(20))
    .option('--after <cursor>', 'continue after this cursor, which the previous page printed')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\n\`cellport reindex --dead-letters\` tries again to index the documents. See docs/search.md and docs/stream.md.`,
    )
    .action((options: DeadLetterOptions) => withDatabase((session) => run(session, options)));
}
