import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  UpdateTimeToLiveCommand,
  type ListTablesCommandOutput,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';

import { systemClock } from '../../clock.js';
import { badInput, CellportError } from '../../errors.js';
import { createKeyspace, type Keyspace } from '../../keys/keyspace.js';
import { newCall, type Database, type Tables } from '../database.js';
import { isFailure, mapFailure } from '../request/failures.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { withinTime } from '../request/within-time.js';
import { tableDefinitions, type TableDefinition } from './table-definitions.js';
import { faultsOf, isForeign, isMended, refuse, type TableFault, type TableState } from './table-differences.js';

/** What the names of tables with the readings of a month begin with. */
export const monthPrefix = ({ entities }: Tables): string => `${entities}-readings-`;

const POLL_MS = 50;
const ACTIVE_WITHIN_MS = 120_000;

/** The answer to a command; undefined if it fails with one of these exceptions, which the caller expects. */
export async function answerUnless<T>(
  database: Database,
  expected: readonly string[],
  command: Parameters<typeof withinTime<T>>[1],
): Promise<T | undefined> {
  try {
    return await withinTime(database, command);
  } catch (error) {
    if (expected.some((name) => isFailure(error, name))) return undefined;
    throw mapFailure(error);
  }
}

const MISSING = ['ResourceNotFoundException'];

/** A table as DynamoDB describes it; undefined if it does not exist. */
export async function describeTable(database: Database, name: string): Promise<TableDescription | undefined> {
  const command = new DescribeTableCommand({ TableName: name });
  return (await answerUnless(database, MISSING, (options) => database.client.send(command, options)))?.Table;
}

/** The attribute by which a table's items expire; null if none is set or the table does not exist. */
async function describeTtl(database: Database, name: string): Promise<string | null> {
  const command = new DescribeTimeToLiveCommand({ TableName: name });
  const answer = await answerUnless(database, MISSING, (options) => database.client.send(command, options));
  const { TimeToLiveStatus: status, AttributeName: attribute } = answer?.TimeToLiveDescription ?? {};
  return ((status === 'ENABLED' || status === 'ENABLING') && attribute) || null;
}

async function describeState(database: Database, definition: TableDefinition): Promise<TableState> {
  const name = definition.request.TableName ?? '';
  const [description, ttl] = await Promise.all([describeTable(database, name), describeTtl(database, name)]);
  return { name, definition, description, ttl };
}

/** Tables as DynamoDB currently describes them, by default both. */
export function describeTables(
  database: Database,
  definitions: readonly TableDefinition[] = tableDefinitions(database.tables),
): Promise<readonly TableState[]> {
  return Promise.all(definitions.map((definition) => describeState(database, definition)));
}

/** Whether a table exists and, with its indexes, can be used. */
export function isActive(table: TableDescription | undefined): boolean {
  const indexes = table?.GlobalSecondaryIndexes ?? [];
  return (
    table?.TableStatus === 'ACTIVE' && indexes.every(({ IndexStatus: status }) => (status ?? 'ACTIVE') === 'ACTIVE')
  );
}

export async function waitFor(database: Database, name: string, wanted: 'ACTIVE' | 'GONE'): Promise<void> {
  const deadline = systemClock.now() + ACTIVE_WITHIN_MS;
  for (;;) {
    const table = await describeTable(database, name);
    if (wanted === 'GONE' ? table === undefined : isActive(table)) return;
    if (systemClock.now() > deadline) {
      throw new CellportError('UNAVAILABLE', `table ${name} is still ${table?.TableStatus ?? 'missing'} after 120 s`);
    }
    await systemClock.sleep(POLL_MS);
  }
}

/** The months for which there is a table with a name like theirs, in order. */
export async function namedMonths(database: Database): Promise<string[]> {
  const prefix = monthPrefix(database.tables);
  const found: string[] = [];
  for (let after: string | undefined = prefix; after?.startsWith(prefix) === true;) {
    const request = new ListTablesCommand({ ExclusiveStartTableName: after });
    const response: ListTablesCommandOutput = await withinTime(
      database,
      (options) => database.client.send(request, options),
      { failure: mapFailure },
    );
    const names: readonly string[] = response.TableNames ?? [];
    found.push(...names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)));
    after = response.LastEvaluatedTableName;
  }
  return found.filter((month) => /^\d{4}-(0[1-9]|1[0-2])$/.test(month));
}

/** Whether a table has items. DynamoDB counts them every six hours. */
async function hasItems(database: Database, { name, description }: TableState): Promise<boolean> {
  if (description === undefined || ['CREATING', 'DELETING'].includes(description.TableStatus ?? '')) return false;
  const one = { TableName: name, Limit: 1, ConsistentRead: true };
  return Boolean(description.ItemCount || (await send(newCall(database), 'scan', one)).Count);
}

/** Refuses tables with items beside a missing entities table: nothing but its indexes shows whose they are. */
export async function refuseOrphans(database: Database, states: readonly TableState[]): Promise<void> {
  const what = `table ${database.tables.entities}, by which it is known,`;
  const faults = states.map(async (state) =>
    (await hasItems(database, state)) ? [{ table: state.name, what, expected: 'present', found: 'missing' }] : [],
  );
  refuse((await Promise.all(faults)).flat());
}

/**
 * Why a table is not Cellport's, although nothing but its TTL is missing; empty if it is. TTL is off until the process
 * that creates a table switches it on, or after a restore: with our indexes, the table is ours all the same; with nothing
 * but a common key, only while it is empty.
 */
async function unownedFaults(database: Database, state: TableState): Promise<readonly TableFault[]> {
  const { name, definition, description, ttl } = state;
  const isKnown = definition.request.GlobalSecondaryIndexes !== undefined;
  if (isKnown || ttl !== null || description === undefined) return [];
  if (!(await hasItems(database, state))) return [];
  // Its creator may have switched TTL on meanwhile, and have written the first item.
  return (await describeTtl(database, name)) === definition.ttl ? [] : faultsOf(state);
}

/** Why tables that exist are not Cellport's; empty if all are. Only describes those of another schema. */
export async function foreignFaults(database: Database, states: readonly TableState[]): Promise<readonly TableFault[]> {
  const foreign = states.flatMap(faultsOf).filter(isForeign);
  if (foreign.length > 0) return foreign;
  return (await Promise.all(states.map((state) => unownedFaults(database, state)))).flat();
}

/**
 * Tables as DynamoDB currently describes them, by default both. Throws like `refuse` if any that exists is not
 * Cellport's: nothing is changed, written or deleted before.
 */
export async function ownTables(
  database: Database,
  definitions?: readonly TableDefinition[],
): Promise<readonly TableState[]> {
  const states = await describeTables(database, definitions);
  refuse(await foreignFaults(database, states));
  return states;
}

/** Creates a table; false if another process, which is starting at the same time, was faster. */
async function createTable(database: Database, { request }: TableDefinition): Promise<boolean> {
  const command = new CreateTableCommand(request);
  const inUse = ['ResourceInUseException'];
  return (await answerUnless(database, inUse, (options) => database.client.send(command, options))) !== undefined;
}

/** Switches TTL on, unless another process has. */
async function switchTtlOn(database: Database, { name, definition: { ttl } }: TableState): Promise<void> {
  const specification = { AttributeName: ttl, Enabled: true };
  const command = new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: specification });
  await answerUnless(database, ['ValidationException'], (options) => database.client.send(command, options));
}

/**
 * Creates missing tables, by default of both, and waits until all are active; returns the names of those it created.
 * Existing tables are not changed, but for TTL: the process that created them may have been killed before that step.
 * Throws like `ownTables`, before anything is changed.
 */
export async function ensureTables(
  database: Database,
  definitions?: readonly TableDefinition[],
): Promise<readonly string[]> {
  const found = await ownTables(database, definitions);
  const created = new Set<string>();
  async function ready({ name, definition, description }: TableState): Promise<void> {
    const isGoing = description?.TableStatus === 'DELETING';
    if (isGoing) await waitFor(database, name, 'GONE');
    if ((isGoing || description === undefined) && (await createTable(database, definition))) created.add(name);
    await waitFor(database, name, 'ACTIVE');
    if (!created.has(name)) await ownTables(database, [definition]);
  }
  await Promise.all(found.filter(({ description }) => !isActive(description)).map(ready));
  const unset = found.filter(({ name, ttl }) => ttl === null || created.has(name));
  await Promise.all(unset.map((state) => switchTtlOn(database, state)));
  return [...created];
}

/** Deletes a table with all its items, whosever it is, and waits until it is gone; returns whether it existed. */
export async function deleteTable(database: Database, name: string): Promise<boolean> {
  const command = new DeleteTableCommand({ TableName: name });
  const answer = await answerUnless(database, MISSING, (options) => database.client.send(command, options));
  if (answer !== undefined) await waitFor(database, name, 'GONE');
  return answer !== undefined;
}

/** Compares both tables with their definitions and returns them. Throws like `refuse` if they differ. */
export async function checkTables(database: Database): Promise<readonly TableState[]> {
  const states = await describeTables(database);
  refuse(states.flatMap(faultsOf));
  return states;
}

/** Tables that match their definitions. */
interface OpenedTables {
  /** The names of those created. */
  readonly created: readonly string[];
  /** Identifies the table of the entities: another one of the same name has another. */
  readonly table: string;
}

const identityOf = ([entities]: readonly TableState[]): string =>
  entities?.description?.TableId ?? entities?.description?.CreationDateTime?.toISOString() ?? '';

/** Throws BAD_USER_INPUT if all collections have keys of the other style: nobody would find them. */
export async function checkKeyStyle(database: Database): Promise<void> {
  const { keys, tables } = database;
  const other = keys.style === 'compact' ? 'readable' : 'compact';
  async function isUsed({ collectionsPartition: pk }: Keyspace): Promise<boolean> {
    const request = rangeRequest(database, { index: 'entities', pk, limit: 1 });
    const { Items = [] } = await send(newCall(database), 'query', request);
    return Items.length > 0;
  }
  if ((await isUsed(keys)) || !(await isUsed(createKeyspace(other)))) return;
  throw badInput('CELLPORT_KEY_STYLE', keys.style, `${other}, in which table ${tables.entities} has its collections`);
}

/**
 * Creates missing tables, completes those that a killed process has created, and compares both with their definitions.
 * Throws like `checkTables`, and BAD_USER_INPUT if existing ones have keys of the other style, before anything is changed.
 */
export async function openTables(database: Database): Promise<OpenedTables> {
  const states = await describeTables(database);
  const faults = states.flatMap(faultsOf);
  refuse(faults.filter((fault) => !isMended(fault)));
  if (isActive(states[0]?.description)) await checkKeyStyle(database);
  if (states[0]?.description === undefined) {
    refuse(await foreignFaults(database, states));
    const months = (await namedMonths(database)).map((month) => {
      return { request: { TableName: monthPrefix(database.tables) + month }, ttl: '' };
    });
    await refuseOrphans(database, [...states, ...(await describeTables(database, months))]);
  }
  // Usually they exist, and one description of each suffices: the embedded engine takes 0.4 s for it after its start.
  if (states.every(({ description }) => isActive(description)) && faults.length === 0)
    return { created: [], table: identityOf(states) };
  const created = await ensureTables(database);
  return { created, table: identityOf(await checkTables(database)) };
}
