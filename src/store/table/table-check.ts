import type { GlobalSecondaryIndexDescription, KeySchemaElement, TableDescription } from '@aws-sdk/client-dynamodb';

import { CellportError, badInput } from '../../errors.js';
import { type Keyspace, createKeyspace } from '../../keys/keyspace.js';
import type { Database } from '../database.js';
import { newCall } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { type TableDefinition, tableDefinitions } from './table-definitions.js';
import { type TableState, describeTables, ensureTables, isActive } from './tables.js';

/** One difference between a table and the schema it must have. */
export interface TableDifference {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

const NOTHING = 'none';

function keysOf(schema: readonly KeySchemaElement[] | undefined): string {
  return (schema ?? []).map(({ AttributeName, KeyType }) => `${AttributeName} (${KeyType})`).join(', ') || NOTHING;
}

function projectionOf(index: Pick<GlobalSecondaryIndexDescription, 'Projection'>, wanted: readonly string[]): string {
  const { ProjectionType: type, NonKeyAttributes: names = [] } = index.Projection ?? {};
  if (type !== 'INCLUDE') return String(type);
  // Attributes beyond those required do no harm.
  return `INCLUDE ${wanted.filter((name) => names.includes(name)).join(' ')}`;
}

/** The differences between a table and its definition. Further indexes, capacity and tags are up to its owner. */
export function tableDifferences({ request, ttl }: TableDefinition, state: TableState): readonly TableDifference[] {
  const table = state.description;
  if (table === undefined) return [{ what: 'the table', expected: 'present', found: 'missing' }];
  const pairs: [what: string, expected: string, found: string][] = [
    ['key', keysOf(request.KeySchema), keysOf(table.KeySchema)],
    ...attributePairs(request, table),
    ['TTL attribute', ttl ?? NOTHING, ttl === null ? NOTHING : (state.ttl ?? NOTHING)],
  ];
  for (const index of request.GlobalSecondaryIndexes ?? []) {
    const name = `index ${index.IndexName}`;
    const other = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName);
    if (other === undefined) {
      pairs.push([name, 'present', 'missing']);
      continue;
    }
    pairs.push([`key of ${name}`, keysOf(index.KeySchema), keysOf(other.KeySchema)]);
    // An index that projects everything also works; it only costs more.
    if (other.Projection?.ProjectionType === 'ALL') continue;
    const wanted = index.Projection?.NonKeyAttributes ?? [];
    if (wanted.length === 0) continue;
    pairs.push([`projection of ${name}`, projectionOf(index, wanted), projectionOf(other, wanted)]);
  }
  const stream = request.StreamSpecification?.StreamViewType;
  if (stream !== undefined) {
    const { StreamEnabled: on, StreamViewType: view } = table.StreamSpecification ?? {};
    pairs.push(['stream', stream, on === true ? String(view) : NOTHING]);
  }
  return pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expected, found]) => ({ what, expected, found }));
}

function attributePairs(
  { AttributeDefinitions: wanted = [] }: TableDefinition['request'],
  { AttributeDefinitions: there = [] }: TableDescription,
): [string, string, string][] {
  return (wanted ?? []).flatMap(({ AttributeName: name, AttributeType: type }) => {
    const found = there.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
    // An attribute that no key uses has no type; then its index is missing, which is reported.
    return found === undefined ? [] : [[`type of attribute ${name}`, String(type), found] as [string, string, string]];
  });
}

/** A difference, and the table in which it is. */
interface Fault extends TableDifference {
  readonly table: string;
}

function faultsOf({ tables }: Database, states: readonly TableState[]): Fault[] {
  return tableDefinitions(tables).flatMap((definition, index) => {
    const state = states[index];
    return state === undefined
      ? []
      : tableDifferences(definition, state).map((difference) => ({ table: state.name, ...difference }));
  });
}

/**
 * Compares both tables with their definitions and returns them. Throws UNAVAILABLE with a line for each difference: table, expected, found;
 * `details.differences` has the same as data.
 */
export async function checkTables(database: Database): Promise<readonly TableState[]> {
  const states = await describeTables(database);
  const faults = faultsOf(database, states);
  if (faults.length === 0) return states;
  const lines = faults.map(
    ({ table, what, expected, found }) => `table ${table}: ${what} must be ${expected}; found ${found}`,
  );
  throw new CellportError('UNAVAILABLE', lines.join('\n'), { differences: faults });
}

/** Tables that match their definitions. */
export interface OpenedTables {
  /** The names of those created. */
  readonly created: readonly string[];
  /** Identifies the table of the entities: another one of the same name has another. */
  readonly table: string;
}

const identityOf = ([entities]: readonly TableState[]): string =>
  entities?.description?.TableId ?? entities?.description?.CreationDateTime?.toISOString() ?? '';

/** Throws BAD_USER_INPUT if all collections have keys of the other style: nobody would find them. */
async function checkKeyStyle(database: Database): Promise<void> {
  const { keys, tables } = database;
  const other = keys.style === 'compact' ? 'readable' : 'compact';
  async function isUsed({ collectionsPartition: pk }: Keyspace): Promise<boolean> {
    const request = rangeRequest(database, { index: 'entities', pk, limit: 1 });
    const { Items = [] } = await send(database, 'query', request, newCall());
    return Items.length > 0;
  }
  if ((await isUsed(keys)) || !(await isUsed(createKeyspace(other)))) return;
  throw badInput('CELLPORT_KEY_STYLE', keys.style, `${other}, in which table ${tables.entities} has its collections`);
}

/**
 * Creates missing tables and compares both with their definitions. Throws like `checkTables`, and BAD_USER_INPUT if
 * existing ones have keys of the other style.
 */
export async function openTables(database: Database): Promise<OpenedTables> {
  const states = await describeTables(database);
  // Usually they exist, and one description of each suffices: the embedded engine takes 0.4 s for it after its start.
  if (states.every(isActive) && faultsOf(database, states).length === 0) {
    await checkKeyStyle(database);
    return { created: [], table: identityOf(states) };
  }
  const created = await ensureTables(database);
  return { created, table: identityOf(await checkTables(database)) };
}
