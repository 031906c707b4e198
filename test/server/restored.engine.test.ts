import {
  BatchWriteItemCommand,
  CreateTableCommand,
  ScanCommand,
  UpdateTableCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { expect, test, vi } from 'vitest';

import type { Database } from '../../src/store/database.js';
import { chunks } from '../../src/store/request/pacing.js';
import { STREAM, tableDefinitions } from '../../src/store/table/table-definitions.js';
import { everyQuery } from '../access/every-field.js';
import { decodeLayer } from '../support/decode-tile.js';
import { randomFrom } from '../support/random.js';
import { runsAll } from '../support/rounds.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, newDatabase, testDatabase } from '../support/test-database.js';
import { serve } from './sources/server.js';

const db = await testDatabase('readable', { stream: true });
const random = randomFrom(2_026_1129);
const DAYS_AGO = new Date(Date.now() - 3 * 86_400_000).toISOString();

const POINTS = Array.from({ length: 150 }, (_, n) => ({
  key: `m${n}`,
  position: { lng: 9 + 3 * random(), lat: 49 + 3 * random() },
  name: `Marker ${n}`,
  category: n % 3 === 0 ? 'park' : 'cafe',
  properties: { n, size: Math.round(100 * random()) },
  place: n % 2 === 0 ? ['Town', `Street ${n % 5}`] : [],
}));
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [9, 49],
      [12, 49],
      [12, 52],
      [9, 52],
      [9, 49],
    ],
  ],
};
const WRITES: readonly (readonly [mutation: string, variables?: object])[] = [
  [
    'mutation { createCollection(input: { key: "a", name: "A", globalIds: true, readingsSummarized: true, mapProperties: ["n"] }) { key } }',
  ],
  [
    'mutation { createMarker(input: { collection: "a", key: "canary", position: { lng: 10, lat: 50 }, properties: { a: 1 } }) { globalId } }',
  ],
  [
    'mutation ($all: [MarkerInput!]!) { createMarkers(collection: "a", markers: $all) { failures { code } } }',
    { all: POINTS },
  ],
  [
    'mutation ($shape: GeoJSON!) { createZone(input: { collection: "a", key: "area", geometry: $shape }) { key } }',
    { shape: SQUARE },
  ],
  [`mutation { recordReadings(marker: "marker::a::canary", readings: [{ at: "${DAYS_AGO}", values: { a: 4 } }]) }`],
  ['mutation { updateMarker(input: { id: "marker::a::m1", position: { lng: 11, lat: 51 } }) { key } }'],
  ['mutation { deleteMarkers(ids: ["marker::a::m2", "marker::a::m3"]) { deleted } }'],
  ['mutation { createCollection(input: { key: "gone", name: "G" }) { key } deleteCollection(key: "gone") { key } }'],
];

const PATIENT = { CELLPORT_DEADLINE_MS: '120000' };

type Ask = Awaited<ReturnType<typeof serve>>['ask'];

async function settled(ask: Ask): Promise<void> {
  const exact = async () => {
    const { data } = await ask('{ collection(key: "a") { count countsExact } }');
    expect(data.collection).toEqual({ count: POINTS.length - 1, countsExact: true });
  };
  await vi.waitFor(exact, { timeout: 60_000, interval: 100 });
}

/** What clients get: every field, maps, and tiles. */
async function answers({ ask, url }: Awaited<ReturnType<typeof serve>>, globalId: string): Promise<unknown[]> {
  const all: unknown[] = [];
  // A plan names the pages, which are others.
  const told = everyQuery('a', globalId).filter(([type]) => type !== 'ViewportPlan');
  const queries = told.map(([, query]) => query.replace(/\basOf\b/, 'key'));
  for (const query of queries) all.push((await ask(query)).data);
  for (const zoom of [2, 6, 9, 12]) {
    const view = `viewport(bounds: { west: 9.3, south: 49.4, east: 11.8, north: 51.5 }, zoom: ${zoom})`;
    const fields =
      'count(collection: "a") clusters(collection: "a") { count position { lng lat } } cells(collection: "a") { geohash count }';
    all.push(
      (await ask(`{ ${view} { ${fields} markers(collection: "a", first: 500) { nodes { key version } } } }`)).data,
    );
  }
  for (const tile of ['4/8/5', '7/67/43']) {
    const bytes = Buffer.from(await (await fetch(`${url}/tiles/a/${tile}?limit=500`)).arrayBuffer());
    all.push(decodeLayer(bytes, 'markers').map(({ properties, x, y }) => ({ properties, x, y })));
  }
  return all;
}

/** What a restore to a point in time makes of a table: its items and indexes, but neither its stream nor its expiry. */
async function restored(from: Database): Promise<Database> {
  const to = newDatabase();
  const [definition] = tableDefinitions(to.tables);
  if (!definition) throw new Error('there is no table');
  const { StreamSpecification: _, ...request } = definition.request;
  await to.client.send(new CreateTableCommand(request));
  let after: Record<string, AttributeValue> | undefined;
  do {
    const page = await from.client.send(new ScanCommand({ TableName: from.tables.entities, ExclusiveStartKey: after }));
    for (const items of chunks(page.Items ?? [], 25)) {
      const writes = items.map((Item) => ({ PutRequest: { Item } }));
      await to.client.send(new BatchWriteItemCommand({ RequestItems: { [to.tables.entities]: writes } }));
    }
    after = page.LastEvaluatedKey;
  } while (after);
  return to;
}

test.runIf(runsAll)(
  'a copy of the entities table alone has everything: after a recount, all answers are the same',
  async () => {
    const first = await serve(db, PATIENT);
    let globalId = '';
    for (const [mutation, variables] of WRITES) {
      const { data, errors } = await first.ask(mutation, variables);
      expect(errors).toBeUndefined();
      globalId = data.createMarker?.globalId ?? globalId;
    }
    await settled(first.ask);
    const before = await answers(first, globalId);
    await first.close();

    const copy = await restored(db);
    const TableName = copy.tables.entities;
    const env = { ...engineSettings(), CELLPORT_TABLE: TableName, CELLPORT_LOG: 'silent' };
    // docs/deploy.md names these steps.
    expect((await runCliHere(['table', 'create'], env)).output).toMatch(/stream must be/);
    await copy.client.send(new UpdateTableCommand({ TableName, StreamSpecification: STREAM }));
    for (const command of [['table', 'create'], ['recount']]) {
      const { code, output } = await runCliHere(command, env);
      expect({ command, code, output }).toMatchObject({ command, code: 0 });
    }
    const second = await serve(copy, PATIENT);
    await settled(second.ask);
    expect(await answers(second, globalId)).toEqual(before);
    expect(JSON.stringify(before)).toContain('"m17"');
    await second.close();
    copy.client.destroy();
  },
);
