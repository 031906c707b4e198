import { Command } from 'commander';

import { CellportError } from '../errors.js';
import type { Backend } from '../server/backend.js';
import { checkTableName } from './iam.js';
import { readSettings, subcommands } from './session.js';

/** Runs work on the database. A signal ends the process immediately, which is safe because each step is atomic. */
async function withTables(work: (backend: Backend) => Promise<void>): Promise<void> {
  const { config, log } = await readSettings();
  const { withBackend } = await import('../server/backend.js');
  await withBackend({ config, log }, work);
}

async function create({ database, where }: Backend): Promise<void> {
  const { describeTables, openTables } = await import('../store/table/tables.js');
  const { created } = await openTables(database);
  for (const { name } of await describeTables(database)) {
    console.log(`${name}: ${created.includes(name) ? 'created' : 'already exists'} (${where})`);
  }
}

/** The tables as `table describe` shows them. */
async function readTables({ database }: Backend) {
  const { monthDefinitions } = await import('../store/table/month-tables.js');
  const { tableDifferences } = await import('../store/table/table-differences.js');
  const { tableDefinitions } = await import('../store/table/table-definitions.js');
  const { describeTables } = await import('../store/table/tables.js');
  const months = await monthDefinitions(database, database.clock.wall());
  const definitions = [...tableDefinitions(database.tables), ...months];
  return (await describeTables(database, definitions)).map((state) => {
    const { name, definition, description, ttl } = state;
    return {
      name,
      status: description?.TableStatus ?? 'MISSING',
      created: description?.CreationDateTime?.toISOString() ?? null,
      items: description?.ItemCount ?? null,
      bytes: description?.TableSizeBytes ?? null,
      indexes: (description?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName),
      stream: description?.StreamSpecification?.StreamViewType ?? null,
      class: description?.TableClassSummary?.TableClass ?? null,
      ttl,
      differences: tableDifferences(definition, state),
    };
  });
}

type Table = Awaited<ReturnType<typeof readTables>>[number];

function printTable(table: Table, where: string): void {
  console.log(`${table.name} (${where}): ${table.status}`);
  if (table.created === null) return;
  console.log(`  created  ${table.created}`);
  // DynamoDB updates these counts every six hours.
  console.log(`  items    ${table.items ?? 0} in ${table.bytes ?? 0} bytes, as of DynamoDB's last count`);
  console.log(`  indexes  ${table.indexes.join(', ') || 'none'}`);
  console.log(`  stream   ${table.stream ?? 'none'}`);
  if (table.class !== null) console.log(`  class    ${table.class}`);
  console.log(`  expiry   ${table.ttl === null ? 'none' : `by ${table.ttl}`}`);
  for (const { what, expected, found } of table.differences) {
    console.log(`  WRONG    ${what} must be ${expected}; found ${found}`);
  }
}

async function describe(backend: Backend, json: boolean): Promise<void> {
  const tables = await readTables(backend);
  if (json) console.log(JSON.stringify({ database: backend.where, tables }, null, 2));
  else for (const table of tables) printTable(table, backend.where);
  const wrong = tables.filter(({ differences }) => differences.length > 0).map(({ name }) => name);
  if (wrong.length === 0) return;
  const missing = tables.some(({ status }) => status === 'MISSING');
  throw new CellportError(
    'UNAVAILABLE',
    `${wrong.join(' and ')}: does not match the required schema${missing ? '; run `cellport table create` to create missing tables' : ''}`,
  );
}

/** Prints what would be created, for tools that create it. */
async function printSchema(options: { readonly table?: string }): Promise<void> {
  const table = options.table ?? (await readSettings()).config.tables.entities;
  checkTableName(table);
  const { tableDefinitions } = await import('../store/table/table-definitions.js');
  console.log(JSON.stringify(tableDefinitions({ entities: table, derived: `${table}-derived` }), null, 2));
}

async function drop({ database, where }: Backend): Promise<void> {
  const { deleteTables } = await import('../store/table/month-tables.js');
  const { entities, derived } = database.tables;
  const deleted = await deleteTables(database);
  for (const name of new Set([entities, derived, ...deleted])) {
    console.log(`${name}: ${deleted.includes(name) ? 'deleted' : 'did not exist'} (${where})`);
  }
}

async function confirmDrop(yes: boolean): Promise<void> {
  if (yes) return withTables(drop);
  const { entities, derived } = (await readSettings()).config.tables;
  throw new CellportError('BAD_USER_INPUT', `pass --yes to delete ${entities} and ${derived} and everything in them`, {
    field: '--yes',
  });
}

export function tableCommand(): Command {
  const table = new Command('table').description('Create, describe or delete the tables');
  const subcommand = subcommands(table);
  subcommand('create', 'Create missing tables and check existing ones').action(() => withTables(create));
  subcommand('describe', 'Print the status, indexes, item counts and faults of the tables, including monthly tables')
    .option('--json', 'print JSON')
    .action(({ json = false }: { json?: boolean }) => withTables((backend) => describe(backend, json)));
  subcommand('schema', 'Print the CreateTable requests of both tables, and their TTL attributes, as JSON')
    .option('--table <name>', 'name of the entities table (default: CELLPORT_TABLE)')
    .action(printSchema);
  subcommand('delete', 'Delete both tables, the monthly tables, and everything in them')
    .option('--yes', 'confirm; without this option, nothing is deleted')
    .action(({ yes = false }: { yes?: boolean }) => confirmDrop(yes));
  return table;
}
