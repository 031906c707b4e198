import { afterAll, expect, test } from 'vitest';

import { GEOHASH_ALPHABET } from '../../../src/geo/geohash.js';
import { type MapCell, cellAt, cellChildren, viewportCells } from '../../../src/map/cells/cells.js';
import { placesUnder } from '../../../src/map/places.js';
import { readViewport } from '../../../src/map/viewport.js';
import type { Collection } from '../../../src/model/collection.js';
import type { Place } from '../../../src/model/place.js';
import { createCollection } from '../../../src/store/collection/collections.js';
import { newMarkerItem } from '../../../src/store/marker/marker-item.js';
import { newCall } from '../../../src/store/request/meter.js';
import { send } from '../../../src/store/request/send.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { NOW, requestContext } from '../../map/fixture.js';
import { testDatabase } from '../../support/test-database.js';
import { createChance } from '../simulation/world.js';
import {
  countedCells,
  countedPlaces,
  markerEntries,
  shown,
  storedCells,
  storedEntries,
  storedPlaces,
  untilRead,
} from '../support.js';
import { mortalConsumer } from './mortal.js';
import { rounds } from '../../support/rounds.js';

const KILLS = rounds('kills');
/** Enough for almost every place, however slow the machine is. */
const LEAST_WRITES = 500;
const WRITERS = 4;
/** Cells are stored up to length 5; the server counts longer ones from their markers on request. */
const LONGEST_CELL = 8;

const WORLD = readViewport({ bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 1 });

const db = await testDatabase('readable', { stream: true });
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
const consumer = mortalConsumer(db);
afterAll(() => consumer.kill());

const byName = (cells: readonly MapCell[]) =>
  Object.fromEntries(cells.map((cell) => [`${cell.collection.key}/${cell.geohash}`, shown(cell)] as const));

/** Every non-empty cell of a collection, found like a client: from each cell to its children. */
async function walkedCells(collection: Collection): Promise<MapCell[]> {
  const { context } = requestContext(db);
  const found: MapCell[] = [];
  let level = await Promise.all(Array.from(GEOHASH_ALPHABET, (geohash) => cellAt(context, collection, geohash)));
  for (let length = 1; length <= LONGEST_CELL; length += 1) {
    level = level.filter(({ count }) => count > 0);
    found.push(...level);
    level = (await Promise.all(level.map((cell) => cellChildren(context, cell)))).flat();
  }
  return found;
}

/** Every place of a collection with markers, found like a client: from each place to those inside it. */
async function walkedPlaces(collection: Collection, under: Place = []): Promise<[string, number][]> {
  const { context } = requestContext(db);
  const counts = await placesUnder(context, collection, under);
  const inside = await Promise.all(counts.map(({ place }) => walkedPlaces(collection, place)));
  return [
    ...counts.map(({ place, count }): [string, number] => [[collection.key, ...place].join('/'), count]),
    ...inside.flat(),
  ];
}

test(`cells, places and pages are exact after kill -9 at random moments while markers are written (seed ${seed})`, async () => {
  const chance = createChance(seed);
  const collection = await createCollection(db, { key: 'parks', name: 'Parks' }, NOW, newCall());
  let writing = true;
  let written = 0;
  async function write(): Promise<void> {
    while (writing || written < LEAST_WRITES) {
      written += 1;
      const key = `m${chance.integer(1, 300)}`;
      const { pk, sk } = db.keys.marker('parks', key);
      if (chance.happens(0.2)) {
        await send(db, 'delete', { TableName: db.tables.entities, Key: { pk, sk } }, newCall());
        continue;
      }
      // Some near each other, some anywhere, and some on the antimeridian.
      const near = chance.happens(0.6);
      const lng = near ? 16.9 + chance.next() / 10 : chance.pick([180, -180, chance.next() * 360 - 180]);
      const lat = near ? 52.4 + chance.next() / 10 : chance.next() * 180 - 90;
      const place = ['Poznań', chance.pick(['A', 'B']), String(chance.integer(1, 12))].slice(0, chance.integer(0, 3));
      const item = newMarkerItem(db, collection, { key, position: { lng, lat }, place }, NOW);
      await send(db, 'put', { TableName: db.tables.entities, Item: item }, newCall());
    }
  }
  const writers = Array.from({ length: WRITERS }, write);
  consumer.start();
  for (let kills = 0; kills < KILLS; kills += 1) await consumer.killAtWork(() => chance.next());
  writing = false;
  await Promise.all(writers);
  await untilRead(db);

  const state = await loadStreamState(db, 'cells', newCall());
  expect(state?.gap).toBeNull();
  expect(await storedCells(db)).toEqual(await countedCells(db));
  expect(await storedEntries(db)).toEqual(await markerEntries(db));
  const places = await countedPlaces(db);
  expect(Object.keys(places).length).toBeGreaterThan(5);
  expect(await storedPlaces(db)).toEqual(places);
  expect(Object.fromEntries(await walkedPlaces(collection))).toEqual(places);

  // The server's cells of all lengths: from stored counts, or from the markers if there are none.
  const counted = await countedCells(db, LONGEST_CELL);
  const walked = await walkedCells(collection);
  expect(byName(walked)).toEqual(counted);
  const { context: asking } = requestContext(db);
  expect(await Promise.all(walked.map(({ geohash }) => cellAt(asking, collection, geohash)))).toEqual(walked);
  const near = readViewport({ bounds: { west: 16.9, south: 52.4, east: 17, north: 52.5 }, zoom: 12 });
  for (let length = 1; length <= LONGEST_CELL; length += 1) {
    const { context } = requestContext(db);
    const cells = await viewportCells(context, near, 'parks', length);
    expect(cells.length).toBeGreaterThan(0);
    expect(counted).toMatchObject(byName(cells));
    const { context: patient } = requestContext(db, { limits: { rangesPerPage: 5_000 } });
    const all = Object.entries(counted).filter(([name]) => name.length === 'parks/'.length + length);
    expect(byName(await viewportCells(patient, WORLD, 'parks', length))).toEqual(Object.fromEntries(all));
  }
}, 300_000);
