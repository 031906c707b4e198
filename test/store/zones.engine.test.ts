import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import { newCall, type Database, type GeometryStore, type Item } from '../../src/store/database.js';
import { deleteZone, updateZone } from '../../src/store/zone/zone-changes.js';
import { createZone } from '../../src/store/zone/zones.js';
import { allItems } from '../stream/support.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { rectangle } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T11:00:00.000Z';
const folder = temporaryFolder();
const objects = createFolderStore(folder);
const inline: GeometryStore = { objects, inlineBytes: 32_768 };
/** Every geometry is too large for an item. */
const outside: GeometryStore = { objects, inlineBytes: 0 };

const square = (lng: number, lat: number, size: number) => rectangle(lng, lat, lng + size, lat + size);

const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe.each(variants(['readable', 'compact'] as const))('a zone, with %s keys', async (style) => {
  const db = { ...(await testDatabase(style)), geometry: inline };
  const client = () => newDatabase(style, { tables: db.tables, geometry: inline });
  const make = (key: string, more = {}) => testCollection(db, { key, name: key, code: key.slice(0, 2), ...more }, NOW);
  const parks = await make('parks');

  /** Items of a collection's zones and their covers. */
  async function stored(database: Database, collection: Collection): Promise<{ zones: Item[]; covers: Item[] }> {
    const items = await allItems(database, database.tables.entities);
    const scope = database.keys.scope(collection);
    const key = ({ pk, sk }: Item) => ({ pk: String(pk), sk: String(sk) });
    return {
      zones: items.filter((item) => database.keys.parseZone(key(item))?.scope === scope),
      covers: items.filter((item) => database.keys.parseZoneCover(key(item))?.scope === scope),
    };
  }

  /** The covers are exactly those named by the zones. */
  async function expectWhole(collection: Collection): Promise<void> {
    const { zones, covers } = await stored(db, collection);
    const named = zones.flatMap((zone) =>
      (zone['cells'] as string[]).map((geohash) => {
        const key = db.keys.parseZone({ pk: String(zone['pk']), sk: String(zone['sk']) })!;
        return `${db.keys.documentId(db.keys.zoneCover(key.scope, key.key, geohash))} ${String(zone['life'])}`;
      }),
    );
    const there = covers.map(({ pk, sk, of }) => `${String(pk)}#${String(sk)} ${String(of)}`);
    expect(there.sort()).toEqual(named.sort());
  }

  test('is created with its covers in one transaction, and its geometry stays in its item', async () => {
    const own = client();
    const calls = recordCalls(own);
    const input = { key: 'old::town', name: 'Old Town', properties: { size: 2 }, geometry: square(17, 52, 0.015625) };
    const zone = await createZone(newCall(own), parks, input, NOW);
    expect(calls.commands.map(({ name }) => name)).toEqual(['TransactWriteItems']);
    expect(zone).toMatchObject({
      collection: 'parks',
      key: 'old::town',
      name: 'Old Town',
      properties: { size: 2 },
      version: 1,
      bounds: { west: 17, south: 52, east: 17.015625, north: 52.015625 },
      geometry: { vertices: 5, object: undefined },
    });
    expect(zone.cells.length).toBeGreaterThan(0);
    expect(zone.cells.length).toBeLessThanOrEqual(16);
    await expectWhole(parks);
    await expect(createZone(newCall(own), parks, input, NOW)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expectWhole(parks);
  });

  test('has bounds that DynamoDB stores, however close to zero its positions are', async () => {
    const zone = await createZone(newCall(db), parks, { key: 'tiny', geometry: square(1e-320, -5e-324, 0.5) }, NOW);
    expect(zone.bounds).toEqual({ west: 0, south: 0, east: 0.5, north: 0.5 });
    await expectWhole(parks);
  });

  test('is created although the response is lost', async () => {
    const own = client();
    injectFaults(own, 'TransactWriteItems', ['answer lost']);
    const zone = await createZone(newCall(own), parks, { key: 'lost', geometry: square(1, 2, 3) }, NOW);
    expect(zone.version).toBe(1);
    await expectWhole(parks);
  });

  test('is updated once although the response is lost, or a transaction is writing it', async () => {
    await createZone(newCall(db), parks, { key: 'met', geometry: square(1, 2, 3) }, NOW);
    for (const [index, fault] of (['answer lost', 'conflict'] as const).entries()) {
      const own = client();
      injectFaults(own, 'UpdateItem', [fault]);
      const change = { now: LATER, expectedVersion: index + 1 };
      const zone = await updateZone(newCall(own), { collection: parks, key: 'met' }, { properties: { index } }, change);
      expect(zone.version).toBe(index + 2);
    }
    await expectWhole(parks);
  });

  test('is updated without its covers if its geometry stays the same, and with them if it changes', async () => {
    const own = client();
    const reference = { collection: parks, key: 'moves' };
    const first = await createZone(newCall(own), parks, { key: 'moves', geometry: square(10, 50, 1) }, NOW);
    const calls = recordCalls(own);
    const named = await updateZone(newCall(own), reference, { name: 'Moves' }, { now: LATER });
    expect(calls.commands.map(({ name }) => name)).toEqual(['GetItem', 'UpdateItem']);
    expect(named).toEqual({ ...first, name: 'Moves', version: 2 });
    calls.reset();
    const change = { now: LATER, expectedVersion: 2 };
    const moved = await updateZone(newCall(own), reference, { geometry: square(60, 10, 30) }, change);
    expect(calls.commands.map(({ name }) => name)).toEqual(['GetItem', 'TransactWriteItems']);
    expect(moved).toMatchObject({ name: 'Moves', version: 3, bounds: { west: 60, south: 10, east: 90, north: 40 } });
    expect(moved.cells).not.toEqual(first.cells);
    await expectWhole(parks);
    await expect(updateZone(newCall(own), reference, { geometry: square(0, 0, 1) }, change)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { expectedVersion: 2, version: 3 },
    });
    await expect(updateZone(newCall(own), reference, { name: 'x' }, change)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { version: 3 },
    });
    await expect(deleteZone(newCall(own), reference, 1)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { version: 3 },
    });
    const cleared = { name: null, properties: null };
    expect(await updateZone(newCall(own), reference, cleared, { now: LATER })).toMatchObject({
      name: null,
      properties: {},
      version: 4,
    });
  });

  test('that is moved concurrently has the covers of the last update, and every update raises its version', async () => {
    const reference = { collection: parks, key: 'busy' };
    await createZone(newCall(db), parks, { key: 'busy', geometry: square(0, 0, 1) }, NOW);
    const done = await Promise.all(
      [1, 2, 3].map((n) =>
        updateZone(
          newCall({ ...db, geometry: outside }),
          reference,
          { geometry: square(n * 20, 10, n) },
          { now: LATER },
        ),
      ),
    );
    expect(done.map(({ version }) => version).sort((a, b) => a - b)).toEqual([2, 3, 4]);
    await expectWhole(parks);
    const kept = done.find(({ version }) => version === 4)!.geometry.object;
    expect(files()).toEqual([kept!.split('/').at(-1)]);
    await deleteZone(newCall({ ...db, geometry: outside }), reference, undefined);
    expect(files()).toEqual([]);
  });

  test('is deleted with its covers in one transaction, and then its object', async () => {
    const reference = { collection: parks, key: 'gone' };
    const made = await createZone(
      newCall({ ...db, geometry: outside }),
      parks,
      { key: 'gone', geometry: square(5, 5, 5) },
      NOW,
    );
    expect(files()).toHaveLength(1);
    expect(await deleteZone(newCall({ ...db, geometry: outside }), reference, 1)).toEqual(made);
    expect(files()).toEqual([]);
    await expectWhole(parks);
    await expect(deleteZone(newCall({ ...db, geometry: outside }), reference, undefined)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(
      updateZone(newCall({ ...db, geometry: outside }), reference, {}, { now: LATER }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(
      updateZone(newCall({ ...db, geometry: outside }), reference, { geometry: square(0, 0, 1) }, { now: LATER }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(files()).toEqual([]);
  });

  test('gets its key from a collection that generates keys, independently of its markers', async () => {
    const counted = await make('counted', { idStrategy: 'SEQUENCE' });
    const geometry = square(1, 1, 1);
    const keys = [];
    for (let n = 0; n < 3; n++) keys.push((await createZone(newCall(db), counted, { geometry }, NOW)).key);
    expect(keys).toEqual(['1', '2', '3']);
    await expect(createZone(newCall(db), counted, { key: 'x', geometry }, NOW)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'key' },
    });
    const named = await make('uuids', { idStrategy: 'UUID' });
    expect((await createZone(newCall(db), named, { geometry }, NOW)).key).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    [{ key: '', geometry: square(0, 0, 1) }, 'key'],
    [{ key: 'a', name: '\ud800', geometry: square(0, 0, 1) }, 'name'],
    [{ key: 'a', properties: { n: 2 ** 60 }, geometry: square(0, 0, 1) }, 'properties.n'],
    [{ key: 'a', properties: { x: 'x'.repeat(410_000) }, geometry: square(0, 0, 1) }, 'properties'],
    [{ key: 'a', geometry: { type: 'Point', coordinates: [0, 0] } }, 'geometry.type'],
    [{ key: 'a', geometry: { type: 'Polygon', coordinates: [[[0, 0]]] } }, 'geometry.coordinates[0]'],
  ])('that is invalid is rejected by the name of its field, before anything is written: %#', async (input, field) => {
    const own = client();
    const calls = recordCalls(own);
    await expect(createZone(newCall({ ...own, geometry: outside }), parks, input, NOW)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field },
    });
    expect(calls.count()).toBe(0);
    expect(files()).toEqual([]);
  });
});

describe('a geometry that is too large for an item', async () => {
  const db = { ...(await testDatabase()), geometry: outside };
  const client = () => newDatabase('readable', { tables: db.tables, geometry: outside });
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  const made = (key: string) => createZone(newCall(db), parks, { key, geometry: square(1, 2, 3) }, NOW);

  test('is rejected without an object store', async () => {
    const nowhere = { objects: undefined, inlineBytes: 0 };
    await expect(
      createZone(newCall({ ...db, geometry: nowhere }), parks, { key: 'none', geometry: square(1, 2, 3) }, NOW),
    ).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  test('is stored before its item is written, and the former one is removed after it', async () => {
    const own = client();
    const seen: number[] = [];
    interceptCalls(own, 'TransactWriteItems', (input, ask) => {
      seen.push(files().length);
      return ask(input);
    });
    const first = await createZone(newCall(own), parks, { key: 'order', geometry: square(1, 2, 3) }, NOW);
    const reference = { collection: parks, key: 'order' };
    const next = await updateZone(newCall(own), reference, { geometry: square(2, 3, 4) }, { now: LATER });
    expect(seen).toEqual([1, 2]);
    expect(next.geometry.object).not.toBe(first.geometry.object);
    expect(files()).toEqual([next.geometry.object!.split('/').at(-1)]);
    await deleteZone(newCall(own), reference, undefined);
    expect(seen).toEqual([1, 2, 1]);
    expect(files()).toEqual([]);
  });

  test('leaves no object behind, unless the zone may have been written', async () => {
    await made('taken');
    await expect(made('taken')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(files()).toHaveLength(1);
    const own = client();
    interceptCalls(own, 'TransactWriteItems', () => Promise.reject(new Error('killed')));
    const reference = { collection: parks, key: 'taken' };
    await expect(updateZone(newCall(own), reference, { geometry: square(2, 3, 4) }, { now: LATER })).rejects.toThrow(
      'killed',
    );
    // Left to the sweep.
    expect(files()).toHaveLength(2);
  });

  test('is updated even if its former object cannot be removed', async () => {
    const stuck = { ...objects, remove: () => Promise.reject(new Error('a bug')) };
    await made('stuck');
    const reference = { collection: parks, key: 'stuck' };
    await expect(
      updateZone(
        newCall({ ...db, geometry: { ...outside, objects: stuck } }),
        reference,
        { geometry: square(2, 3, 4) },
        { now: LATER },
      ),
    ).rejects.toThrow('a bug');
    expect(
      await updateZone(newCall({ ...db, geometry: inline }), reference, { geometry: square(2, 3, 5) }, { now: LATER }),
    ).toMatchObject({
      version: 3,
      geometry: { object: undefined },
    });
  });
});
