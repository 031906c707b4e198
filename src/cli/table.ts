import type { Config } from '../config.js';
import { CellportError, badInput } from '../errors.js';
import { checkTables, tableDifferences } from '../store/table/table-check.js';
import { tableDefinitions } from '../store/table/table-definitions.js';
import { deleteTables, describeTables, ensureTables } from '../store/table/tables.js';
import { withBackend } from '../server/backend.js';

/** `table create`: prints which tables were made. Throws where one is there that will not do. */
export async function createTables(config: Config): Promise<void> {
  await withBackend(config, async ({ database, where }) => {
    const made = await ensureTables(database);
    await checkTables(database);
    for (const { name } of await describeTables(database)) {
      console.log(`${name}: ${made.includes(name) ? 'made' : 'was there already'} (${where})`);
    }
  });
}

/** `table describe`: prints both tables. Throws where one is missing or differs from what is needed, after printing. */
export async function describe(config: Config, { json }: { readonly json: boolean }): Promise<void> {
  await withBackend(config, async ({ database, where }) => {
    const states = await describeTables(database);
    const tables = tableDefinitions(database.tables).map((definition, at) => {
      const state = states[at] ?? { name: definition.request.TableName ?? '', description: undefined, ttl: null };
      const { description, ttl, name } = state;
      return {
        name,
        status: description?.TableStatus ?? 'MISSING',
        created: description?.CreationDateTime?.toISOString() ?? null,
        items: description?.ItemCount ?? null,
        bytes: description?.TableSizeBytes ?? null,
        indexes: (description?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName),
        stream: description?.StreamSpecification?.StreamViewType ?? null,
        ttl,
        differences: tableDifferences(definition, state),
      };
    });
    if (json) console.log(JSON.stringify({ database: where, tables }, null, 2));
    else for (const table of tables) printTable(table, where);
    const wrong = tables.filter(({ differences }) => differences.length > 0).map(({ name }) => name);
    if (wrong.length > 0) {
      const advice = tables.some(({ status }) => status === 'MISSING')
        ? '; `cellport table create` makes what is missing'
        : '';
      throw new CellportError('UNAVAILABLE', `${wrong.join(' and ')} will not do as it is${advice}`);
    }
  });
}

interface Described {
  readonly name: string;
  readonly status: string;
  readonly created: string | null;
  readonly items: number | null;
  readonly bytes: number | null;
  readonly indexes: readonly (string | undefined)[];
  readonly stream: string | null;
  readonly ttl: string | null;
  readonly differences: readonly { readonly what: string; readonly expected: string; readonly found: string }[];
}

function printTable(table: Described, where: string): void {
  console.log(`${table.name} (${where}): ${table.status}`);
  if (table.created === null) return;
  console.log(`  made     ${table.created}`);
  // DynamoDB brings these two up to date every six hours.
  console.log(`  items    ${table.items ?? 0} in ${table.bytes ?? 0} bytes, as DynamoDB counted last`);
  console.log(`  indexes  ${table.indexes.join(', ') || 'none'}`);
  console.log(`  stream   ${table.stream ?? 'none'}`);
  console.log(`  expiry   ${table.ttl === null ? 'none' : `by ${table.ttl}`}`);
  for (const { what, expected, found } of table.differences) {
    console.log(`  WRONG    ${what} must be ${expected}; found ${found}`);
  }
}

/** `table delete`: deletes both tables, once told `--yes`. */
export async function drop(config: Config, { yes }: { readonly yes: boolean }): Promise<void> {
  const { entities, derived } = config.tables;
  if (!yes) throw badInput('--yes', '', `given to delete ${entities} and ${derived} with all that is in them`);
  await withBackend(config, async ({ database, where }) => {
    const deleted = await deleteTables(database);
    for (const name of [entities, derived]) {
      console.log(`${name}: ${deleted.includes(name) ? 'deleted' : 'was not there'} (${where})`);
    }
  });
}
