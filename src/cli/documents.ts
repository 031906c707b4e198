import { Command } from 'commander';

import { changing } from './changing.js';
import { subcommands, withDatabase } from './session.js';

/** The work of the commands, which is loaded when one runs. */
const work = () => import('./documents/run.js');

export function documentsCommand(): Command {
  const command = new Command('documents').description(
    'Manage the documents that servers with CELLPORT_DOCUMENTS=trusted execute. See docs/security.md',
  );
  const subcommand = subcommands(command);
  subcommand('add', 'Check documents against the schema, and trust them')
    .argument('<files...>', '.graphql files, or manifests of persisted documents of graphql-codegen or Apollo')
    .action((files: readonly string[]) =>
      changing({ what: 'documents add' }, async (session) => (await work()).add(session, files)),
    );
  subcommand('list', 'List the trusted documents: their SHA-256 hashes, and the names of their operations')
    .option('--json', 'print JSON, including the documents')
    .action(({ json = false }: { readonly json?: boolean }) =>
      withDatabase(async (session) => (await work()).list(session, json)),
    );
  subcommand('remove', 'Remove documents from the list')
    .argument('[documents...]', 'hashes of documents, or names of their operations')
    .option('--all', 'remove all documents')
    .action((wanted: readonly string[], { all = false }: { readonly all?: boolean }) =>
      changing({ what: 'documents remove' }, async (session) => (await work()).remove(session, wanted, all)),
    );
  return command;
}
