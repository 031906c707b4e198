import { expect, test } from 'vitest';

import { createCellCache } from '../../src/loaders/cell-cache.js';
import { viewportCells } from '../../src/map/cells/cells.js';
import { viewportCount } from '../../src/map/cells/count.js';
import { viewportMarkers } from '../../src/map/markers/markers.js';
import { readViewport } from '../../src/map/viewport.js';
import { recordCalls } from '../support/record-calls.js';
import { memoryDatabase } from '../support/memory-store.js';

import { type Made, bruteInside, makeCollection, requestContext } from './fixture.js';
import { randomFrom } from '../support/random.js';

const db = memoryDatabase();
const recording = recordCalls(db);

const random = randomFrom(3);
const marker = (key: string, lng: number, lat: number): Made => ({
  key,
  position: { lng, lat },
  category: 'x',
  properties: {},
});
const sparse = Array.from({ length: 400 }, (_, n) => marker(`s${n}`, random() * 40 + 2, random() * 40 + 2));
const dense = Array.from({ length: 1_200 }, (_, n) => marker(`d${n}`, -60 + random(), -20 + random()));
const markers = [...sparse, ...dense];
await makeCollection(db, { key: 'places', prefixLength: 2 }, markers);

const cellQueries = () =>
  recording.commands.filter(({ name, input }) => name === 'Query' && input['TableName'] === db.tables.derived).length;

const cellCache = createCellCache({ maxBytes: 16e6, trusted: () => true, now: () => performance.now() });

/** The keys in a map of a degree or two, and the number of Query calls for cells that it took. */
async function look(west: number, south: number, zoom = 9) {
  recording.reset();
  const bounds = { west, south, east: west + 1.5, north: south + 1 };
  const { context } = requestContext(db, { cellCache });
  const page = await viewportMarkers(context, readViewport({ bounds, zoom }), 'places', { first: 2_000 });
  const inside = markers.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
  expect(page.edges.map(({ node }) => node.key).toSorted()).toEqual(inside.toSorted());
  return { queries: cellQueries(), inside: inside.length };
}

test('coarse counts are read once per neighbourhood, finer ones only where many markers are expected, and cached ones are always used', async () => {
  expect((await look(10, 10)).queries).toBe(1);
  for (const [west, south] of [
    [12, 30],
    [30, 12],
    [25.3, 38.1],
    [4, 4],
  ] as const) {
    expect((await look(west, south)).queries).toBe(0);
  }

  const first = await look(-60.2, -20);
  expect(first.inside).toBeGreaterThan(1_000);
  expect(first.queries).toBeGreaterThan(1);
  expect((await look(-60.2, -20)).queries).toBe(0);

  // Cells that a map has drawn are finer than the coarse ones, and need no further Query.
  const { context } = requestContext(db, { cellCache });
  const bounds = { west: 20, south: 20, east: 21.5, north: 21 };
  await viewportCells(context, readViewport({ bounds, zoom: 9 }), 'places');
  expect((await look(20, 20)).queries).toBe(0);
});

test('a marker alone in its cell is counted without being read: the sums of the cell are its position', async () => {
  const zoom = 5;
  for (const bounds of [
    { west: 5.1, south: 5.1, east: 38.3, north: 38.3 },
    { west: 20, south: 20, east: 30, north: 30 },
  ]) {
    const count = () =>
      viewportCount(requestContext(db, { cellCache }).context, readViewport({ bounds, zoom }), 'places');
    const inside = markers.filter(({ position }) => bruteInside(bounds, position)).length;
    expect(inside).toBeGreaterThan(20);
    expect(await count()).toBe(inside);
    recording.reset();
    expect(await count()).toBe(inside);
    expect(recording.count('Query')).toBe(0);
  }
});
