import { Command, Option } from 'commander';

import { changing } from './changing.js';
import type { DeleteOptions } from './delete.js';
import { interval, subcommands, wholeNumber, withDatabase } from './session.js';
import type { CheckOptions } from './source/check.js';
import type { ChangeOptions, SourceOptions } from './source/create.js';

/** What three of the commands do, which is loaded when one runs. */
const create = () => import('./source/create.js');

/** Adds what is done before there is a source. */
function addTrials(subcommand: ReturnType<typeof subcommands>): void {
  subcommand('propose', 'Look at up to 500 items of a table, and print a mapping for those that have a position')
    .requiredOption('--table <name>', 'the table')
    .option('--kind <name>', 'kind of items to map (default: the most common)')
    .addOption(
      new Option('--preset <name>', 'library that writes the table: dynamodb-geo is the Geo Library for DynamoDB')
        .choices(['dynamodb-geo'])
        .conflicts('kind'),
    )
    .action((options: { readonly table: string; readonly kind?: string; readonly preset?: 'dynamodb-geo' }) =>
      withDatabase(async (session) => {
        const mapping = await (await import('./source/propose.js')).proposeMapping(session, options);
        console.error('Save this as a file, e.g. mapping.json, and try it with: cellport source check mapping.json');
        console.log(mapping);
      }),
    );
  subcommand('check', 'Try a mapping on a sample of its table; writes nothing')
    .argument('<file>', 'the mapping')
    .option('--sample <n>', 'number of items to try (default: 500)', wholeNumber(1, 100_000))
    .option('--every <interval>', 'as for `source create`', interval)
    .action((file: string, options: CheckOptions) =>
      withDatabase(async (session) => (await import('./source/check.js')).checkMapping(session, file, options)),
    );
}

export function sourceCommand(): Command {
  const command = new Command('source').description(
    'Show a table of yours on a map: Cellport follows it, and never writes to it. See docs/sources.md',
  );
  const subcommand = subcommands(command);
  addTrials(subcommand);
  subcommand('create', 'Create a collection that follows a table, and fill it; run it again if it was interrupted')
    .argument('<key>', 'key of the new collection')
    .argument('<file>', 'the mapping')
    .option('--name <name>', 'name of the collection (default: its key)')
    .option('--code <code>', 'two-character code of the collection, for compact keys')
    .option(
      '--every <interval>',
      'read the whole table at this interval, such as 1h, instead of following its stream',
      interval,
    )
    .option(
      '--max-rcu <n>',
      'most read units per second for reading the whole table (default: no limit)',
      wholeNumber(1, 1_000_000),
    )
    .action((key: string, file: string, options: SourceOptions) =>
      changing({ what: 'source create', collection: key }, async (session) =>
        (await create()).createSource(session, key, file, options),
      ),
    );
  subcommand('change', 'Give a source another mapping; maps show the old one until the table has been read')
    .argument('<key>', 'key of the collection')
    .argument('<file>', 'the new mapping')
    .option('--every <interval>', 'as for `source create`', interval)
    .option('--no-every', 'follow the stream instead of reading the whole table')
    .option('--max-rcu <n>', 'as for `source create`', wholeNumber(1, 1_000_000))
    .action((key: string, file: string, options: ChangeOptions) =>
      changing({ what: 'source change', collection: key }, async (session) =>
        (await create()).changeSource(session, key, file, options),
      ),
    );
  subcommand('status', 'Show which collections follow which tables, how far behind they are, and what was rejected')
    .argument('[key]', 'key of the collection (default: all that follow a table)')
    .option('--json', 'print JSON')
    .action((key: string | undefined, { json = false }: { readonly json?: boolean }) =>
      withDatabase(async (session) => (await import('./source/status.js')).printSources(session, key, json)),
    );
  subcommand('verify', 'Compare all items of the table with the map; fails if they differ')
    .argument('<key>', 'key of the collection')
    .option('--repair', 'if they differ, fill the collection again')
    .action((key: string, { repair = false }: { readonly repair?: boolean }) =>
      withDatabase(async (session) => (await create()).verifySource(session, key, repair)),
    );
  subcommand('delete', 'Delete a collection that follows a table, and its maps and counts; the table stays as it is')
    .argument('<key>', 'key of the collection')
    .option('--yes', 'do not ask for confirmation; required without a terminal')
    .option('--wait', 'wait until the key is free again: a minute or more')
    .action((key: string, options: DeleteOptions) =>
      changing({ what: 'source delete', collection: key }, async (session) =>
        (await import('./delete.js')).deleteSource(session, key, options),
      ),
    );
  return command;
}
