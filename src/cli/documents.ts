import { Command } from 'commander';

import { changing } from './changing.js';
import { subcommands, withDatabase } from './session.js';

/** The work of the commands, which is loaded when one runs. */
const work = () => import('./documents/run.js');

export function documentsCommand(): Command {
  const command = new Command('documents').description(
    'The GraphQL documents that servers execute if CELLPORT_DOCUMENTS is trusted. See docs/security.md',
  );
  const subcommand = subcommands(command);
  subcommand('add', 'Check documents against the schema, and trust them')
    .argument('<files...>', '.graphql files, or manifests of persisted documents of graphql-codegen or Apollo')
    .action((files: readonly string[]) =>
      changing({ what: 'documents add' }, async (session) => (await work()).add(session, files)),
    );
  subcommand('list', 'List the trusted documents: the SHA-256 of their texts, and the names of their operations')
    .option('--json', 'print JSON, with the texts')
    .action(({ json = false }: { readonly json?: boolean }) =>
      withDatabase(async (session) => (await work()).list(session, json)),
    );
  subcommand('remove', 'Trust documents no longer')
    .argument('[documents...]', 'their hashes or names')
    .option('--all', 'all of them')
    .action((wanted: readonly string[], { all = false }: { readonly all?: boolean }) =>
      changing({ what: 'documents remove' }, async (session) => (await work()).remove(session, wanted, all)),
    );
  return command;
}
