import { beforeAll, describe, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { uniteRanges } from '../../src/loaders/range-loader.js';
import { cellAt, cellMarkers } from '../../src/map/cells/cells.js';
import { collectionMarkers } from '../../src/map/collection.js';
import type { MarkerConnection } from '../../src/map/connection.js';
import { markerDetails, markerProperties, viewportMarkers } from '../../src/map/markers.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Collection } from '../../src/model/collection.js';
import type { KeyRange } from '../../src/model/key-range.js';
import type { MapContext } from '../../src/read/context.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { send } from '../../src/store/request/send.js';
import { interceptCalls } from '../support/faults.js';
import { memoryDatabase, newMemoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { bruteInside, makeCollection, NOW, realMarkers, requestContext, type Made } from './fixture.js';

const database = memoryDatabase();
const calls = recordCalls(database);
const MARKERS = realMarkers(250);
const EUROPE = { west: -15, south: 35, east: 40, north: 65 };
const europe = readViewport({ bounds: EUROPE, zoom: 4 });
const inEurope = MARKERS.filter(({ position }) => bruteInside(EUROPE, position));
let cities: Collection;
let sharded: Collection;

beforeAll(async () => {
  cities = await makeCollection(database, { key: 'cities' }, MARKERS);
  sharded = await makeCollection(database, { key: 'sharded', prefixLength: 1, writeShards: 4 }, inEurope);
});

const put = (collection: Collection, marker: Made) =>
  send(newCall(database), 'put', {
    TableName: database.tables.entities,
    Item: newMarkerItem(database, collection, marker, NOW),
  });
const remove = (collection: Collection, key: string) =>
  send(newCall(database), 'delete', {
    TableName: database.tables.entities,
    Key: database.keys.marker(collection.key, key),
  });

async function readThrough(
  page: (after: string | null) => Promise<MarkerConnection>,
  between?: (page: number) => Promise<void>,
) {
  const keys: string[] = [];
  let after: string | null = null;
  for (let number = 0; ; number++) {
    const { edges, pageInfo }: MarkerConnection = await page(after);
    expect(pageInfo.hasPreviousPage).toBe(number > 0);
    expect(pageInfo.startCursor).toBe(edges[0]?.cursor ?? null);
    keys.push(...edges.map(({ node }) => node.key));
    if (!pageInfo.hasNextPage) return keys;
    after = pageInfo.endCursor;
    await between?.(number);
  }
}

test('overlapping viewports in one tick make the Query calls of their union', async () => {
  const { context, call } = requestContext(database, { trusted: false });
  const views = Array.from({ length: 20 }, (_, index) => {
    const west = 5 + index / 4;
    return readViewport({ bounds: { west, south: 45, east: west + 10, north: 52 }, zoom: 6 });
  });
  calls.reset();
  const alone: KeyRange[] = [];
  for (const view of views) {
    const before = calls.commands.length;
    await viewportMarkers(requestContext(database, { trusted: false }).context, view, 'cities', { first: 5000 });
    for (const { name, input } of calls.commands.slice(before)) {
      if (name !== 'Query') continue;
      const values = input['ExpressionAttributeValues'] as Record<string, string>;
      alone.push({ index: 'geoA', pk: values[':pk']!, from: values[':from']!, to: values[':to']! });
    }
  }
  const union = uniteRanges(alone.map((range) => ({ range, limit: Infinity, maxCalls: Infinity })));

  calls.reset();
  const pages = await Promise.all(views.map((view) => viewportMarkers(context, view, 'cities', { first: 5000 })));
  expect(calls.count('Query')).toBe(union.length);
  expect(call.meter.queries).toBe(union.length);
  expect(alone.length).toBeGreaterThan(3 * union.length);
  pages.forEach(({ edges }, index) => {
    const { bounds } = views[index]!.area;
    const expected = MARKERS.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
    expect(edges.map(({ node }) => node.key).toSorted()).toEqual(expected.toSorted());
  });
});

describe('pages', () => {
  test('of write shards are merged in the order of geohashes', async () => {
    const { context } = requestContext(database);
    const keys = await readThrough((after) => collectionMarkers(context, sharded, { first: 7, after }));
    const place = new Map(inEurope.map(({ key, position }) => [key, encode(position, 10)]));
    expect(keys.map((key) => place.get(key))).toEqual([...place.values()].toSorted());
  });

  test('of a whole collection and of a cell contain all their markers', async () => {
    for (const trusted of variants([true, false])) {
      const { context } = requestContext(database, { trusted });
      const all = await readThrough((after) => collectionMarkers(context, cities, { first: 150, after }));
      expect(all.toSorted()).toEqual(MARKERS.map(({ key }) => key).toSorted());
      for (const geohash of [
        'u',
        'u3',
        'u3k',
        '7zzzzz',
        encode({ lng: 16.9, lat: 52.4 }, 11),
        encode({ lng: 16.9, lat: 52.4 }, 12),
      ]) {
        const cell = await cellAt(context, cities, geohash);
        const expected = MARKERS.filter(({ position }) => encode(position, geohash.length) === geohash);
        const keys = await readThrough((after) => cellMarkers(context, cell, { first: 9, after }));
        expect(keys.toSorted()).toEqual(expected.map(({ key }) => key).toSorted());
        expect(cell.count).toBe(expected.length);
      }
    }
  });

  test('neither repeat nor skip existing markers, whatever is created or deleted in between', async () => {
    const random = randomFrom(7);
    const gone = new Set<string>();
    const made: Made[] = [];
    const keys = await readThrough(
      (after) => viewportMarkers(requestContext(database).context, europe, 'sharded', { first: 11, after }),
      async (page) => {
        const victim = inEurope[Math.floor(random() * inEurope.length)]!;
        gone.add(victim.key);
        await remove(sharded, victim.key);
        const position = inEurope[Math.floor(random() * inEurope.length)]!.position;
        const comer = { key: `new-${page}`, position, category: 'new', properties: {} };
        made.push(comer);
        await put(sharded, comer);
      },
    );
    expect(new Set(keys).size).toBe(keys.length);
    const stayed = inEurope.map(({ key }) => key).filter((key) => !gone.has(key));
    expect(keys).toEqual(expect.arrayContaining(stayed));
    await Promise.all([
      ...made.map(({ key }) => remove(sharded, key)),
      ...inEurope.map((marker) => put(sharded, marker)),
    ]);
  });

  test('end when their budget is used up, with a cursor that resumes there, even if the page is empty', async () => {
    const { context } = requestContext(database, { trusted: false, limits: { queryCalls: 3, itemsPerField: 40 } });
    const keys = await readThrough((after) => viewportMarkers(context, europe, 'cities', { first: 5000, after }));
    expect(keys.toSorted()).toEqual(inEurope.map(({ key }) => key).toSorted());
  });

  test('reject a cursor of another list, a modified one and any other text', async () => {
    const { context } = requestContext(database);
    const page = await viewportMarkers(context, europe, 'cities', { first: 2 });
    const cursor = page.pageInfo.endCursor!;
    const other = readViewport({ bounds: { ...EUROPE, west: -16 }, zoom: 4 });
    const refused = { code: 'BAD_USER_INPUT', details: { field: 'after' } };
    for (const after of ['', 'x', `${cursor}=`, cursor.slice(0, -4), Buffer.from('[1,2,3]').toString('base64url')]) {
      await expect(viewportMarkers(context, europe, 'cities', { first: 2, after })).rejects.toMatchObject(refused);
    }
    const asked = { first: 2, after: cursor };
    await expect(viewportMarkers(context, other, 'cities', asked)).rejects.toMatchObject(refused);
    await expect(viewportMarkers(context, europe, 'sharded', asked)).rejects.toMatchObject(refused);
    await expect(viewportMarkers(context, europe, 'cities', asked, { category: ['PL'] })).rejects.toMatchObject(
      refused,
    );
    await expect(collectionMarkers(context, cities, asked)).rejects.toMatchObject(refused);
    await expect(viewportMarkers(context, europe, 'cities', asked)).resolves.toMatchObject({
      pageInfo: { hasPreviousPage: true },
    });
  });

  test.each([0, -1, 5001, 1e9, 1.5, Number.NaN])('reject first: %s', async (first) => {
    const { context } = requestContext(database);
    await expect(viewportMarkers(context, europe, 'cities', { first })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'first' },
    });
  });

  test('of an unknown collection are NOT_FOUND', async () => {
    const { context } = requestContext(database);
    await expect(viewportMarkers(context, europe, 'nowhere', { first: 1 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

test('a marker seen at both positions while it moves is returned once, at its current position', async () => {
  const made = { key: 'mover', category: 'x', properties: {} };
  // Two index entries of one marker, as a reader may see them: an index applies a move in two steps.
  const at = (lng: number, mv: number): Record<string, unknown> => ({
    ...newMarkerItem(database, cities, { ...made, position: { lng, lat: 50 } }, NOW),
    mv,
  });
  for (const [older, newer] of [
    [10, 20],
    [20, 10],
  ] as const) {
    const other = newMemoryDatabase();
    const db = { ...other, tables: database.tables };
    interceptCalls(db, 'Query', async (input, ask) => {
      const answer = await ask(input);
      const {
        ':pk': pk,
        ':from': from = '',
        ':to': to = '',
      } = input['ExpressionAttributeValues'] as Record<string, string>;
      const sortKey = (item: Record<string, unknown>) => String(item['gskA']);
      const copies = [at(older, 1), at(newer, 2)].filter(
        (item) => item['gpkA'] === pk && sortKey(item) >= from && sortKey(item) <= to,
      );
      const items = [...(answer['Items'] as Record<string, unknown>[]), ...copies];
      return { ...answer, Items: items.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)) };
    });
    const { context } = requestContext(db, { trusted: false });
    const page = await viewportMarkers(context, europe, 'cities', { first: 5000 });
    const told = page.edges.filter(({ node }) => node.key === 'mover').map(({ node }) => node.position.lng);
    expect(told).toEqual([newer]);
    db.client.destroy();
  }
});

describe('attributes that the index does not project', () => {
  const queries = async (context: MapContext) => viewportMarkers(context, europe, 'cities', { first: 5000 });

  test('are not read unless requested', async () => {
    calls.reset();
    const { context } = requestContext(database);
    await queries(context);
    const { entities } = database.tables;
    const requested = calls.commands
      .filter(({ name }) => name === 'BatchGetItem')
      .flatMap(({ input }) => (input['RequestItems'] as Record<string, unknown>)[entities] ?? []);
    expect(requested).toMatchObject([{ Keys: [database.keys.collection('cities')] }]);
  });

  test('are read in one batch for the markers that need them', async () => {
    const { context, call } = requestContext(database);
    const page = await queries(context);
    const before = call.meter.getItems;
    calls.reset();
    const properties = await Promise.all(page.edges.map(async ({ node }) => markerProperties(context, node)));
    const long = inEurope.filter(({ properties: { long: text } }) => text !== undefined);
    expect(call.meter.getItems - before).toBe(long.length);
    expect(calls.count()).toBe(Math.ceil(long.length / 100));
    const byKey = new Map(inEurope.map((marker) => [marker.key, marker.properties]));
    expect(properties).toEqual(page.edges.map(({ node }) => byKey.get(node.key)));

    calls.reset();
    const details = await Promise.all(page.edges.map(({ node }) => markerDetails(context, node)));
    expect(calls.count()).toBe(Math.ceil((inEurope.length - long.length) / 100));
    expect(details.every(({ version, createdAt }) => version === 1 && createdAt === NOW)).toBe(true);
  });

  test('are read in batches for the markers whose filter the index cannot decide', async () => {
    const { context } = requestContext(database);
    const filter = { properties: [{ name: 'long', exists: true }], updatedAfter: '2026-11-21T09:00:00Z' };
    const expected = inEurope.filter(({ properties: { long } }) => long !== undefined).map(({ key }) => key);
    const page = await viewportMarkers(context, europe, 'cities', { first: 5000 }, filter);
    expect(page.edges.map(({ node }) => node.key).toSorted()).toEqual(expected.toSorted());
    const keys = await readThrough((after) => viewportMarkers(context, europe, 'cities', { first: 2, after }, filter));
    expect(keys.toSorted()).toEqual(expected.toSorted());
    const later = { ...filter, updatedAfter: NOW };
    expect((await viewportMarkers(context, europe, 'cities', { first: 10 }, later)).edges).toEqual([]);
  });
});
