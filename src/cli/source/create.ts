import { systemClock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import { sourceReport } from '../../server/source-report.js';
import { fillSource } from '../../server/sources.js';
import { markerOf } from '../../sources/marker.js';
import { pathText } from '../../sources/path.js';
import { primaryKeyOf } from '../../sources/primary-key.js';
import { createCollection, getCollections } from '../../store/collection/collections.js';
import { LeaseLost } from '../../store/lease.js';
import { newCall } from '../../store/request/meter.js';
import { describeSource, sampleItems, streamFault, type SourceTable } from '../../store/source/describe-source.js';
import { hasSource, type SourceCollection } from '../../store/source/source-mapping.js';
import { openTables } from '../../store/table/table-check.js';
import { findCollection } from '../find-collection.js';
import { duration, grouped, progressBar } from '../progress.js';
import type { CommandSession } from '../session.js';
import { readMappingFile, type MappingFile } from './mapping-file.js';

const SAMPLE = 100;
const INDIRECT = 'key: markers whose key does not tell the primary key of their item cannot be followed yet';

const LOOK_EVERY_MS = 500;

/** Throws BAD_USER_INPUT if the table cannot be followed with this mapping. */
async function checkSource({ database, signal }: CommandSession, { mapping }: MappingFile, table: SourceTable) {
  const faults = [streamFault(table)].filter((fault) => fault !== undefined);
  if (mapping.newest !== undefined) faults.push('newest: several items that are one marker cannot be followed yet');
  for (const item of await sampleItems(database, table.name, SAMPLE, newCall(signal))) {
    const found = markerOf(mapping, item, -Infinity);
    if (found.kind !== 'marker') continue;
    if (primaryKeyOf(mapping, table.key, found.key) === undefined) faults.push(INDIRECT);
    break;
  }
  if (faults.length > 0) throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
}

/** The collection with this key if it has this mapping already. Throws CONFLICT if it is another one. */
function sameSource(found: Collection, { json }: MappingFile): SourceCollection {
  const { key } = found;
  if (!hasSource(found)) throw new CellportError('CONFLICT', `collection ${key} has markers of its own`, { key });
  if (found.source.mapping === json) return found;
  const advice = 'delete it, or create another one';
  throw new CellportError('CONFLICT', `collection ${key} follows ${found.source.table} by another mapping: ${advice}`);
}

/** Whether a source is filled, whoever did it. */
async function isFilled(session: CommandSession, collection: SourceCollection): Promise<boolean> {
  const report = await sourceReport(session.database, session.database.keys.scope(collection));
  return report?.gap === null && report.pages !== null;
}

/** Fills a source, or waits until a server that has begun to has done so. */
async function fill(session: CommandSession, table: SourceTable, collection: SourceCollection): Promise<void> {
  const { log, signal } = session;
  const bar = progressBar(`${table.name}, reading`);
  const began = systemClock.now();
  const onProgress = ({ items }: { readonly items: number }) =>
    bar.update({ rows: items, resumed: 0, part: Math.min(0.99, items / Math.max(1, table.items)) });
  try {
    const { markers } = await fillSource(session, collection, log, signal, { onProgress });
    bar.end();
    console.log(`${grouped(markers)} markers from table ${table.name} in ${duration(systemClock.now() - began)}`);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    console.error('a server fills it; waiting');
    while (!(await isFilled(session, collection))) await systemClock.sleep(LOOK_EVERY_MS, signal);
  } finally {
    bar.end();
  }
}

/** Creates a collection that follows a table, and fills it; resumes what was interrupted. */
export async function createSource(
  session: CommandSession,
  key: string,
  path: string,
  { name = key, code }: { readonly name?: string; readonly code?: string },
): Promise<void> {
  const { database, signal } = session;
  const file = await readMappingFile(path);
  const table = await describeSource(database, file.mapping.table);
  await checkSource(session, file, table);
  await openTables(database);
  const call = newCall(signal);
  const [found] = await getCollections(database, [key], call, { consistent: true });
  const source = { table: table.name, mapping: file.json, tableKey: table.key };
  const mapProperties = file.mapping.properties.map((each) => pathText(each));
  const now = new Date(database.clock.wall()).toISOString();
  const input = { key, name, code, mapProperties, source };
  const collection = found
    ? sameSource(found, file)
    : { ...(await createCollection(database, input, now, call)), source };
  if (await isFilled(session, collection))
    console.log(`collection ${key} is complete, and follows table ${table.name}`);
  else await fill(session, table, collection);
  console.log('servers follow its changes: `cellport serve`, then see `cellport source status`');
}

/** Compares a source with its table. Throws CONFLICT if they differ, unless they are to be repaired. */
export async function verifySource(session: CommandSession, key: string, repair: boolean): Promise<void> {
  const { database, log, signal } = session;
  const collection = await findCollection(database, key, signal);
  if (!hasSource(collection))
    throw new CellportError('BAD_USER_INPUT', `collection ${key} follows no table: see \`cellport recount --check\``);
  const checked = await fillSource(session, collection, log, signal, { checkOnly: true });
  const { markers, blocks, drifted, pages, differing, undecided } = checked;
  const wrong = `${grouped(drifted.length)} of ${grouped(blocks)} blocks of counts and ${grouped(differing.length)} of ${grouped(pages)} pages differ`;
  const late = undecided > 0 ? `; ${grouped(undecided)} changed too often to be compared` : '';
  console.log(`${grouped(markers)} markers in table ${collection.source.table}: ${wrong}${late}`);
  if (drifted.length + differing.length === 0) return;
  if (!repair) throw new CellportError('CONFLICT', 'run it with --repair to fill the collection again');
  await fill(session, await describeSource(database, collection.source.table), collection);
}
