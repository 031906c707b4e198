import { isDeepStrictEqual } from 'node:util';

import { systemClock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import type { Collection, CollectionSource } from '../../model/collection.js';
import { fillSource } from '../../server/sources/fill.js';
import { sourceConsumer, sourceReport, sourceStatus } from '../../server/sources/report.js';
import { pathText } from '../../sources/mapping.js';
import { loadStreamState } from '../../store/cell/stream-state.js';
import { changeCollection } from '../../store/collection/change-collection.js';
import { createCollection, getCollections } from '../../store/collection/collections.js';
import { isHeld, LeaseLost } from '../../store/lease.js';
import { describeSource, streamFault, type SourceTable } from '../../store/source/describe-source.js';
import { hasSource, type SourceCollection } from '../../store/source/source-mapping.js';
import { openTables } from '../../store/table/tables.js';
import { ownerIsGone, ownName } from '../../stream/consume/owners.js';
import type { FillOptions } from '../../stream/mapped/fill.js';
import { findSource } from '../find-collection.js';
import { readMappingFile, type MappingFile } from '../json-file.js';
import { duration, grouped, progressBar } from '../progress.js';
import type { CommandSession } from '../session.js';

const LOOK_EVERY_MS = 500;
/** Longer than the leases of servers. */
const HELD_MS = 20_000;

/** What the command line says of a source besides its mapping. */
export interface SourceOptions {
  readonly name?: string;
  readonly code?: string;
  /** In milliseconds. */
  readonly every?: number | undefined;
  readonly maxRcu?: number | undefined;
}

export interface ChangeOptions {
  /** False to follow the table from now on. */
  readonly every?: number | false;
  readonly maxRcu?: number;
}

/** Throws BAD_USER_INPUT if the table cannot be followed. */
function checkTable(table: SourceTable, every: number | undefined): void {
  const fault = every === undefined ? streamFault(table) : undefined;
  if (fault !== undefined) throw new CellportError('BAD_USER_INPUT', fault, { table: table.name });
}

const sourceOf = (
  table: SourceTable,
  { json }: MappingFile,
  { every: everyMs, maxRcu }: SourceOptions,
): CollectionSource => ({
  table: table.name,
  mapping: json,
  tableKey: table.key,
  ...(everyMs === undefined ? {} : { everyMs }),
  ...(maxRcu === undefined ? {} : { maxRcu }),
});

const mapProperties = ({ mapping }: MappingFile) => mapping.properties.map((path) => pathText(path));

/** The collection if it has this source already. Throws CONFLICT if it is another one. */
function sameSource(found: Collection, wanted: CollectionSource): SourceCollection {
  const { key } = found;
  if (!hasSource(found)) throw new CellportError('CONFLICT', `collection ${key} has markers of its own`, { key });
  if (isDeepStrictEqual({ ...found.source, ...wanted }, found.source)) return found;
  const message = `collection ${key} follows ${found.source.table} with another mapping, or with other options: see \`cellport source change\``;
  throw new CellportError('CONFLICT', message, { key });
}

/** Whether a source is filled, whoever did it. */
async function isFilled({ database }: CommandSession, collection: SourceCollection): Promise<boolean> {
  const report = await sourceReport(database, database.keys.scope(collection));
  return report?.gap === null && report.pages !== null;
}

/** Fills a source; returns false if another process has begun to. */
async function fill(
  session: CommandSession,
  table: SourceTable,
  collection: SourceCollection,
  options: FillOptions = {},
): Promise<boolean> {
  const { database, log, signal, call } = session;
  const bar = progressBar(`${table.name}, reading`);
  const began = systemClock.now();
  const onProgress = (items: number) =>
    bar.update({ rows: items, resumed: 0, part: Math.min(0.99, items / Math.max(1, table.items)) });
  try {
    const { markers } = await fillSource(session, collection, log, signal, { onProgress, ...options });
    bar.end();
    console.log(`${grouped(markers)} markers from table ${table.name} in ${duration(systemClock.now() - began)}`);
    const { rejected } = await sourceStatus(call, database.keys.scope(collection));
    const advice = `see \`cellport source status ${collection.key}\``;
    if (rejected > 0)
      console.error(`rejected items, which match the mapping but are not markers: ${grouped(rejected)}; ${advice}`);
    else if (markers === 0) console.error('no item matches the mapping: see `cellport source check`');
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  } finally {
    bar.end();
  }
}

/** Fills a source, or waits while another process that has begun to does so. Throws NOT_FOUND once it is deleted. */
async function fillOrWait(session: CommandSession, table: SourceTable, collection: SourceCollection): Promise<void> {
  const { database, signal, call } = session;
  const contender = { clock: systemClock, self: ownName(), leaseMs: HELD_MS, ownerIsGone };
  const consumer = sourceConsumer(database.keys.scope(collection));
  while (!(await fill(session, table, collection))) {
    console.error('another process fills it; waiting');
    const seen = {};
    for (;;) {
      const state = await loadStreamState(call, consumer);
      if (await isFilled(session, collection)) return;
      await findSource(call, collection.key);
      if (state === undefined || !isHeld(state, seen, contender)) break;
      await systemClock.sleep(LOOK_EVERY_MS, signal);
      signal.throwIfAborted();
    }
  }
}

/** Creates a collection that follows a table, and fills it, again if that was interrupted. */
export async function createSource(
  session: CommandSession,
  key: string,
  path: string,
  options: SourceOptions,
): Promise<void> {
  const { database, call } = session;
  const file = await readMappingFile(path);
  const table = await describeSource(database, file.mapping.table);
  checkTable(table, options.every);
  await openTables(database);
  const [found] = await getCollections(call, [key], { consistent: true });
  const source = sourceOf(table, file, options);
  const { name = key, code } = options;
  const now = new Date(database.clock.wall()).toISOString();
  const input = { key, name, code, mapProperties: mapProperties(file), source };
  const collection = found ? sameSource(found, source) : { ...(await createCollection(call, input, now)), source };
  if (await isFilled(session, collection))
    console.log(`collection ${key} is complete, and follows table ${table.name}`);
  else await fillOrWait(session, table, collection);
  const { everyMs } = collection.source;
  const what = everyMs === undefined ? 'follow its changes' : `read it again every ${duration(everyMs)}`;
  console.log(`servers ${what}: \`cellport serve\`, then see \`cellport source status\``);
}

/** Gives a source another mapping: readers see the old one until everything is built with the new one. */
export async function changeSource(
  session: CommandSession,
  key: string,
  path: string,
  options: ChangeOptions,
): Promise<void> {
  const { database, call } = session;
  const before = await findSource(call, key);
  const file = await readMappingFile(path);
  const table = await describeSource(database, file.mapping.table);
  const { every = before.source.everyMs, maxRcu = before.source.maxRcu } = options;
  const source = sourceOf(table, file, { every: every || undefined, maxRcu });
  checkTable(table, source.everyMs);
  if (isDeepStrictEqual(source, before.source)) return console.log(`collection ${key} has this mapping already`);
  const next = { ...before, source, mapProperties: mapProperties(file) };
  const updatedAt = new Date(database.clock.wall()).toISOString();
  const change = () => ({ source, mapProperties: next.mapProperties, updatedAt });
  const store = () => changeCollection(call, key, change);
  if (await fill(session, table, next, { replaced: { mapping: before.source.mapping, store } })) return;
  throw new CellportError('CONFLICT', `another process reads table ${table.name} for collection ${key}; try again`);
}

/** Compares a source with its table. Throws CONFLICT if they differ, unless they are to be repaired. */
export async function verifySource(session: CommandSession, key: string, repair: boolean): Promise<void> {
  const { database, log, signal, call } = session;
  const collection = await findSource(call, key);
  const checked = await fillSource(session, collection, log, signal, { checkOnly: true });
  const { markers, blocks, drifted, pages, differing, undecided } = checked;
  const wrong = `${grouped(drifted.length)} of ${grouped(blocks)} blocks of counts and ${grouped(differing.length)} of ${grouped(pages)} pages differ`;
  const late = undecided > 0 ? `; ${grouped(undecided)} changed too often to be compared` : '';
  console.log(`${grouped(markers)} markers in table ${collection.source.table}: ${wrong}${late}`);
  if (drifted.length + differing.length === 0) return;
  if (!repair) throw new CellportError('CONFLICT', 'run it with --repair to fill the collection again');
  await fillOrWait(session, await describeSource(database, collection.source.table), collection);
}
