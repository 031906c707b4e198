import {
  BatchWriteItemCommand,
  CreateTableCommand,
  ScanCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  type AttributeValue,
  type CreateTableCommandInput,
} from '@aws-sdk/client-dynamodb';
import { expect, test, vi } from 'vitest';

import type { Database } from '../../src/store/database.js';
import { chunks } from '../../src/store/request/pacing.js';
import { monthDefinitions } from '../../src/store/table/month-tables.js';
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
  [
    'mutation { createCollection(input: { key: "b", name: "B", readingsTable: MONTHLY, readingsTtlDays: 100, readingsSummarized: true }) { key } }',
  ],
  ['mutation { createMarker(input: { collection: "b", key: "monthly", position: { lng: 10, lat: 50 } }) { key } }'],
  [`mutation { recordReadings(marker: "marker::b::monthly", readings: [{ at: "${DAYS_AGO}", values: { a: 5 } }]) }`],
  ['mutation { updateMarker(input: { id: "marker::a::m1", position: { lng: 11, lat: 51 } }) { key } }'],
  ['mutation { deleteMarkers(ids: ["marker::a::m2", "marker::a::m3"]) { deleted } }'],
  ['mutation { createCollection(input: { key: "gone", name: "G" }) { key } deleteCollection(key: "gone") { key } }'],
];

const MONTHLY = `{ marker(id: "marker::b::monthly") {
  readings { at values } readingSummaries(value: "a", from: "${DAYS_AGO}") { summaries { start mean } }
} }`;

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
  all.push((await ask(MONTHLY)).data);
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
async function restore(from: Database, table: string, definition: CreateTableCommandInput): Promise<void> {
  const { StreamSpecification: _, ...request } = definition;
  await from.client.send(new CreateTableCommand(request));
  let after: Record<string, AttributeValue> | undefined;
  do {
    const page = await from.client.send(new ScanCommand({ TableName: table, ExclusiveStartKey: after }));
    for (const items of chunks(page.Items ?? [], 25)) {
      const writes = items.map((Item) => ({ PutRequest: { Item } }));
      await from.client.send(new BatchWriteItemCommand({ RequestItems: { [String(request.TableName)]: writes } }));
    }
    after = page.LastEvaluatedKey;
  } while (after);
}

/** The copies of the entities table and of the tables of months; returns the names of the latter. */
async function restoreAll(from: Database, to: Database): Promise<readonly string[]> {
  const [definition] = tableDefinitions(to.tables);
  if (!definition) throw new Error('there is no table');
  await restore(from, from.tables.entities, definition.request);
  const months: string[] = [];
  for (const { request } of await monthDefinitions(from, Date.now())) {
    const name = String(request.TableName);
    const TableName = name.replace(from.tables.entities, to.tables.entities);
    await restore(from, name, { ...request, TableName });
    months.push(TableName);
  }
  return months;
}

test.runIf(runsAll)(
  'copies of the entities table and of monthly tables have everything: after a recount, all answers are the same',
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

    const copy = newDatabase();
    const months = await restoreAll(db, copy);
    const TableName = copy.tables.entities;
    const env = { ...engineSettings(), CELLPORT_TABLE: TableName, CELLPORT_LOG: 'silent' };
    // docs/deploy.md names these steps.
    expect((await runCliHere(['table', 'create'], env)).output).toMatch(/stream must be/);
    await copy.client.send(new UpdateTableCommand({ TableName, StreamSpecification: STREAM }));
    const steps = async () => {
      for (const command of [['table', 'create'], ['recount']]) {
        const { code, output } = await runCliHere(command, env);
        expect({ command, code, output }).toMatchObject({ command, code: 0 });
      }
      return runCliHere(['doctor'], env);
    };
    const { code, output } = await steps();
    expect(code).toBe(1);
    for (const name of months) expect(output).toContain(`PROBLEM  table ${name}: `);
    expect(output).toContain('TTL attribute must be ttl; found none; stream must be NEW_AND_OLD_IMAGES; found none');
    for (const name of months) {
      const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true };
      await copy.client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
      await copy.client.send(new UpdateTableCommand({ TableName: name, StreamSpecification: STREAM }));
    }
    expect(await steps()).toMatchObject({ code: 0 });
    const second = await serve(copy, PATIENT);
    await settled(second.ask);
    expect(await answers(second, globalId)).toEqual(before);
    expect(JSON.stringify(before)).toContain('"m17"');
    expect(JSON.stringify(before)).toContain('"mean":5');
    await second.close();
    copy.client.destroy();
  },
);
