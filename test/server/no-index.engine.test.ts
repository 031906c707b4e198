import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';

import type { Bounds } from '../../src/geo/bounds.js';
import { GEOHASH_ALPHABET } from '../../src/geo/geohash.js';
import { silentLog } from '../../src/log.js';
import { recountDerived } from '../../src/server/consumer.js';
import { CONSUMER, loadStreamState, putStreamState, type StreamState } from '../../src/store/cell/stream-state.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { walkPages } from '../../src/store/page/walk-pages.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { bruteInside, edgePositions } from '../map/fixture.js';
import { withoutWaiting } from '../stream/support.js';
import { postQuery } from '../support/post-query.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { runsAll } from '../support/rounds.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testDatabase } from '../support/test-database.js';
import { serve, type Answer } from './sources/server.js';

const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, { ...settings, CELLPORT_DATA_DIR: join(folder, 'data') });
const streams = createStreamsClient(engine());
const backend = {
  database: { ...db, clock: withoutWaiting(db.clock) },
  streams,
  where: '',
  storageFault: async () => undefined,
  close: async () => undefined,
};
afterAll(() => streams.destroy());

const random = randomFrom(351);
const edges = edgePositions();
const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
const somewhere = () => (random() < 0.4 ? one(edges) : { lng: random() * 360 - 180, lat: random() * 180 - 90 });

/** What the maps have to show: positions and categories by key. */
const model = new Map<string, { readonly position: { lng: number; lat: number }; readonly category: string }>();
const KINDS = ['bus', 'tram'];
/** A collection without a geo index, and one with the same markers. */
const BOTH = ['fleet', 'twin'] as const;
type Ask = (query: string, variables?: object) => Promise<Answer>;

async function done(ask: Ask, query: string, variables: object = {}) {
  const { data, errors } = await ask(query, variables);
  expect(errors).toBeUndefined();
  return data;
}

/** Makes the same random change in both collections. */
async function change(ask: Ask, key: string): Promise<void> {
  const known = model.has(key);
  const marker = { position: somewhere(), category: one(KINDS) };
  for (const collection of BOTH) {
    const id = `marker::${collection}::${key}`;
    if (!known) {
      const input = { collection, key, properties: { long: 'x'.repeat(300), speed: 7 }, ...marker };
      await done(ask, 'mutation ($input: CreateMarkerInput!) { createMarker(input: $input) { key } }', { input });
    } else if (marker.category === 'bus' && marker.position.lat > 60) {
      await done(ask, 'mutation ($id: ID!) { deleteMarker(id: $id) { key } }', { id });
    } else {
      const input = { id, ...marker };
      await done(ask, 'mutation ($input: UpdateMarkerInput!) { updateMarker(input: $input) { key } }', { input });
    }
  }
  if (known && marker.category === 'bus' && marker.position.lat > 60) model.delete(key);
  else model.set(key, marker);
}

const MARKERS = `query ($of: String!, $bounds: BoundsInput!) { viewport(bounds: $bounds, zoom: 3) {
  markers(collection: $of, first: 2000) { nodes { key category position { lng lat } } }
} }`;

const EVERYTHING = `query ($of: String!, $bounds: BoundsInput!, $center: PointInput!, $polygon: GeoJSON!) {
  viewport(bounds: $bounds, zoom: 3) {
    filtered: markers(collection: $of, filter: { category: ["tram"], properties: [{ name: "speed", gt: 3 }] }) { nodes { key } }
    count(collection: $of)
    cells(collection: $of) { geohash count }
    clusters(collection: $of) { count position { lng lat } }
    auto(collection: $of, limit: 20) { mode total markers { key } clusters { count } }
    features(collection: $of, limit: 30)
    plan(collection: $of) { source }
  }
  collection(key: $of) {
    count
    bounds { west south east north }
    markers(first: 2000) { nodes { key } }
    nearest(center: $center, count: 7) { distance node { key } }
    within(center: $center, radius: 3000000, first: 500) { edges { distance node { key } } }
    inside(polygon: $polygon) { nodes { key } }
  }
}`;

function someBounds(): Bounds {
  const { lng, lat } = somewhere();
  const east = lng + random() * 180;
  return {
    west: lng,
    south: Math.max(-90, lat - 40),
    east: east > 180 ? east - 360 : east,
    north: Math.min(90, lat + 40),
  };
}

/** What a request says that it cost. */
async function costOf(url: string, variables: object) {
  const answer = await postQuery(url, MARKERS, { variables, headers: { 'x-cellport-cost': '1' } });
  return ((await answer.json()) as Answer).extensions.cost as { readonly behindMs: number };
}

/** The answer of a collection without its key. */
const answerOf = async (ask: Ask, of: string, variables: object) =>
  JSON.parse(
    JSON.stringify(await done(ask, EVERYTHING, { of, ...variables })).replaceAll(`::${of}::`, '::'),
  ) as unknown;

describe('a collection without a geo index', async () => {
  const calls = recordCalls(db);
  /** Reads of the entries of a collection in a geo index. */
  const indexed = (of: string) =>
    calls.commands.filter(
      ({ name, input }) =>
        name === 'Query' && JSON.stringify(input).includes(`"marker::${of}::`) && 'IndexName' in input,
    );

  test('is answered as one with an index, with its own writes at once, and never by the index', async () => {
    const { ask, url } = await serve(db);
    const create = 'mutation ($input: CreateCollectionInput!) { createCollection(input: $input) { geoIndex } }';
    for (const key of BOTH) {
      const input = { key, name: key, geoIndex: key === 'twin', globalIds: true };
      const made = () => done(ask, create, { input });
      expect(await made()).toEqual({ createCollection: { geoIndex: key === 'twin' } });
    }
    await vi.waitFor(() => done(ask, MARKERS, { of: 'fleet', bounds: someBounds() }), { timeout: 20_000 });

    for (let round = 0; round < (runsAll ? 3 : 1); round++) {
      for (let at = 0; at < 40; at++) await change(ask, `v ${Math.floor(random() * 80)}`);
      for (let map = 0; map < 6; map++) {
        const bounds = map === 0 ? { west: -180, south: -90, east: 180, north: 90 } : someBounds();
        const { viewport } = await done(ask, MARKERS, { of: 'fleet', bounds });
        const expected = Array.from(model, ([key, marker]) => ({ key, ...marker })).filter(({ position }) =>
          bruteInside(bounds, position),
        );
        const shown = viewport.markers.nodes as { key: string }[];
        expect(shown.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual(
          expected.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
        );
      }
      const counted = async () =>
        (await done(ask, '{ a: collection(key: "fleet") { count } b: collection(key: "twin") { count } }')) as object;
      await vi.waitFor(
        async () => expect(await counted()).toEqual({ a: { count: model.size }, b: { count: model.size } }),
        { timeout: 20_000 },
      );
      const center = somewhere();
      const ring = [
        [-60, -40],
        [70, -30],
        [60, 50],
        [-50, 40],
        [-60, -40],
      ];
      const variables = { bounds: someBounds(), center, polygon: { type: 'Polygon', coordinates: [ring] } };
      await vi.waitFor(
        async () => expect(await answerOf(ask, 'fleet', variables)).toEqual(await answerOf(ask, 'twin', variables)),
        { timeout: 20_000 },
      );
    }
    expect(indexed('fleet')).toEqual([]);

    const told = await costOf(url, { of: 'fleet', bounds: someBounds() });
    expect(told).toMatchObject({ markersFrom: 'PAGES', behindMs: expect.any(Number) as number });
    expect(told.behindMs).toBeLessThan(20_000);

    const edit = await ask('mutation { updateCollection(input: { key: "fleet", geoIndex: true }) { key } }');
    expect(edit.errors?.[0]?.message).toMatch(/geoIndex/);
    const refused = await ask(create, { input: { key: 'no', name: 'No', geoIndex: false, writeShards: 2 } });
    expect(refused.errors?.[0]?.message).toMatch(/writeShards.*without a geo index/);
  });

  test('costs one write unit for a move', async () => {
    const collections = await getCollections(newCall(db), [...BOTH]);
    const units = [];
    for (const collection of collections) {
      if (collection === null) throw new Error('there is no such collection');
      const call = newCall(db);
      const [key = ''] = model.keys();
      await updateMarker(
        call,
        { collection, key },
        { position: { lng: 12.5, lat: 41.9 } },
        { now: new Date().toISOString() },
      );
      units.push(call.meter.writeUnits);
    }
    const [key = ''] = model.keys();
    model.set(key, { category: model.get(key)?.category ?? '', position: { lng: 12.5, lat: 41.9 } });
    const [fleet = Infinity, twin = 0] = units;
    expect(fleet).toBeLessThanOrEqual(2.2);
    expect(fleet).toBeLessThan(twin);
  });

  async function exported(of: string, ...more: string[]): Promise<string[]> {
    const file = join(folder, `${of}.ndjson`);
    expect(await cli('export', '-c', of, '-o', file, ...more)).toMatchObject({ code: 0 });
    return (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .toSorted();
  }

  test('is exported as one with an index, including changes that its pages lack', async () => {
    calls.reset();
    // No server runs: the pages lack these, and the move of the test before.
    const [gone = ''] = [...model.keys()].slice(-1);
    for (const collection of await getCollections(newCall(db), [...BOTH])) {
      if (collection === null) throw new Error('there is no such collection');
      const now = new Date().toISOString();
      await createMarkers(
        newCall(db),
        collection,
        [{ key: 'late', position: { lng: 1, lat: 2 }, category: 'bus' }],
        now,
      );
      await deleteMarker(newCall(db), { collection, key: gone }, { now });
    }
    model.set('late', { position: { lng: 1, lat: 2 }, category: 'bus' });
    model.delete(gone);
    const whole = await exported('fleet');
    expect(whole).toHaveLength(model.size);
    expect(whole).toEqual(await exported('twin'));
    const part = ['--bounds', '-30,-20,120,70'];
    expect(await exported('fleet', ...part)).toEqual(await exported('twin', ...part));
  });

  test('is walked completely while a recount replaces its pages', async () => {
    const [fleet] = await getCollections(newCall(db), ['fleet']);
    if (!fleet) throw new Error('there is no such collection');
    const recount = () => recountDerived(backend, silentLog, false, new AbortController().signal);
    // The pages lack what was written since the server stopped.
    await recount();
    let asked = 0;
    const generation = async () => {
      if ((asked += 1) === 12) await recount();
      return (await loadStreamState(newCall(db), CONSUMER))?.pages?.generation;
    };
    const found: string[] = [];
    const walked = { scope: db.keys.scope(fleet), generation, partitions: Array.from(GEOHASH_ALPHABET) };
    for await (const { markers } of walkPages(newCall(db), walked)) found.push(...markers.map(({ key }) => key));
    expect(found.toSorted()).toEqual([...model.keys()].toSorted());
  });

  test('stays readable while a recount builds other pages; without any, it says what to do', async () => {
    const edit = async (more: Partial<StreamState>) => {
      const state = await loadStreamState(newCall(db), CONSUMER);
      if (state) await putStreamState(newCall(db), CONSUMER, { ...state, ...more, version: state.version + 1 });
    };
    const { pages } = (await loadStreamState(newCall(db), CONSUMER)) ?? {};
    const bounds = { west: -180, south: -90, east: 180, north: 90 };
    await edit({
      pages: null,
      formerPages: pages ? { ...pages, endAt: Date.now() } : null,
      gap: { since: '2026-11-21T10:00:00.000Z', reason: 'a recount' },
    });
    const { ask, url, close } = await serve(db, { CELLPORT_CONSUMER: 'off' });
    expect((await done(ask, MARKERS, { of: 'fleet', bounds })).viewport.markers.nodes).toHaveLength(model.size);
    await done(ask, MARKERS, { of: 'twin', bounds });
    expect(indexed('twin').length).toBeGreaterThan(0);
    expect(indexed('fleet')).toEqual([]);
    const told = await costOf(url, { of: 'fleet', bounds });
    // The gap began some days ago.
    expect(told.behindMs).toBeGreaterThan(86_400_000);
    await close();
    await edit({ formerPages: null });
    const other = await serve(db, { CELLPORT_CONSUMER: 'off' });
    const { errors } = await other.ask(MARKERS, { of: 'fleet', bounds });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/fleet.*recount/) as string,
      extensions: { code: 'UNAVAILABLE' },
    });
    const failed = await cli('export', '-c', 'fleet', '-o', join(folder, 'none.ndjson'));
    expect(failed).toMatchObject({ code: 1, output: expect.stringMatching(/no pages of fleet/) as string });
  });

  test('is made by import, and left alone by an import of the same file', async () => {
    const file = join(folder, 'places.csv');
    await writeFile(file, 'key,lng,lat,name\na,1,2,A\nb,180,-90,B\n');
    const first = await cli('import', file, '-c', 'places', '--no-geo-index');
    expect(first).toMatchObject({ code: 0, output: expect.stringMatching(/2 created/) as string });
    const again = await cli('import', file, '-c', 'places');
    expect(again).toMatchObject({ code: 0, output: expect.stringMatching(/2 unchanged/) as string });
    expect(await getCollections(newCall(db), ['places'])).toMatchObject([{ geoIndex: false }]);
  });

  test('is refused by what works on the geo index', async () => {
    for (const args of [
      ['repartition', 'fleet', '--prefix-length', '3'],
      ['hot', '--spread', 'u3', '-c', 'fleet'],
      ['advise', '--collection', 'fleet'],
    ]) {
      const { code, output } = await cli(...args);
      expect(output).toMatch(/collection fleet has no geo index/);
      expect(code).not.toBe(0);
    }
  });
});
