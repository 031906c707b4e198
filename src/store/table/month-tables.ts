import { UpdateTableCommand, type TableDescription, type UpdateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { LRUCache } from 'lru-cache';

import { DAY_MS, monthEnd, monthsDown } from '../../model/reading.js';
import type { Database, Tables } from '../database.js';
import { BASE_KEY, STREAM, tableDefinitions, type TableDefinition } from './table-definitions.js';
import type { TableFault } from './table-differences.js';
import {
  answerUnless,
  deleteTable,
  describeTables,
  ensureTables,
  foreignFaults,
  monthPrefix,
  namedMonths,
  ownTables,
  refuseOrphans,
  waitFor,
} from './tables.js';

/** Records of a month's table are read for this long after the month, longer than clocks differ. */
const FOLLOWED_MS = 35 * DAY_MS;
/** Then its stream is switched off, and its storage becomes cheaper. */
const COOLED_MS = FOLLOWED_MS + 5 * DAY_MS;
/** It stays for some days more, in which the consumer reads its stream to the end. */
const STAYS_MS = COOLED_MS + 3 * DAY_MS;
/** Readings may be ahead of a clock by a day. */
const AHEAD_MS = 3 * DAY_MS;
const LOOKS_AGAIN_MS = 60_000;

/** The name of the table with the readings of a month, such as 2026-11. */
export const monthTable = (tables: Tables, month: string): string => monthPrefix(tables) + month;

/** Months whose tables have a stream that is read; `now` is in milliseconds since 1970. */
export const followedMonths = (now: number): string[] => monthsDown(now - FOLLOWED_MS, now + AHEAD_MS);

/** Months whose tables must exist before their first reading. */
export const monthsAhead = (now: number): string[] => monthsDown(now, now + AHEAD_MS);

/** Whether a month has been over for so long that its table has no stream. */
export const isCold = (month: string, now: number): boolean => monthEnd(month) + COOLED_MS <= now;

/** Whether the table of a month may be deleted if its readings have expired. */
export const mayGo = (month: string, now: number): boolean => monthEnd(month) + STAYS_MS <= now;

function definitionOf(tables: Tables, month: string, now: number): TableDefinition {
  return {
    request: {
      TableName: monthTable(tables, month),
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [...BASE_KEY],
      AttributeDefinitions: BASE_KEY.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
      ...(isCold(month, now) ? { TableClass: 'STANDARD_INFREQUENT_ACCESS' } : { StreamSpecification: STREAM }),
    },
    ttl: 'ttl',
  };
}

/** The schema by which a month's table is known as Cellport's, of whatever age it is. */
const schemaOf = ({ tables }: Database, month: string) => definitionOf(tables, month, 0);

/** Creates the table of a month, unless it exists, and waits until it is active. Throws like `ensureTables`. */
export async function ensureMonthTable(database: Database, month: string, now: number): Promise<void> {
  await ensureTables(database, [definitionOf(database.tables, month, now)]);
}

interface Look {
  readonly exists: boolean;
  readonly faults: readonly TableFault[];
}

/** Looks at tables of months, by client and name. Those of ours stay valid, others for a minute. */
const looks = new WeakMap<Database['client'], LRUCache<string, Look, Database>>();

const newLooks = () =>
  new LRUCache<string, Look, Database>({
    max: 1_000,
    async fetchMethod(name, _, { options, context: database }) {
      const month = name.slice(monthPrefix(database.tables).length);
      const states = await describeTables(database, [schemaOf(database, month)]);
      const faults = await foreignFaults(database, states);
      const exists = states[0]?.description !== undefined;
      options.ttl = exists && faults.length === 0 ? 0 : LOOKS_AGAIN_MS;
      return { exists, faults };
    },
  });

/** Why the table of a month is not Cellport's; empty if it is, or is missing, unless it `exists` as the caller has seen. */
export async function monthFaults(database: Database, name: string, exists = false): Promise<readonly TableFault[]> {
  const known = looks.get(database.client) ?? newLooks();
  looks.set(database.client, known);
  const forceRefresh = exists && known.peek(name)?.exists === false;
  return (await known.fetch(name, { context: database, forceRefresh }))?.faults ?? [];
}

/** The months that have a table of Cellport's, in order. */
export async function listMonths(database: Database): Promise<string[]> {
  const own: string[] = [];
  for (const month of await namedMonths(database)) {
    const faults = await monthFaults(database, monthTable(database.tables, month), true);
    if (faults.length === 0) own.push(month);
  }
  return own;
}

/** The schemas of the tables of months that exist, in order; some of these tables may not be Cellport's. */
export async function monthDefinitions(database: Database, now: number): Promise<readonly TableDefinition[]> {
  return (await namedMonths(database)).map((month) => definitionOf(database.tables, month, now));
}

/** Changes a table, unless another process does, or DynamoDB Local has no such setting. */
async function update(database: Database, request: UpdateTableCommandInput): Promise<void> {
  const command = new UpdateTableCommand(request);
  const harmless = ['ResourceInUseException', 'ValidationException'];
  await answerUnless(database, harmless, (options) => database.client.send(command, options));
  await waitFor(database, request.TableName ?? '', 'ACTIVE');
}

/** Whether a table's stream is on. */
export const hasStream = ({ StreamSpecification: stream }: TableDescription): boolean => stream?.StreamEnabled === true;

/**
 * Puts the table of a month on cheaper settings: no stream, and storage that costs less and requests that cost more. Throws
 * like `ownTables`.
 */
export async function coolMonthTable(database: Database, month: string): Promise<void> {
  const TableName = monthTable(database.tables, month);
  const [{ description: table } = {}] = await ownTables(database, [schemaOf(database, month)]);
  if (table === undefined) return;
  // DynamoDB accepts one of these changes at a time.
  if (hasStream(table)) await update(database, { TableName, StreamSpecification: { StreamEnabled: false } });
  const TableClass = 'STANDARD_INFREQUENT_ACCESS';
  if (table.TableClassSummary?.TableClass !== TableClass) await update(database, { TableName, TableClass });
}

/** Deletes the table of a month. Throws like `ownTables`. */
export async function deleteMonthTable(database: Database, month: string): Promise<void> {
  const [state] = await ownTables(database, [schemaOf(database, month)]);
  if (state?.description !== undefined) await deleteTable(database, state.name);
}

/**
 * Deletes both tables, and those of months, with all their items and waits until they are gone; returns their names. Throws
 * like `ownTables`, before anything is deleted.
 */
export async function deleteTables(database: Database): Promise<readonly string[]> {
  const { entities } = database.tables;
  const definitions = [...tableDefinitions(database.tables), ...(await monthDefinitions(database, 0))];
  const there = (await ownTables(database, definitions)).filter(({ description }) => description !== undefined);
  const others = there.filter(({ name }) => name !== entities);
  // By it the others are known, so it goes last.
  if (others.length === there.length) await refuseOrphans(database, others);
  await Promise.all(others.map(({ name }) => deleteTable(database, name)));
  if (others.length < there.length) await deleteTable(database, entities);
  return there.map(({ name }) => name);
}
