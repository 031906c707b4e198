import { Command } from 'commander';

import { EXIT_CODES, wholeNumber } from './options.js';
import { withDatabase } from './session.js';

/** A command whose work is loaded when it runs. */
function subcommand(name: string, description: string): Command {
  return new Command(name).description(description).addHelpText('after', EXIT_CODES);
}

export function sourceCommand(): Command {
  const command = new Command('source').description(
    'Find out which items of a table of yours can be markers, without writing to it. See docs/sources.md',
  );
  command.addCommand(
    subcommand('propose', 'Look at up to 500 items of a table and print a mapping of those that have a position')
      .requiredOption('--table <name>', 'the table')
      .option('--kind <name>', 'the kind of items (the commonest)')
      .action((options: { readonly table: string; readonly kind?: string }) =>
        withDatabase(async (session) => (await import('./source/propose.js')).proposeMapping(session, options)),
      ),
  );
  command.addCommand(
    subcommand('check', 'Try a mapping on a sample of its table; writes nothing')
      .argument('<file>', 'the mapping')
      .option('--sample <n>', 'items to look at (500)', wholeNumber(1, 100_000))
      .action((file: string, { sample }: { readonly sample?: number }) =>
        withDatabase(async (session) => (await import('./source/check.js')).checkMapping(session, file, sample)),
      ),
  );
  return command;
}
