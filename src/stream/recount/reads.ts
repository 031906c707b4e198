import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

import type { Key, Keyspace } from '../../keys/keyspace.js';
import { placeParent } from '../../model/cell.js';
import { afterPartition } from '../../pages/directory.js';
import type { BlockName } from '../../store/cell/blocks.js';
import { everyCollection } from '../../store/collection/collections.js';
import { newCall, type Database } from '../../store/database.js';
import { MARKER_ATTRIBUTES } from '../../store/marker/marker-update.js';
import { plainEntries } from '../../store/page/page-data.js';
import { putDirectoryPart, queryPages, UnknownPageFormat } from '../../store/page/pages.js';
import { replacePages } from '../../store/page/replace-pages.js';
import { deleteInBulk } from '../../store/request/batches.js';
import { chunks, merged } from '../../store/request/pacing.js';
import { send, type Operations } from '../../store/request/send.js';
import { hasSource } from '../../store/source/source-mapping.js';
import { listMonths, monthTable } from '../../store/table/month-tables.js';
import type { WireImage } from '../change.js';
import { hasMonths } from '../source/month-streams.js';
import type { PageItem, RecountPages } from './pages.js';
import type { RecountPort } from './scan.js';

/** Number of segments of a table scanned in parallel. */
const SEGMENTS = 4;
/** A response may have ten thousand, and what is made of each takes a while, in which a server answers nobody. */
const ITEMS_IN_A_STEP = 100;
/** Whoever reads may stop then. */
const YIELDS_EVERY_MS = 500;
/** The fence is of no use once its record has been read. */
const FENCE_LIVES_S = 3_600;

/** The items of a whole table in wire format, some at a time: all segments at once, as they arrive; at most so many read units a second. */
export function scan(
  database: Database,
  table: string,
  attributes: readonly string[],
  maxRcu = Infinity,
): AsyncGenerator<readonly WireImage[]> {
  const names = Object.fromEntries(attributes.map((name, index) => [`#${index}`, name]));
  const call = newCall(database);
  const { clock } = database;
  const began = clock.now();
  async function* scanSegment(segment: number): AsyncGenerator<readonly WireImage[], void> {
    let after: Operations['wireScan']['output']['LastEvaluatedKey'];
    do {
      const request = {
        TableName: table,
        ConsistentRead: true,
        Segment: segment,
        TotalSegments: SEGMENTS,
        ProjectionExpression: Object.keys(names).join(', '),
        ExpressionAttributeNames: names,
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      };
      const page: Operations['wireScan']['output'] = await send(call, 'wireScan', request);
      for (const some of chunks(page.Items ?? [], ITEMS_IN_A_STEP)) {
        yield some;
        await setImmediate();
      }
      const early = () => (call.meter.readUnits / maxRcu) * 1_000 - (clock.now() - began);
      while (early() > 0) {
        await clock.sleep(Math.min(early(), YIELDS_EVERY_MS));
        yield [];
      }
      after = page.LastEvaluatedKey;
    } while (after !== undefined);
  }
  return merged(Array.from({ length: SEGMENTS }, (_, segment) => scanSegment(segment)));
}

function blocksOf(keys: Keyspace, key: Key): BlockName[] {
  const place = keys.parsePlaceCount(key);
  if (place !== undefined) return [{ scope: place.scope, parent: placeParent(place.place) }];
  const cell = keys.parseCell(key);
  return cell === undefined ? [] : [{ scope: cell.scope, parent: cell.geohash }];
}

function pageItemsOf(keys: Keyspace, key: Key): PageItem[] {
  const partition = key.sk.charAt(0);
  const page = keys.parsePage(key);
  if (page !== undefined) return [{ ...page, partition, key, of: 'pages' }];
  const part = keys.parsePageDirectory(key);
  if (part !== undefined) return [{ ...part, partition, key, of: 'directory' }];
  const winner = keys.parseWinner(key);
  return winner === undefined ? [] : [{ scope: winner.scope, generation: '', partition, key, of: 'winner' }];
}

/** The pages of a database for a recount. Their markers do not name their collection. */
function openRecountPages(database: Database): RecountPages {
  const call = newCall(database);
  return {
    async read({ scope, generation, partition }) {
      const range = { from: partition, to: afterPartition(partition), consistent: true };
      try {
        const pages = await queryPages(call, { scope, collection: '', generation }, range);
        return pages.map((page) => ({ ...page, entries: plainEntries(page.columns, '') }));
      } catch (error) {
        if (error instanceof UnknownPageFormat) return undefined;
        throw error;
      }
    },
    async insert({ scope, generation }, round, pages) {
      const inserts = pages.map((page) => {
        return { scope, begin: page.begin, seen: undefined, round, lost: undefined, pages: [page] };
      });
      await replacePages(call, generation, inserts);
    },
    putDirectory: (name, part) => putDirectoryPart(call, name, part),
    delete: (items) =>
      deleteInBulk(
        call,
        database.tables.derived,
        items.map(({ key }) => key),
      ),
  };
}

/** The scopes of collections that follow tables of others, deleted ones included: each has a consumer of its own. */
async function sourceScopes(database: Database): Promise<ReadonlySet<string>> {
  const scopes = new Set<string>();
  for (const state of ['in use', 'emptying'] as const) {
    for await (const some of everyCollection(newCall(database), state, { consistent: true })) {
      for (const one of some) if (hasSource(one)) scopes.add(database.keys.scope(one));
    }
  }
  return scopes;
}

/** Opens what a recount reads and writes in a database; `only` is the scope of the source that it is about. */
export function openRecount(
  database: Database,
  consumer: string,
  only?: string,
): RecountPort & Required<Pick<RecountPort, 'writeFence'>> {
  const { keys, tables } = database;
  const keyOf = ({ pk, sk }: WireImage) => ({ pk: String(pk?.['S']), sk: String(sk?.['S']) });
  return {
    async *scanMarkers() {
      for await (const page of scan(database, tables.entities, MARKER_ATTRIBUTES)) {
        yield page.filter((image) => {
          const key = keyOf(image);
          return keys.parseMarker(key) !== undefined || keys.parseReading(key) !== undefined;
        });
      }
      if (!(await hasMonths(database))) return;
      for (const month of await listMonths(database)) yield* scan(database, monthTable(tables, month), ['pk', 'sk']);
    },
    async *listDerived() {
      const isWanted = ({ scope }: { readonly scope: string }) => only === undefined || scope === only;
      for await (const page of scan(database, tables.derived, ['pk', 'sk'])) {
        const found = page.map(keyOf);
        yield {
          blocks: found.flatMap((key) => blocksOf(keys, key)).filter(isWanted),
          pages: found.flatMap((key) => pageItemsOf(keys, key)).filter(isWanted),
          days: found.flatMap((key) => keys.parseDaySummary(key) ?? []),
        };
      }
    },
    listOthers: () => (only === undefined ? sourceScopes(database) : Promise.resolve(new Set())),
    async writeFence() {
      const key = keys.streamState(consumer);
      const ttl = Math.ceil(database.clock.wall() / 1_000) + FENCE_LIVES_S;
      // Never equal to the stored item, because putting an equal item creates no record.
      const fence = { ...key, fence: randomUUID(), ttl };
      await send(newCall(database), 'put', { TableName: tables.entities, Item: fence });
      return key;
    },
    pages: openRecountPages(database),
  };
}
