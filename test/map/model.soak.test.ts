import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { cellAt, viewportCells } from '../../src/map/cells/cells.js';
import { viewportCount } from '../../src/map/cells/count.js';
import { collectionCount, collectionMarkers } from '../../src/map/collection.js';
import type { ConnectionArguments, MarkerConnection } from '../../src/map/connection.js';
import { viewportAuto } from '../../src/map/content.js';
import { viewportMarkers } from '../../src/map/markers.js';
import { markersInPlace, placesUnder } from '../../src/map/places.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Marker } from '../../src/model/marker.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker, createMarkers, type MarkerWrite } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { mortalConsumer } from '../stream/kill/mortal.js';
import {
  countedCells,
  countedPlaces,
  markerEntries,
  storedCells,
  storedEntries,
  storedPlaces,
  untilRead,
} from '../stream/support.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { newDatabase, testDatabase } from '../support/test-database.js';
import { bruteInside, makeCollection, NOW, requestContext } from './fixture.js';

const db = await testDatabase('readable', { stream: true });
const consumer = mortalConsumer(db);
afterAll(() => consumer.kill());

const SPOTS = [
  { lng: 16.93, lat: 52.41 },
  { lng: 16.9301, lat: 52.4101 },
  { lng: 13.4, lat: 52.52 },
  { lng: 180, lat: 0 },
  { lng: -180, lat: 0.1 },
  { lng: 0, lat: 90 },
  { lng: -70, lat: -33 },
];
const PLACES = [[], ['A'], ['A', '1'], ['A', '12'], ['A', '1', 'x'], ['B', '1']];

/** All markers of a list, page by page. */
async function all(page: (input: ConnectionArguments) => Promise<MarkerConnection>): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | null = null; ;) {
    const { edges, pageInfo }: MarkerConnection = await page({ first: 7, after });
    keys.push(...edges.map(({ node }) => node.key));
    if (!pageInfo.hasNextPage) return keys.toSorted();
    after = pageInfo.endCursor;
  }
}

const KILLS = rounds('killsOfModel');
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));

test(`after concurrent clients have created, changed, moved and deleted markers while the consumer was killed at random, every query agrees with a model (seed ${seed})`, async () => {
  const moment = randomFrom(seed);
  const collection = await makeCollection(db, { key: 'model', name: 'Model', globalIds: true }, []);
  /** The responses to clients' writes by incarnation of the marker; the highest version is the current one. */
  const model = new Map<string, Marker>();
  const buried = new Set<string>();
  const told = ({ marker }: MarkerWrite, gone = false) => {
    if (gone) buried.add(marker.incarnation);
    if ((model.get(marker.incarnation)?.version ?? 0) < marker.version) model.set(marker.incarnation, marker);
  };

  const act = async (seed: number, goOn: () => boolean): Promise<void> => {
    const own = newDatabase('readable', { tables: db.tables, giveUpAfterMs: 60_000 });
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    while (goOn()) {
      const key = `m${Math.floor(random() * 25)}`;
      const anywhere = { lng: random() * 360 - 180, lat: random() * 180 - 90 };
      const position = random() < 0.3 ? anywhere : pick(SPOTS);
      const says = { position, place: pick(PLACES), name: pick(['a', 'b', null]) };
      const chance = random();
      try {
        if (chance < 0.3) told(await createMarker(newCall(own), collection, { key, ...says }, NOW));
        else if (chance < 0.35) {
          const inputs = [key, `${key}x`].map((one) => ({ key: one, ...says }));
          for (const write of (await createMarkers(newCall(own), collection, inputs, NOW)).written) told(write);
        } else if (chance < 0.8) {
          const field = pick(['position', 'place', 'name'] as const);
          const change = { [field]: says[field] };
          told(await updateMarker(newCall(own), { collection, key }, change, { now: NOW }));
        } else told(await deleteMarker(newCall(own), { collection, key }, { now: NOW }), true);
      } catch (error) {
        expect(['CONFLICT', 'NOT_FOUND']).toContain((error as { code?: string }).code);
      }
      await sleep(5);
    }
    own.client.destroy();
  };
  consumer.start();
  for (let round = 0; round < rounds('halvesOfModel'); round += 1) {
    let writing = true;
    const clients = [1, 2, 3, 4].map((client) => act(seed + round * 10 + client, () => writing));
    for (let kills = 0; kills < KILLS; kills += 1) await consumer.killAtWork(moment);
    writing = false;
    await Promise.all(clients);
    await untilRead(db);

    const markers = [...model.values()].filter(({ incarnation }) => !buried.has(incarnation));
    expect(new Set(markers.map(({ key }) => key)).size).toBe(markers.length);
    const keysOf = (list: readonly Pick<Marker, 'key'>[]) => list.map(({ key }) => key).toSorted();
    expect(markers.length).toBeGreaterThan(5);
    const { context } = requestContext(db);
    const { loaders } = context;
    for (const marker of markers) {
      expect(await loaders.entities.marker('model', marker.key)).toEqual(marker);
      expect(await loaders.entities.markerByGlobalId(marker.globalId!)).toEqual(marker);
    }
    expect(await loaders.entities.marker('model', 'never')).toBeNull();
    expect(await all((page) => collectionMarkers(requestContext(db).context, collection, page))).toEqual(
      keysOf(markers),
    );
    expect(await collectionCount(context, collection)).toBe(markers.length);
    for (const under of PLACES) {
      const below = markers.filter(
        ({ place }) => under.every((name, at) => place[at] === name) && place.length > under.length,
      );
      const names = new Set(below.map(({ place }) => place[under.length]));
      const counts = [...names].map((name) => [name, below.filter(({ place }) => place[under.length] === name).length]);
      const found = await placesUnder(requestContext(db).context, collection, under);
      expect(Object.fromEntries(found.map(({ name, count }) => [name, count]))).toEqual(Object.fromEntries(counts));
    }
    for (const place of PLACES.slice(1)) {
      const inside = markers.filter((marker) => place.every((name, at) => marker.place[at] === name));
      const found = await all((page) => markersInPlace(requestContext(db).context, collection, place, page));
      expect(found).toEqual(keysOf(inside));
    }
    for (const bounds of [
      { west: 13, south: 52, east: 17, north: 53 },
      { west: 170, south: -10, east: 190, north: 10 },
      { west: -180, south: -90, east: 180, north: 90 },
    ]) {
      const viewport = readViewport({ bounds, zoom: 6 });
      const inside = markers.filter(({ position }) => bruteInside(bounds, position));
      const found = await all((page) => viewportMarkers(requestContext(db).context, viewport, 'model', page));
      expect(found).toEqual(keysOf(inside));
      expect(await viewportCount(requestContext(db).context, viewport, 'model')).toBe(inside.length);
      const whole = await viewportAuto(requestContext(db).context, viewport, 'model', 100);
      expect(keysOf(whole.markers)).toEqual(keysOf(inside));
      const parted = await viewportAuto(requestContext(db).context, viewport, 'model', 1);
      expect(parted.total).toBe(inside.length);
      expect(parted.mode).toBe(inside.length > 1 ? 'CLUSTERS' : 'MARKERS');
    }
    const world = readViewport({ bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 2 });
    for (const precision of [1, 3]) {
      const cells = await viewportCells(requestContext(db).context, world, 'model', precision);
      const counted = new Map<string, number>();
      for (const { position } of markers) {
        const hash = encode(position, precision);
        counted.set(hash, (counted.get(hash) ?? 0) + 1);
      }
      expect(new Map(cells.map(({ geohash, count }) => [geohash, count]))).toEqual(counted);
    }
    const street = encode(SPOTS[0]!, 7);
    const there = markers.filter(({ position }) => encode(position, 7) === street);
    expect((await cellAt(requestContext(db).context, collection, street)).count).toBe(there.length);
    expect((await loadStreamState(newCall(db), 'cells'))?.gap).toBeNull();
    expect(await storedCells(db)).toEqual(await countedCells(db));
    expect(await storedPlaces(db)).toEqual(await countedPlaces(db));
    expect(await storedEntries(db)).toEqual(await markerEntries(db));
  }
});
