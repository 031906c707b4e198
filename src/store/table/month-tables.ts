import {
  ListTablesCommand,
  type ListTablesCommandOutput,
  type TableDescription,
  UpdateTableCommand,
  type UpdateTableCommandInput,
} from '@aws-sdk/client-dynamodb';

import { DAY_MS, monthEnd, monthsDown } from '../../model/reading.js';
import type { Database, Tables } from '../database.js';
import { isFailure, mapFailure } from '../request/failures.js';
import { withinTime } from '../request/within-time.js';
import { BASE_KEY, STREAM, type TableDefinition } from './table-definitions.js';
import { deleteTable, describeTable, ensureTable, waitFor } from './tables.js';

/** Records of a month's table are read for this long after the month, longer than clocks differ. */
const FOLLOWED_MS = 35 * DAY_MS;
/** Then its stream is switched off, and its storage becomes cheaper. */
const COOLED_MS = FOLLOWED_MS + 5 * DAY_MS;
/** It stays for some days more, in which the consumer reads its stream to the end. */
const STAYS_MS = COOLED_MS + 3 * DAY_MS;
/** Readings may be ahead of a clock by a day. */
const AHEAD_MS = 3 * DAY_MS;

const prefixOf = ({ entities }: Tables) => `${entities}-readings-`;

/** The name of the table with the readings of a month, such as 2026-11. */
export const monthTable = (tables: Tables, month: string): string => prefixOf(tables) + month;

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

/** Creates the table of a month, unless it exists, and waits until it is active. Returns whether it was missing. */
export function ensureMonthTable(database: Database, month: string, now: number): Promise<boolean> {
  return ensureTable(database, definitionOf(database.tables, month, now));
}

/** The months that have a table, in order. */
export async function listMonths(database: Database): Promise<string[]> {
  const prefix = prefixOf(database.tables);
  const months: string[] = [];
  for (let after: string | undefined = prefix; after?.startsWith(prefix) === true;) {
    const request = new ListTablesCommand({ ExclusiveStartTableName: after });
    const page: ListTablesCommandOutput = await withinTime(
      database,
      (options) => database.client.send(request, options),
      { failure: mapFailure },
    );
    const names: readonly string[] = page.TableNames ?? [];
    months.push(...names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)));
    after = page.LastEvaluatedTableName;
  }
  return months.filter((month) => /^\d{4}-\d{2}$/.test(month));
}

/** The schemas of the tables of months that exist, in order. */
export async function monthDefinitions(database: Database, now: number): Promise<readonly TableDefinition[]> {
  return (await listMonths(database)).map((month) => definitionOf(database.tables, month, now));
}

/** Changes a table, unless another process does, or DynamoDB Local has no such setting. */
async function update(database: Database, request: UpdateTableCommandInput): Promise<void> {
  try {
    await withinTime(database, (options) => database.client.send(new UpdateTableCommand(request), options));
  } catch (error) {
    const harmless = ['ResourceInUseException', 'ValidationException'].some((name) => isFailure(error, name));
    if (!harmless) throw mapFailure(error);
  }
  await waitFor(database, request.TableName ?? '', 'ACTIVE');
}

/** Whether a table's stream is on. */
export const hasStream = ({ StreamSpecification: stream }: TableDescription): boolean => stream?.StreamEnabled === true;

/** Puts the table of a month on cheaper settings: no stream, and storage that costs less and requests that cost more. */
export async function coolMonthTable(database: Database, month: string): Promise<void> {
  const TableName = monthTable(database.tables, month);
  const table = await describeTable(database, TableName);
  if (table === undefined) return;
  // DynamoDB accepts one of these changes at a time.
  if (hasStream(table)) await update(database, { TableName, StreamSpecification: { StreamEnabled: false } });
  const TableClass = 'STANDARD_INFREQUENT_ACCESS';
  if (table.TableClassSummary?.TableClass !== TableClass) await update(database, { TableName, TableClass });
}

/**
 * Deletes both tables, and those of months, with all their items and waits until they are gone; returns the names of those
 * that existed.
 */
export async function deleteTables(database: Database): Promise<readonly string[]> {
  const { entities, derived } = database.tables;
  const months = (await listMonths(database)).map((month) => monthTable(database.tables, month));
  const deleted = await Promise.all(
    [entities, derived, ...months].map(async (name) => ((await deleteTable(database, name)) ? [name] : [])),
  );
  return deleted.flat();
}
