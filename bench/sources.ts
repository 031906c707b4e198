import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteItemCommand, CreateTableCommand, DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';

import { readConfig } from '../src/config.js';
import { compareBytes } from '../src/keys/byte-order.js';
import { silentLog } from '../src/log.js';
import { orderedMarker } from '../src/pages/ordered-marker.js';
import { packPages } from '../src/pages/pack.js';
import { openServer } from '../src/server/open-server.js';
import { fillSource } from '../src/server/sources/fill.js';
import { ABSENT_BLOCK, replaceBlocks } from '../src/store/cell/blocks.js';
import { createCollection } from '../src/store/collection/collections.js';
import { newCall, type Item } from '../src/store/database.js';
import { PACKING } from '../src/store/page/page-data.js';
import { putInBulk } from '../src/store/request/batches.js';
import { chunks, mapConcurrently } from '../src/store/request/pacing.js';
import { wireOf } from '../src/store/request/wire.js';
import type { SourceCollection } from '../src/store/source/source-mapping.js';
import { blockChanges } from '../src/stream/cells/apply.js';
import { CellFold } from '../src/stream/cells/fold.js';
import { contributionAt } from '../src/stream/change.js';
import { scan } from '../src/stream/recount/reads.js';
import { createStreamsClient } from '../src/stream/source/dynamodb.js';
import { postQuery } from '../test/support/post-query.js';
import { withFreshTables, type FreshTables } from './rig/fresh-tables.js';
import { pointsAroundCities, type BenchMarker } from './rig/points.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';

const SEED = 20_261_128;
const TABLE = 'my-app';
const WRITES_A_SECOND = 200;
const FILL_BAR = 1.5;
const FRESH_BAR_MS = 2_500;
const NOW = '2026-11-28T00:00:00.000Z';
const MAPPING = {
  table: TABLE,
  items: { PK: 'SHOP#{key}' },
  position: { lng: 'lng', lat: 'lat' },
  name: 'name',
};

type WireItem = NonNullable<ConstructorParameters<typeof PutItemCommand>[0]['Item']>;
const wire = (item: Item) => wireOf(item)['M'] as WireItem;

/** An item of about 400 bytes. */
const itemOf = ({ key, position, name }: BenchMarker): Item => ({
  PK: `SHOP#${key}`,
  ...position,
  name,
  note: 'x'.repeat(300),
});

async function makeTable({ database }: FreshTables, places: readonly BenchMarker[]): Promise<void> {
  await database.client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  await mapConcurrently(chunks(places, 25), 8, async (some) => {
    const requests = some.map((place) => ({ PutRequest: { Item: wire(itemOf(place)) } }));
    await database.client.send(new BatchWriteItemCommand({ RequestItems: { [TABLE]: requests } }));
  });
}

/** The owner of the table goes on writing: moves, new items and deletions, until it is stopped. */
function writing({ database: { client } }: FreshTables, places: readonly BenchMarker[]) {
  let stopped = false;
  const run = async () => {
    for (let n = 0; !stopped; n++) {
      const began = performance.now();
      const place = places[(n * 7_919) % places.length];
      if (place === undefined) return;
      const moved = { ...place, position: { ...place.position, lat: -place.position.lat } };
      if (n % 10 === 0) {
        await client.send(new DeleteItemCommand({ TableName: TABLE, Key: wire({ PK: `SHOP#${place.key}` }) }));
      } else await client.send(new PutItemCommand({ TableName: TABLE, Item: wire(itemOf(moved)) }));
      await sleep(Math.max(0, 1_000 / WRITES_A_SECOND - (performance.now() - began)));
    }
  };
  const running = run();
  return async () => {
    stopped = true;
    await running;
  };
}

/** What no fill can do without: reads the table by a parallel Scan, then packs and writes pages, and then cells. */
async function floorOf({ database }: FreshTables) {
  const began = performance.now();
  const entries: ReturnType<typeof orderedMarker>[] = [];
  for await (const page of scan(database, TABLE, ['PK', 'lng', 'lat', 'name'])) {
    for (const { PK, lng, lat, name } of page) {
      const position = { lng: Number(lng?.['N']), lat: Number(lat?.['N']) };
      const drawn = { category: null, mapVersion: 0, mapProperties: {}, complete: true, geohash: '' };
      const marker = { collection: '', key: String(PK?.['S']), position, name: String(name?.['S']), ...drawn };
      entries.push(orderedMarker(marker));
    }
  }
  entries.sort((a, b) => compareBytes(a.position, b.position));
  const items: Item[] = [];
  for (const { begin, data } of packPages('', entries, PACKING)) items.push({ pk: 'floor', sk: `-${begin}`, data });
  await putInBulk(newCall(database), database.tables.derived, items);
  const pages = performance.now() - began;
  const fold = new CellFold();
  for (const { marker } of entries) fold.add('floor', contributionAt(marker.position.lng, marker.position.lat), 1);
  const blocks = blockChanges(fold.changes()).map(({ deltas: children, ...name }) => {
    return { ...name, found: ABSENT_BLOCK, next: { batch: 1, children } };
  });
  await mapConcurrently(chunks(blocks, 100), 4, (some) => replaceBlocks(newCall(database), some));
  return { pages, cells: performance.now() - began };
}

async function measure(tables: FreshTables, count: number, changes: number) {
  const { database, engine } = tables;
  const places = [...pointsAroundCities(count, SEED)];
  await makeTable(tables, places);
  const floor = await floorOf(tables);
  const streams = createStreamsClient(engine);
  const backend = { database, streams };
  const source = { table: TABLE, mapping: JSON.stringify(MAPPING), tableKey: [{ name: 'PK', type: 'S' } as const] };
  const input = { key: 'shops', name: 'Shops', mapProperties: [], source };
  const collection: SourceCollection = { ...(await createCollection(newCall(database), input, NOW)), source };
  const never = new AbortController().signal;
  // The minute before a fill is read more slowly, and no table that is put on a map was made in it.
  if (count > 10_000) await sleep(75_000);
  const stop = writing(tables, places);
  const began = performance.now();
  await fillSource(backend, collection, silentLog, never);
  const fillMs = performance.now() - began;
  await stop();
  const open = { ...backend, where: '', storageFault: async () => undefined, close: async () => undefined };
  const env = {
    PORT: '0',
    CELLPORT_SEARCH_MB: '0',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_REGION: engine.region,
  };
  const server = openServer(readConfig({}, env), open, {}, silentLog);
  const url = await server.listen();
  const delays: number[] = [];
  try {
    // It first catches up with what was written while the pages were built.
    for (let ready = false; !ready;) {
      await sleep(200);
      ready = (await (await fetch(`${url}/readyz`)).text()).includes('"countsExact":true,"failure":null');
    }
    for (let n = 0; n < changes; n++) {
      const position = { lng: 170 + n / 100, lat: -80 };
      const place = { key: `new${n}`, position, name: 'new' };
      await database.client.send(new PutItemCommand({ TableName: TABLE, Item: wire(itemOf(place)) }));
      const written = performance.now();
      const query = `{ viewport(bounds: { west: ${position.lng - 0.001}, south: -81, east: ${position.lng + 0.001}, north: -79 }, zoom: 12) {
        markers(collection: "shops") { nodes { key } } } }`;
      for (let shows = false; !shows;) {
        shows = (await (await postQuery(url, query)).text()).includes(`"${place.key}"`);
        if (!shows) await sleep(20);
      }
      delays.push(performance.now() - written);
    }
    const checked = await fillSource(backend, collection, silentLog, never, { checkOnly: true });
    return {
      floor,
      fillMs,
      delays,
      differing: checked.drifted.length + checked.differing.length,
      markers: checked.markers,
    };
  } finally {
    await server.close();
    streams.destroy();
  }
}

/** Filling and following a table of others. */
export const sources: Benchmark = {
  name: 'sources',
  hasCounts: true,
  async run({ quick, say }): Promise<Section> {
    const count = quick ? 2_000 : 100_000;
    say(`${count.toLocaleString('en')} items`);
    const { floor, fillMs, delays, differing, markers } = await withFreshTables((tables) =>
      measure(tables, count, quick ? 5 : 100),
    );
    const times = { pages: fillMs / floor.pages, cells: fillMs / floor.cells };
    const p99 = quantile(delays, 0.99);
    return {
      title: `A table of others: ${count.toLocaleString('en')} items of 400 B, while ${WRITES_A_SECOND} a second are moved or deleted`,
      rows: [
        {
          what: 'fill',
          bar: `at most ${FILL_BAR} times`,
          measured: `${shown(fillMs / 1_000)} s, ${shown(times.cells)} times`,
          against: `${shown(floor.cells / 1_000)} s for a parallel Scan, and writing the same pages and cells`,
          holds: quick ? undefined : times.cells <= FILL_BAR,
        },
        {
          what: 'fill, compared with one that would write no cells',
          bar: `at most ${FILL_BAR} times`,
          measured: `${shown(times.pages)} times`,
          against: `${shown(floor.pages / 1_000)} s for a parallel Scan, and packing and writing pages`,
          holds: quick ? undefined : times.pages <= FILL_BAR,
        },
        {
          what: 'a change by another client until a map shows it, p99',
          bar: `at most ${FRESH_BAR_MS} ms`,
          measured: `${shown(p99, 0)} ms, ${shown(quantile(delays, 0.5), 0)} ms in the median`,
          against: '',
          holds: quick ? undefined : p99 <= FRESH_BAR_MS,
        },
        {
          what: 'blocks and pages that differ from the table at the end',
          bar: '0',
          measured: `${differing} (${markers.toLocaleString('en')} markers)`,
          against: 'a comparison with the whole table',
          holds: differing === 0,
        },
      ],
      text: '',
    };
  },
};
