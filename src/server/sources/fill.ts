import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { CellportError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { DeadLetter } from '../../store/cell/dead-letters.js';
import { newCall, type Call } from '../../store/database.js';
import { describeSource } from '../../store/source/describe-source.js';
import { noteRejected, RejectedItems } from '../../store/source/rejected-items.js';
import { isOrderedByRecords, type SourceCollection } from '../../store/source/source-mapping.js';
import { DERIVED_FORMAT } from '../../stream/change.js';
import { openBlocks, openPages, openState } from '../../stream/consume/derived-ports.js';
import { ownName } from '../../stream/consume/owners.js';
import { NO_DAYS, openFill, type FillOptions } from '../../stream/mapped/fill.js';
import { mappedStream } from '../../stream/mapped/mapped-stream.js';
import { openWinners } from '../../stream/mapped/winners.js';
import { type StatePort, type StreamPort } from '../../stream/ports.js';
import { recount } from '../../stream/recount/recount.js';
import type { RecountResult } from '../../stream/recount/scan.js';
import { openSharedStream } from '../../stream/source/dynamodb.js';
import type { StreamBackend } from '../backend.js';
import { sourceConsumer } from './report.js';

/**
 * A scan has what was recorded so long before. Records have approximate times, truncated to the second, in DynamoDB Local to the
 * minute.
 */
const RECORDED_WITHIN_MS = 75_000;

/** The stream of a table that is read again and again instead. */
const NO_STREAM: StreamPort = {
  identify: () => Promise.resolve('none'),
  listShards: () => Promise.resolve({ shards: [], more: false }),
  openShard: () => Promise.reject(new Error('there are no shards')),
  readRecords: () => Promise.reject(new Error('there are no records')),
};

/**
 * The state of a source's consumer. What is stored as the format of the derived data names the mapping, too, so that a
 * process that knows only another mapping leaves it alone.
 */
function openSourceState(call: Call, consumer: string, mapping: () => string): StatePort {
  const port = openState(call, consumer);
  const stored = () => `${DERIVED_FORMAT} ${createHash('sha256').update(mapping()).digest('hex').slice(0, 16)}`;
  return {
    async load() {
      const found = await port.load();
      return found && { ...found, layout: found.layout === stored() ? DERIVED_FORMAT : found.layout };
    },
    put: (next) => port.put({ ...next, layout: next.layout === DERIVED_FORMAT ? stored() : next.layout }),
    putDeadLetters: (items: readonly DeadLetter[]) => noteRejected(call, consumer, items),
  };
}

/** What consumers and fills of a source share: its table seems to have markers of Cellport's own. */
export function sourceParts(
  { database, streams }: StreamBackend,
  collection: SourceCollection,
  log: Log,
  { mapping = () => collection.source.mapping, since = () => -Infinity } = {},
) {
  const { keys, clock } = database;
  const { table, everyMs } = collection.source;
  const consumer = sourceConsumer(keys.scope(collection));
  const call = newCall(database);
  const stream = everyMs === undefined ? openSharedStream(database, table, streams) : NO_STREAM;
  return {
    stream: mappedStream(keys, collection, stream, since),
    state: openSourceState(call, consumer, mapping),
    cells: openBlocks(call),
    pages: { ...openPages(call), versionsByBatch: true },
    winners: openWinners(database, collection),
    clock,
    keys,
    log,
    self: ownName(),
  };
}

/**
 * Reads the whole table of a source, then its stream, and rebuilds its counts and pages, whichever process follows it.
 * Nothing is written to the table. Throws CONFLICT if it has been created again with another primary key.
 */
export async function fillSource(
  backend: StreamBackend,
  collection: SourceCollection,
  log: Log,
  signal: AbortSignal,
  options: FillOptions = {},
): Promise<RecountResult> {
  const { database } = backend;
  const { checkOnly = false, replaced } = options;
  let mapping = replaced?.mapping ?? collection.source.mapping;
  let since = -Infinity;
  const parts = sourceParts(backend, collection, log, { mapping: () => mapping, since: () => since });
  // Fails otherwise than the next if there is no such table.
  await parts.stream.identify();
  const { table, tableKey } = collection.source;
  if (!isDeepStrictEqual((await describeSource(database, table)).key, tableKey)) {
    const advice = `\`cellport source change ${collection.key} <file>\` adopts it`;
    throw new CellportError('CONFLICT', `table ${table} has another primary key now: ${advice}`, { table });
  }
  const consumer = sourceConsumer(database.keys.scope(collection));
  const rejected = new RejectedItems();
  const fill = openFill(database, collection, consumer, rejected, options);
  // Until everything is built, those listed are the ones of the map that is shown.
  const state = { ...parts.state, putDeadLetters: async (items: readonly DeadLetter[]) => rejected.add(items) };
  const built = async () => {
    await rejected.store(newCall(database, signal), consumer);
    await replaced?.store();
    ({ mapping } = collection.source);
    return { deadLetters: rejected.count };
  };
  const scanMarkers = () => {
    // Where records alone tell an order, all of them count.
    if (!checkOnly && !isOrderedByRecords(collection.source)) since = database.clock.wall() - RECORDED_WITHIN_MS;
    return fill.scanMarkers();
  };
  const tables = { ...fill, scanMarkers, built };
  return recount({ ...parts, state, days: { port: NO_DAYS }, tables, checkOnly }, signal);
}
