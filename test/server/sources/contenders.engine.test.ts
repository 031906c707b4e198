import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import type { TableKeyAttribute } from '../../../src/model/collection.js';
import { createDatabase } from '../../../src/store/create-database.js';
import { collect, websocketClient } from '../../live/support.js';
import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { injectFaults } from '../../support/faults.js';
import { randomFrom } from '../../support/random.js';
import { inTurn, runsAll } from '../../support/rounds.js';
import { runCliHere } from '../../support/run-cli.js';
import { engine, engineSettings, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';

const turn = inTurn(3);
const db = await testDatabase('readable', { stream: true });
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, settings);
const random = randomFrom(36);
const below = (most: number) => Math.floor(random() * most);
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellport-mappings-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Shown {
  readonly key: string;
  readonly position: { readonly lng: number; readonly lat: number };
  readonly properties: Readonly<Record<string, unknown>>;
}
type Ask = Awaited<ReturnType<typeof serve>>['ask'];

/** What the API shows of a collection: the map, with properties from the table. */
async function shown(ask: Ask, collection: string): Promise<Shown[]> {
  const { data, errors } = await ask(`{
    viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 3) {
      markers(collection: "${collection}", first: 500) { nodes { key position { lng lat } properties } }
    }
    collection(key: "${collection}") { count }
  }`);
  expect(errors).toBeUndefined();
  const nodes = data.viewport.markers.nodes as Shown[];
  expect(data.collection.count).toBe(nodes.length);
  return sorted(nodes);
}

/** What the API says of each marker by its ID. */
async function looked(ask: Ask, collection: string, keys: readonly string[]) {
  const fields = keys.map(
    (key, at) => `m${at}: marker(id: "marker::${collection}::${key}") { key position { lng lat } properties }`,
  );
  const { data, errors } = await ask(`{ ${fields.join(' ')} }`);
  expect(errors).toBeUndefined();
  return Object.values(data as Record<string, Shown>);
}

const sorted = (markers: Iterable<Shown>) => [...markers].sort((a, b) => (a.key < b.key ? -1 : 1));

/** A table of others with the key of a map that is not told by the primary key. */
interface Source {
  readonly name: string;
  readonly table: string;
  readonly key: readonly TableKeyAttribute[];
  readonly mapping: object;
  readonly change: () => Promise<void>;
  readonly wanted: () => Shown[];
}

/** Readings of trackers, late ones too; those at a time divisible by 7 have no position. */
function trackers() {
  const table = `${db.tables.entities}-readings`;
  const items = new Map<string, { readonly device: string; readonly at: number; readonly value: number }>();
  const positionOf = (at: number, value: number) => ({ lng: value, lat: (at % 180) - 90 });
  /** The newest first. */
  const of = (device: string) => [...items.values()].filter((one) => one.device === device).sort((a, b) => b.at - a.at);
  async function put(device: string, at: number, value: number): Promise<void> {
    items.set(`${device}/${at}`, { device, at, value });
    await putItem(db, table, { device, at, value, ...(at % 7 === 0 ? {} : { where: positionOf(at, value) }) });
  }
  async function remove(device: string, at: number): Promise<void> {
    items.delete(`${device}/${at}`);
    await deleteItem(db, table, { device, at });
  }
  return {
    name: 'trackers',
    table,
    key: [
      { name: 'device', type: 'S' },
      { name: 'at', type: 'N' },
    ] as const,
    mapping: {
      table,
      key: '{device}',
      position: { lng: 'where.lng', lat: 'where.lat' },
      newest: 'at',
      properties: ['value'],
    },
    put,
    remove,
    newest: (device: string, most: number) =>
      of(device)
        .slice(0, most)
        .map(({ at }) => at),
    async change() {
      const device = `d${below(12)}`;
      const gone = random() < 0.4 ? of(device)[0] : undefined;
      await (gone ? remove(device, gone.at) : put(device, below(400), below(90)));
    },
    wanted() {
      const devices = [...new Set([...items.values()].map(({ device }) => device))];
      return sorted(
        devices.flatMap((device) => {
          const { at, value } = of(device)[0] ?? { at: 0, value: 0 };
          return at % 7 === 0 ? [] : [{ key: device, position: positionOf(at, value), properties: { value } }];
        }),
      );
    },
  };
}

/** Trucks under the key of their place: one that moves is put anew and deleted where it was, in any order. */
function trucks(): Source {
  const table = `${db.tables.entities}-trucks`;
  const trucksById = new Map<number, { readonly lng: number; readonly lat: number; readonly tag: number }>();
  const bucketOf = ({ lng, lat }: { readonly lng: number; readonly lat: number }) => `${lng},${lat}`;
  return {
    name: 'trucks',
    table,
    key: [
      { name: 'bucket', type: 'S' },
      { name: 'id', type: 'N' },
    ],
    mapping: { table, key: '{id}', position: { lng: 'lng', lat: 'lat' }, properties: ['tag'] },
    async change() {
      const id = below(20);
      const known = trucksById.get(id);
      const remove = known && (() => deleteItem(db, table, { bucket: bucketOf(known), id }));
      if (known && random() < 0.2) {
        trucksById.delete(id);
        return remove?.();
      }
      const truck = { lng: below(6), lat: below(6), tag: below(100) };
      trucksById.set(id, truck);
      const steps = [() => putItem(db, table, { ...truck, id, bucket: bucketOf(truck) })];
      if (known && bucketOf(known) !== bucketOf(truck) && remove) steps.splice(below(2), 0, remove);
      for (const step of steps) await step();
    },
    wanted: () =>
      sorted([...trucksById].map(([id, { tag, ...position }]) => ({ key: String(id), position, properties: { tag } }))),
  };
}

/** Lines, each with several stops; those that are shut are not shown. */
function lines(): Source {
  const table = `${db.tables.entities}-lines`;
  const stopsById = new Map<string, readonly { readonly at: readonly number[]; readonly tag: number }[]>();
  return {
    name: 'lines',
    table,
    key: [{ name: 'id', type: 'S' }],
    mapping: {
      table,
      items: { id: 'LINE#{id}' },
      each: 'stops',
      where: [{ path: 'stops.tag', ne: 3 }],
      position: { path: 'stops.at', as: 'lat,lng' },
      properties: ['stops.tag'],
      details: ['label'],
    },
    async change() {
      const id = `l/${below(12)}`;
      if (stopsById.has(id) && random() < 0.2) {
        stopsById.delete(id);
        return deleteItem(db, table, { id: `LINE#${id}` });
      }
      const stops = Array.from({ length: below(5) }, () => ({ at: [below(90), below(180)], tag: below(5) }));
      stopsById.set(id, stops);
      await putItem(db, table, { id: `LINE#${id}`, stops, label: id });
    },
    wanted: () =>
      sorted(
        [...stopsById].flatMap(([label, stops]) =>
          stops.flatMap(({ at: [lat = 0, lng = 0], tag }, index) =>
            tag === 3
              ? []
              : [{ key: `${label}/${index}`, position: { lng, lat }, properties: { 'stops.tag': tag, label } }],
          ),
        ),
      ),
  };
}

const created = new Map<Source, Promise<void>>();

/** Creates it, unless an earlier test has. */
function create(source: Source): Promise<void> {
  const creating = created.get(source) ?? createAnew(source);
  created.set(source, creating);
  return creating;
}

async function createAnew({ name, table, key, mapping, change }: Source): Promise<void> {
  await createTable(db, table, key, 'NEW_AND_OLD_IMAGES');
  for (let at = 0; at < 120; at++) await change();
  const path = join(folder, `${name}.json`);
  await writeFile(path, JSON.stringify(mapping));
  const { output } = await cli('source', 'create', name, path);
  expect(output).toMatch(/markers from table/);
}

const catchUp = { timeout: 30_000, interval: 200 };
const sources = [trackers(), trucks(), lines()] as const;

test('items that share the key of a marker, or have several: the map shows the newest, the last that moved, or all, and verify agrees', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  for (const source of sources) await create(source);
  const { ask, url } = await serve(db);
  for (const source of sources) expect(await shown(ask, source.name)).toEqual(source.wanted());
  for (let round = 0; round < (runsAll ? 2 : 1); round++) {
    for (let at = 0; at < 120; at++) await sources[at % 3]?.change();
    for (const source of sources)
      await vi.waitFor(async () => expect(await shown(ask, source.name)).toEqual(source.wanted()), catchUp);
  }
  for (const source of sources) {
    const { name } = source;
    const keys = source.wanted().map(({ key }) => key);
    expect(await looked(ask, name, keys)).toEqual(source.wanted());
    const { output, code } = await cli('source', 'verify', name);
    expect(output).toMatch(/0 of [\d,]+ blocks of counts and 0 of [\d,]+ pages differ/);
    expect(code).toBe(0);
  }

  // Only changes of the marker are live: not the late reading between two others.
  const [readings] = sources;
  const live = collect(
    websocketClient(url),
    'subscription { markerChanged(collection: "trackers") { kind marker { key properties } } }',
  );
  const values = () => live.data.map(({ markerChanged: { marker } }) => (marker?.properties.value as number) ?? null);
  let at = 1_000;
  await vi.waitFor(async () => {
    await readings.put('live', (at += 1), 1);
    expect(values()).toContain(1);
  }, catchUp);
  await readings.put('live', 3, 50);
  await readings.put('live', 5_000, 3);
  await vi.waitFor(() => expect(values()).toContain(3), catchUp);
  expect(values()).not.toContain(50);
  expect(live.errors).toEqual([]);
});

test('a batch that is applied again after a crash changes nothing, although the table has changed meanwhile', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const [readings, , stops] = sources;
  for (const source of [readings, stops]) await create(source);
  for (const at of [5_001, 5_002, 5_003]) await readings.put('live', at, 3);
  const faulty = createDatabase({ ...engine(), tables: db.tables, keyStyle: 'readable' });
  // The winners are stored, and one of the blocks or pages that follow from them.
  const faults = injectFaults(faulty, 'BatchExecuteStatement', [
    undefined,
    undefined,
    ...Array<'refused'>(100_000).fill('refused'),
  ]);
  const crashing = await serve(faulty);
  for (const at of readings.newest('live', 2)) await readings.remove('live', at);
  for (let at = 0; at < 30; at++) await stops.change();
  await vi.waitFor(() => expect(faults.met).toBeGreaterThan(2), catchUp);
  await crashing.close();
  faulty.client.destroy();
  // The table has another answer now.
  for (const at of readings.newest('live', 2)) await readings.remove('live', at);

  const { ask } = await serve(db);
  await vi.waitFor(async () => expect(await shown(ask, 'trackers')).toEqual(readings.wanted()), catchUp);
  await vi.waitFor(async () => expect(await shown(ask, 'lines')).toEqual(stops.wanted()), catchUp);
  for (const name of ['trackers', 'lines']) {
    const { output } = await cli('source', 'verify', name);
    expect(output).toMatch(/0 of [\d,]+ blocks of counts and 0 of [\d,]+ pages differ/);
  }
});

test('of several equal items, the one that is the marker is right, wherever a scan meets it', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const table = `${db.tables.entities}-ties`;
  await createTable(
    db,
    table,
    [
      { name: 'device', type: 'S' },
      { name: 'n', type: 'N' },
    ],
    'NEW_AND_OLD_IMAGES',
  );
  const put = (n: number) => putItem(db, table, { device: 'd', n, day: 1, lng: n, lat: 0 });
  await put(3);
  await put(4);
  const file = join(folder, 'ties.json');
  const position = { lng: 'lng', lat: 'lat' };
  await writeFile(file, JSON.stringify({ table, key: '{device}', position, newest: 'day', properties: ['n'] }));
  expect((await cli('source', 'create', 'ties', file)).code).toBe(0);
  const { ask } = await serve(db);
  for (const n of [1, 2, 5]) await put(n);
  await putItem(db, table, { device: 'last', n: 1, day: 1, lng: 0, lat: 0 });
  await vi.waitFor(async () => expect(await shown(ask, 'ties')).toHaveLength(2), catchUp);
  expect((await shown(ask, 'ties'))[0]).toMatchObject({ key: 'd', properties: { n: 3 } });
  expect((await cli('source', 'verify', 'ties')).output).toMatch(/0 of [\d,]+ blocks of counts and 0 of [\d,]+ pages/);
});
