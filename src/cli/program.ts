import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';

import { accessCommand } from './access.js';
import { adviseCommand } from './advise.js';
import { deadLettersCommand } from './dead-letters.js';
import { deleteCommand } from './delete.js';
import { doctorCommand } from './doctor.js';
import { documentsCommand } from './documents.js';
import { EXAMPLES } from './examples.js';
import { exportCommand } from './export.js';
import { endOf } from './failure.js';
import { hotCommand } from './hot.js';
import { iamCommand } from './iam.js';
import { importCommand } from './import.js';
import { initCommand } from './init.js';
import { keysCommand } from './keys.js';
import { mcpCommand } from './mcp.js';
import { planCommand } from './plan.js';
import { printable } from './progress.js';
import { recountCommand } from './recount.js';
import { reindexCommand } from './reindex.js';
import { repartitionCommand } from './repartition.js';
import { searchCommand } from './search.js';
import { serveCommand } from './serve.js';
import { sourceCommand } from './source.js';
import { sweepCommand } from './sweep.js';
import { tableCommand } from './table.js';

const SETTINGS = `
Settings are environment variables. The most common ones:
  PORT, HOST                 where to listen (4000, 127.0.0.1)
  CELLPORT_TABLE             name of the main table (cellport); the second table appends -derived
  CELLPORT_KEY_STYLE         readable or compact (readable)
  CELLPORT_DATA_DIR          folder of the embedded database and of interrupted imports (.cellport)
  CELLPORT_LOG               silent, error, warn, info or debug (warn)
  AWS_ENDPOINT_URL_DYNAMODB  address of another DynamoDB; AWS_REGION or AWS_PROFILE alone select AWS
If no AWS variable is set, commands start the embedded DynamoDB Local. docs/configuration.md lists all settings.`;

const EXIT_CODES = `
Exit codes: 0 success (also if Ctrl-C or SIGTERM stops a server), 1 failed or interrupted,
2 invalid command line, setting or input.`;

/** The full name of a command, for example `cellport table create`. */
function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** Names the required options in a command's usage: who leaves one out, or gives its value alone, sees what is meant. */
function showRequired(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags.replace(/^-\w, /, ''));
  command.usage([...required, command.usage()].join(' '));
}

/**
 * Checks for missing options last: otherwise a mistyped option would be reported as missing, without the suggestion.
 */
function requireLast(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.mandatory = false;
  command.hook('preAction', (_, running) => {
    if (running !== command) return;
    const missing = required.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}

/** Builds the command line. A command loads its modules when it runs. */
function buildProgram(): Command {
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };
  const program = new Command('cellport')
    .description('A GraphQL server for maps over Amazon DynamoDB.')
    .version(version, '-v, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', SETTINGS);
  const commands = [
    serveCommand(version),
    initCommand(),
    importCommand(),
    sourceCommand(),
    iamCommand(),
    accessCommand(),
    exportCommand(),
    searchCommand(),
    recountCommand(),
    reindexCommand(),
    deadLettersCommand(),
    repartitionCommand(),
    deleteCommand(),
    documentsCommand(),
    doctorCommand(),
    tableCommand(),
    keysCommand(),
    sweepCommand(),
    planCommand(),
    adviseCommand(),
    hotCommand(),
    mcpCommand(version),
  ];
  for (const command of commands) program.addCommand(command);
  const within = (command: Command): Command[] => [command, ...command.commands.flatMap(within)];
  for (const command of within(program)) {
    const name = commandPath(command);
    command.helpCommand(false).exitOverride();
    showRequired(command);
    command.showHelpAfterError(`Usage: ${name} ${command.usage()}\n(see ${name} --help)`);
    command.addHelpText('after', EXIT_CODES);
    const examples = EXAMPLES[name];
    if (examples !== undefined) command.addHelpText('after', `\nExamples:\n  ${examples.join('\n  ')}`);
    requireLast(command);
  }
  return program;
}

/** Runs the command line and returns its exit code, see EXIT_CODES. Never throws. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    if (args.length === 0) {
      program.outputHelp();
      return 2;
    }
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed the error, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { message, code } = endOf(error);
    console.error(printable(message));
    return code;
  }
}
