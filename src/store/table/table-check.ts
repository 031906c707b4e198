import { badInput } from '../../errors.js';
import { createKeyspace, type Keyspace } from '../../keys/keyspace.js';
import type { Database } from '../database.js';
import { newCall } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { faultsOf, isMended, refuse, type TableState } from './table-differences.js';
import { describeTables, ensureTables, isActive } from './tables.js';

/** Compares both tables with their definitions and returns them. Throws like `refuse` if they differ. */
export async function checkTables(database: Database): Promise<readonly TableState[]> {
  const states = await describeTables(database);
  refuse(states.flatMap(faultsOf));
  return states;
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
export async function checkKeyStyle(database: Database): Promise<void> {
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
 * Creates missing tables, completes those that a killed process has created, and compares both with their definitions.
 * Throws like `checkTables`, and BAD_USER_INPUT if existing ones have keys of the other style, before anything is changed.
 */
export async function openTables(database: Database): Promise<OpenedTables> {
  const states = await describeTables(database);
  const faults = states.flatMap(faultsOf);
  refuse(faults.filter((fault) => !isMended(fault)));
  if (isActive(states[0]?.description)) await checkKeyStyle(database);
  // Usually they exist, and one description of each suffices: the embedded engine takes 0.4 s for it after its start.
  if (states.every(({ description }) => isActive(description)) && faults.length === 0)
    return { created: [], table: identityOf(states) };
  const created = await ensureTables(database);
  return { created, table: identityOf(await checkTables(database)) };
}
