import { afterAll } from 'vitest';

import type { Clock } from '../../src/clock.js';
import { NO_SUMS, type CellSums } from '../../src/geo/cell-sums.js';
import { encode } from '../../src/geo/geohash.js';
import { silentLog } from '../../src/log.js';
import { SIZE_CHILD, sumsOfBlock } from '../../src/model/cell.js';
import { orderedMarker, type OrderedMarker } from '../../src/pages/ordered-marker.js';
import { inBackground } from '../../src/server/background.js';
import { blockFromItem } from '../../src/store/cell/cells.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall, type Database, type Item } from '../../src/store/database.js';
import { mapMarkerFromIndex } from '../../src/store/marker/marker-item.js';
import { decodePage } from '../../src/store/page/page-data.js';
import { itemBytes } from '../../src/store/request/item-size.js';
import { send } from '../../src/store/request/send.js';
import { Consumer, type ConsumerOptions } from '../../src/stream/consume/consumer.js';
import { consumerParts } from '../../src/stream/consume/derived-ports.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engine } from '../support/test-database.js';

/** A clock for recounts of a stream with a single shard: there is nothing to wait for. */
export const withoutWaiting = <T extends Pick<Clock, 'sleep'>>(clock: T): T => ({
  ...clock,
  sleep: (ms: number, wake?: AbortSignal) => clock.sleep(ms / 20, wake),
});

/** The parts of a consumer or recount of this database, faster than the server's; each acts as its own process. */
export function streamParts(db: Database, consumer = 'cells') {
  return {
    ...consumerParts({ database: db, streams: createStreamsClient(engine()) }, silentLog, consumer),
    leaseMs: 2_000,
    pollMs: 50,
  };
}

/** A marker's item with only the counted attributes. */
export function markerItem(
  db: Pick<Database, 'keys'>,
  scope: string,
  key: string,
  lng: number,
  lat: number,
  place?: readonly string[],
): Item {
  return { ...db.keys.marker(scope, key), lng, lat, ...(place === undefined ? {} : { place }) };
}

/** Every item of a table. */
export async function allItems(db: Database, table: string): Promise<Item[]> {
  const items: Item[] = [];
  let after: Record<string, unknown> | undefined;
  do {
    const page = await send(newCall(db), 'scan', {
      TableName: table,
      ConsistentRead: true,
      ...(after === undefined ? {} : { ExclusiveStartKey: after }),
    });
    items.push(...(page.Items ?? []));
    after = page.LastEvaluatedKey;
  } while (after !== undefined);
  return items;
}

/** Sums in a comparable form. */
export const shown = ({ count, sumLng, sumLat }: CellSums) => `${count} ${sumLng} ${sumLat}`;

/** All stored non-empty cells: `scope/geohash` -> sums. */
export async function storedCells(db: Database): Promise<Record<string, string>> {
  const cells = (await allItems(db, db.tables.derived)).flatMap((item) => {
    const cell = db.keys.parseCell({ pk: String(item['pk']), sk: String(item['sk']) });
    const block = cell === undefined ? undefined : blockFromItem(db.keys, item);
    return [...(block ? sumsOfBlock(block) : [])].map(
      ([child, sums]) => [`${cell?.scope}/${block?.parent}${child}`, shown(sums)] as const,
    );
  });
  return Object.fromEntries(cells);
}

/** The same, counted from the markers one by one, for lengths 1 to `longest`; and the size, under `$`. */
export async function countedCells(db: Database, longest = 5): Promise<Record<string, string>> {
  const cells = new Map<string, CellSums>();
  for (const item of await allItems(db, db.tables.entities)) {
    const { pk, sk, lng, lat } = item;
    const marker = db.keys.parseMarker({ pk: String(pk), sk: String(sk) });
    if (marker === undefined || typeof lng !== 'number' || typeof lat !== 'number') continue;
    const east = lng === 180 ? -180 : lng;
    const geohash = encode({ lng: east, lat }, longest);
    for (let length = 1; length <= longest; length += 1) {
      const name = `${marker.scope}/${geohash.slice(0, length)}`;
      const { count, sumLng, sumLat } = cells.get(name) ?? { count: 0, sumLng: 0, sumLat: 0 };
      cells.set(name, {
        count: count + 1,
        sumLng: sumLng + Math.round(east * 1e6),
        sumLat: sumLat + Math.round(lat * 1e6),
      });
    }
    const size = `${marker.scope}/${SIZE_CHILD}`;
    const { count, sumLng } = cells.get(size) ?? NO_SUMS;
    cells.set(size, { count: count + itemBytes(item), sumLng: sumLng + 1, sumLat: 0 });
  }
  return Object.fromEntries([...cells].map(([name, sums]) => [name, shown(sums)] as const));
}

/** All stored counts of places that are not zero: `scope/name/name` -> markers. */
export async function storedPlaces(db: Database): Promise<Record<string, number>> {
  const counts = (await allItems(db, db.tables.derived)).flatMap(({ pk, sk, n }) => {
    const found = db.keys.parsePlaceCount({ pk: String(pk), sk: String(sk) });
    return found === undefined || n === 0 ? [] : [[[found.scope, ...found.place].join('/'), Number(n)] as const];
  });
  return Object.fromEntries(counts);
}

/** The same, counted from the markers one by one. */
export async function countedPlaces(db: Database): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { pk, sk, lng, place } of await allItems(db, db.tables.entities)) {
    const marker = db.keys.parseMarker({ pk: String(pk), sk: String(sk) });
    if (marker === undefined || typeof lng !== 'number') continue;
    const names = (place ?? []) as readonly string[];
    names.forEach((_, index) => {
      const name = [marker.scope, ...names.slice(0, index + 1)].join('/');
      counts.set(name, (counts.get(name) ?? 0) + 1);
    });
  }
  return Object.fromEntries(counts);
}

/** DynamoDB keeps no order of the properties in a map. */
function textOf(scope: string, { position, marker }: OrderedMarker): string {
  const mapProperties = Object.entries(marker.mapProperties).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([scope, position, { ...marker, mapProperties }]);
}

/** The entries of all pages named by the state, as text, sorted. */
export async function storedEntries(db: Database): Promise<string[]> {
  const { pages } = (await loadStreamState(newCall(db), 'cells')) ?? {};
  const entries = (await allItems(db, db.tables.derived)).flatMap(({ pk, sk, d }) => {
    const page = db.keys.parsePage({ pk: String(pk), sk: String(sk) });
    if (page === undefined || page.generation !== pages?.generation) return [];
    return (decodePage(d as Uint8Array, '') ?? []).map((entry) => textOf(page.scope, entry));
  });
  return entries.sort();
}

/** The same, derived from the markers one by one. */
export async function markerEntries(db: Database): Promise<string[]> {
  const entries = (await allItems(db, db.tables.entities)).flatMap((item) => {
    const key = db.keys.parseMarker({ pk: String(item['pk']), sk: String(item['sk']) });
    const marker = key && mapMarkerFromIndex(db.keys, item, '');
    return marker ? [textOf(key.scope, orderedMarker(marker))] : [];
  });
  return entries.sort();
}

/** Waits until the owner has reported twice, after this call, that it is at the stream's end. */
export async function untilRead(db: Database, consumer = 'cells'): Promise<void> {
  const versions = new Set<number>();
  const begun = (await loadStreamState(newCall(db), consumer))?.version ?? 0;
  while (versions.size < 2) {
    const state = await loadStreamState(newCall(db), consumer);
    // The first report after that may still refer to an earlier moment.
    if (state !== undefined && state.atEnd && state.plan === null && state.version > begun + 1)
      versions.add(state.version);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs a consumer until it is stopped. */
export const started = (consumer: Consumer) => inBackground((signal) => consumer.run(signal));

/** Runs a consumer during some work, and until it has read everything. */
export async function whileConsuming(
  db: Database,
  work: () => Promise<unknown>,
  { consumer = 'cells', ...options }: Partial<ConsumerOptions> & { readonly consumer?: string } = {},
): Promise<void> {
  const running = started(new Consumer({ ...streamParts(db, consumer), ...options }));
  await work();
  await untilRead(db, consumer);
  await running.stop();
}

/** Starts a consumer that runs until all tests of the file have ended. */
export function consumeThroughout(db: Database, parts: ConsumerOptions = streamParts(db)) {
  const consumer = new Consumer(parts);
  const running = started(consumer);
  afterAll(() => running.stop());
  return consumer;
}
