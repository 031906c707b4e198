import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';

import type { Collection } from '../../../src/model/collection.js';
import { loadStreamState } from '../../../src/store/cell/stream-state.js';
import { createCollection } from '../../../src/store/collection/collections.js';
import { newMarkerItem } from '../../../src/store/marker/marker-item.js';
import { createMarkers, getMarkers } from '../../../src/store/marker/markers.js';
import { listDueDays } from '../../../src/store/reading/kept-days.js';
import { readKeptSummaries } from '../../../src/store/reading/kept-summaries.js';
import { newCall } from '../../../src/store/request/meter.js';
import { send } from '../../../src/store/request/send.js';
import { NOW } from '../../map/fixture.js';
import { rounds } from '../../support/rounds.js';
import { testDatabase } from '../../support/test-database.js';
import { createChance, type Chance } from '../simulation/world.js';
import {
  allItems,
  countedCells,
  countedPlaces,
  markerEntries,
  storedCells,
  storedEntries,
  storedPlaces,
  untilRead,
} from '../support.js';
import { mortalConsumer } from './mortal.js';

const KILLS = rounds('kills');
/** Enough for almost every place, however slow the machine is. */
const LEAST_WRITES = 500;
const MARKERS = rounds('markersOfKills');
/** Writers mostly wait for the consumer: without pauses they would take both cores meanwhile. */
const PAUSE_MS = 10;
const WRITERS = 4;

const db = await testDatabase('readable', { stream: true });
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
const consumer = mortalConsumer(db);
afterAll(() => consumer.kill());

/** How many days before today the readings are from: long over, even if the test runs over midnight. */
const DAYS_AGO = [3, 4, 5];
const LASTING_MARKERS = Array.from({ length: 8 }, (_, index) => `r${index}`);
/** Some are deleted and created again. */
const READ_MARKERS = [...LASTING_MARKERS, 'm1', 'm2', 'm3'];
const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** A reading by another program, or its deletion. */
async function writeReading(chance: Chance): Promise<void> {
  const key = chance.pick(READ_MARKERS);
  const at = `${dayAgo(chance.pick(DAYS_AGO))}T0${chance.integer(0, 2)}:00:0${chance.integer(0, 9)}.000Z`;
  const Key = db.keys.reading({ scope: 'parks', key }, at);
  const TableName = db.tables.entities;
  if (chance.happens(0.3)) await send(db, 'delete', { TableName, Key }, newCall());
  else await send(db, 'put', { TableName, Item: { ...Key, values: { n: chance.integer(-99, 99) } } }, newCall());
}

/** Counts and extremes of the readings of each marker and hour, by a scan: `marker hour` -> `count min max`. */
async function scannedSummaries(): Promise<Record<string, string>> {
  const items = await allItems(db, db.tables.entities);
  const markers = new Set(items.map(({ pk, sk }) => db.keys.parseMarker({ pk: String(pk), sk: String(sk) })?.key));
  const hours = new Map<string, number[]>();
  for (const { pk, sk, values } of items) {
    const { key = '', instant = '' } = db.keys.parseReading({ pk: String(pk), sk: String(sk) }) ?? {};
    if (instant === '' || !markers.has(key)) continue;
    const name = `${key} ${instant.slice(0, 13)}`;
    hours.set(name, [...(hours.get(name) ?? []), Number((values as { n: number }).n)]);
  }
  return Object.fromEntries(
    [...hours].map(([name, numbers]) => [name, `${numbers.length} ${Math.min(...numbers)} ${Math.max(...numbers)}`]),
  );
}

/** The same from the summaries that the consumer keeps, once no day is due. */
async function keptSummaries(collection: Collection): Promise<Record<string, string>> {
  for (let due = 1; due > 0;) {
    due = 0;
    for await (const days of listDueDays(db, 'parks', dayAgo(2), newCall())) due += days.length;
    if (due > 0) await sleep(50);
  }
  const references = READ_MARKERS.map((key) => ({ collection, key }));
  const markers = await getMarkers(db, references, newCall(), { consistent: true });
  const found: [string, string][] = [];
  for (const [index, reference] of references.entries()) {
    const marker = markers[index];
    if (!marker) continue;
    const wanted = {
      value: 'n',
      period: 'HOUR',
      from: `${dayAgo(6)}T00:00:00.000Z`,
      to: undefined,
      first: 400,
    } as const;
    const trust = { current: true, finalBefore: Infinity };
    const budget = { queries: 1_000, items: 100_000 };
    const options = { now: Date.now(), budget, call: newCall(), trust };
    const { summaries, next } = await readKeptSummaries(db, reference, marker.incarnation, wanted, options);
    expect(next).toBeNull();
    for (const { start, count, min, max } of summaries)
      found.push([`${reference.key} ${start.slice(0, 13)}`, `${count} ${min} ${max}`]);
  }
  return Object.fromEntries(found);
}

test(`cells, places, pages and summaries are exact after kill -9 at random moments while markers are written (seed ${seed})`, async () => {
  const chance = createChance(seed);
  const collection = await createCollection(
    db,
    { key: 'parks', name: 'Parks', readingsSummarized: true },
    NOW,
    newCall(),
  );
  const lasting = LASTING_MARKERS.map((key) => ({ key, position: { lng: 16.9, lat: 52.4 } }));
  await createMarkers(db, collection, lasting, NOW, newCall());
  let writing = true;
  let written = 0;
  async function write(): Promise<void> {
    for (; writing || written < LEAST_WRITES; await sleep(PAUSE_MS)) {
      written += 1;
      if (chance.happens(0.3)) await writeReading(chance);
      const key = `m${chance.integer(1, MARKERS)}`;
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
  const summaries = await scannedSummaries();
  expect(Object.keys(summaries).length).toBeGreaterThan(20);
  expect(await keptSummaries(collection)).toEqual(summaries);
  const places = await countedPlaces(db);
  expect(Object.keys(places).length).toBeGreaterThan(5);
  expect(await storedPlaces(db)).toEqual(places);
});
