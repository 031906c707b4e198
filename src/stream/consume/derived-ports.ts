import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';

import { wallAt } from '../../clock.js';
import type { Log } from '../../log.js';
import type { Collection } from '../../model/collection.js';
import { readBlocks, replaceBlocks } from '../../store/cell/blocks.js';
import { putDeadLetters } from '../../store/cell/dead-letters.js';
import { CONSUMER, loadStreamState, putStreamState } from '../../store/cell/stream-state.js';
import { everyCollection } from '../../store/collection/collections.js';
import { newCall, type Call, type Database } from '../../store/database.js';
import { decodePage, PACKING } from '../../store/page/page-data.js';
import { findDirectoryPart, findPage, pagesFrom, putDirectoryPart } from '../../store/page/pages.js';
import { putRecentWrites } from '../../store/page/recent-writes.js';
import { replacePages } from '../../store/page/replace-pages.js';
import {
  claimDay,
  closeDay,
  forgetDueDay,
  listDueDays,
  openDays,
  readDays,
  removeDays,
  summarizeDay,
} from '../../store/reading/kept-days.js';
import { queryResponse } from '../../store/table/query-responses.js';
import { describeTable } from '../../store/table/tables.js';
import type { PagesOptions } from '../pages/kept-pages.js';
import { PageMemory } from '../pages/memory.js';
import type { CellsPort, DaysPort, StatePort } from '../ports.js';
import { openStream } from '../source/dynamodb.js';
import { ownName } from './owners.js';

/** A stream this much younger than its table was enabled later. */
const STREAM_WITHIN_MS = 60_000;

/** The state of one consumer in the derived table. */
export function openState(call: Call, consumer: string): StatePort {
  return {
    load: () => loadStreamState(call, consumer),
    put: (next) => putStreamState(call, consumer, next),
    putDeadLetters: (records) => putDeadLetters(call, consumer, records),
  };
}

/** The blocks of the derived table. */
export function openBlocks(call: Call): CellsPort {
  return {
    read: (blocks, consistent) => readBlocks(call, blocks, consistent),
    write: (writes) => replaceBlocks(call, writes),
  };
}

/** The pages of the derived table. Their markers do not name their collection. */
export function openPages(call: Call): PagesOptions {
  return {
    open: (generation) => ({
      find: (scope, position) => findPage(call, { scope, generation }, position),
      from: (scope, begin, limit) => pagesFrom(call, { scope, generation }, begin, limit),
      write: (replacements) => replacePages(call, generation, replacements),
      findDirectoryPart: (scope, position) => findDirectoryPart(call, { scope, generation }, position, true),
      putDirectoryPart: (scope, part) => putDirectoryPart(call, { scope, generation }, part),
    }),
    recent: { put: (scope, as, part) => putRecentWrites(call, { scope, ...as }, part) },
    memory: new PageMemory(),
    pack: PACKING,
    decode: (data) => decodePage(data, ''),
  };
}

/** Opens the summaries of readings in a database. */
export function openSummaries(call: Call): DaysPort {
  const { keys } = call.db;
  return {
    async collections() {
      const found = new Map<string, Collection>();
      for await (const some of everyCollection(call, 'in use', { consistent: true })) {
        for (const collection of some) found.set(keys.scope(collection), collection);
      }
      return found;
    },
    open: (days, epoch) => openDays(call, days, epoch),
    due: (collection, upTo) => listDueDays(call, keys.scope(collection), upTo),
    read: (days) => readDays(call, days),
    claim: (day, seen, epoch) => claimDay(call, day, seen, epoch),
    summarize: (collection, day, now) => summarizeDay(call, collection, day, now),
    close: (day, seen, kept) => closeDay(call, day, seen, kept),
    forget: (due) => forgetDueDay(call, due),
    remove: (days) => removeDays(call, days),
  };
}

/** Whether any collection exists, strongly consistent. An invalid item among the collections counts as one. */
async function hasCollections(database: Database): Promise<boolean> {
  const range = { index: 'entities', pk: database.keys.collectionsPartition, limit: 1, consistent: true } as const;
  const { Count = 0 } = await queryResponse(newCall(database), range);
  return Count > 0;
}

/**
 * The time, in milliseconds since 1970, from which a first start has to count writes: now if there is no collection
 * yet, because markers are created after their collection; otherwise the table's creation; 0 if its stream was enabled
 * later, so that its first writes are not in the stream.
 */
export async function firstSince(database: Database): Promise<number> {
  const began = database.clock.now();
  if (!(await hasCollections(database))) return wallAt(began, database.clock);
  const table = await describeTable(database, database.tables.entities);
  const created = table?.CreationDateTime?.getTime();
  const enabled = Date.parse(`${table?.LatestStreamLabel ?? ''}Z`);
  return created === undefined || Number.isNaN(enabled) || enabled - created > STREAM_WITHIN_MS ? 0 : created;
}

/** Dependencies that a stream consumer and a recount share; `consumer` names the stored state. */
export function consumerParts(
  { database, streams }: { readonly database: Database; readonly streams: DynamoDBStreamsClient },
  log: Log,
  consumer = CONSUMER,
) {
  const call = newCall(database);
  return {
    stream: openStream(database, streams),
    state: openState(call, consumer),
    cells: openBlocks(call),
    pages: openPages(call),
    days: { port: openSummaries(call) },
    clock: database.clock,
    keys: database.keys,
    log,
    self: ownName(),
    since: () => firstSince(database),
  };
}
