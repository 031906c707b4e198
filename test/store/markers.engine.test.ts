import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import { encode } from '../../src/geo/geohash.js';
import type { Collection } from '../../src/model/collection.js';
import type { Properties } from '../../src/model/marker.js';
import { newCall, type Database, type Item } from '../../src/store/database.js';
import {
  mapMarkerFromIndex,
  markerFromBase,
  newMarkerItem,
  type MarkerInput,
} from '../../src/store/marker/marker-item.js';
import { createMarker, createMarkers, getMarkers, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { itemBytes, MAX_ITEM_BYTES } from '../../src/store/request/item-size.js';
import { send } from '../../src/store/request/send.js';
import { queryAll } from '../../src/store/table/query-responses.js';
import { newCollection, NOW } from '../map/fixture.js';
import { anyProperties, canonical } from '../support/any-json.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf } from '../support/rounds.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const database = await testDatabase();
const client = () => newDatabase('readable', { tables: database.tables });

const collectionOf = (key: string, more: Partial<Collection> = {}) =>
  newCollection(key, { mapProperties: ['height'], ...more });

const POZNAN = { lng: 16.9299, lat: 52.4069 };
const parks = collectionOf('parks');

const at = (key: string, more: Partial<MarkerInput> = {}): MarkerInput => ({ key, position: POZNAN, ...more });

/** The markers of a collection around Poznań, as stored in its geo index. */
async function indexed(db: Database, collection: Collection): Promise<Item[]> {
  const scope = db.keys.scope(collection);
  const hash = encode(POZNAN, 10);
  const prefix = hash.slice(0, collection.prefixLength);
  const found: Item[] = [];
  for (const pk of db.keys.geoPartitions(scope, prefix, collection.writeShards)) {
    const { from, to } = db.keys.geoSortRange(collection.prefixLength, hash, hash);
    found.push(...(await queryAll(newCall(db), { index: `geo${collection.geoSlot}`, pk, from, to })));
  }
  return found;
}

describe('creating a marker', () => {
  test('is one conditional write of one item, which is indexed at once', async () => {
    const calls = recordCalls(database);
    const call = newCall(database);
    const { marker } = await createMarker(
      call,
      parks,
      at('citadel', { name: 'Cytadela', category: 'park', properties: { height: 80 } }),
      NOW,
    );
    expect(calls.commands.map(({ name }) => name)).toEqual(['PutItem']);
    expect(call.meter).toMatchObject({ writes: 1, writeUnits: 2 });
    expect(marker).toEqual({
      collection: 'parks',
      key: 'citadel',
      geohash: 'u3k41hrur6',
      position: POZNAN,
      name: 'Cytadela',
      category: 'park',
      mapVersion: 1,
      mapProperties: { height: 80 },
      complete: true,
      properties: { height: 80 },
      place: [],
      globalId: null,
      incarnation: expect.any(String),
      version: 1,
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect(await getMarkers(newCall(database), [{ collection: parks, key: 'citadel' }])).toEqual([marker]);
    const [item = {}] = await indexed(database, parks);
    const drawn = mapMarkerFromIndex(database.keys, item, parks.key);
    expect(drawn).toMatchObject({ key: 'citadel', position: POZNAN, mapProperties: { height: 80 }, complete: true });
    expect({ ...marker, ...drawn }).toEqual(marker);
  });

  test('with a key that is taken is a CONFLICT and changes nothing', async () => {
    const { marker: first } = await createMarker(newCall(database), parks, at('taken', { name: 'first' }), NOW);
    await expect(createMarker(newCall(database), parks, at('taken', { name: 'second' }), NOW)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await getMarkers(newCall(database), [{ collection: parks, key: 'taken' }])).toEqual([first]);
  });

  test('whose response is lost succeeds', async () => {
    const db = client();
    injectFaults(db, 'PutItem', ['answer lost']);
    const input = at('lost', { name: 'once', properties: { zero: -0 } });
    const { marker } = await createMarker(newCall(db), parks, input, NOW);
    const stored = { ...marker, properties: { zero: 0 }, mapProperties: { zero: 0 } };
    expect(await getMarkers(newCall(database), [{ collection: parks, key: 'lost' }])).toEqual([stored]);
  });

  test('whose response is lost is a CONFLICT if another marker has the key', async () => {
    await createMarker(newCall(database), parks, at('lost-and-taken', { name: 'other' }), '2025-01-01T00:00:00.000Z');
    const db = client();
    injectFaults(db, 'PutItem', ['answer lost']);
    await expect(createMarker(newCall(db), parks, at('lost-and-taken', { name: 'mine' }), NOW)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  test('stores the position unchanged, including 180, and indexes 180 as -180', async () => {
    const east = newMarkerItem(database, parks, { key: 'line', position: { lng: 180, lat: -0.1 } }, NOW);
    const west = newMarkerItem(database, parks, { key: 'line', position: { lng: -180, lat: -0.1 } }, NOW);
    expect(east['lng']).toBe(180);
    expect([east['gpkA'], east['gskA']]).toEqual([west['gpkA'], west['gskA']]);
  });

  test.each([
    ['readable', collectionOf('shards', { writeShards: 4, prefixLength: 3 })],
    ['readable', collectionOf('slot-b', { geoSlot: 'B', prefixLength: 0 })],
    ['compact', collectionOf('compact', { code: 'Sh' })],
  ] as const)('makes it findable in its index: %s %o', async (style, collection) => {
    const db = newDatabase(style, { tables: database.tables });
    const keys = ['a', 'b::c', 'd#e', 'ż', 'a'.repeat(500)];
    for (const key of keys) await createMarker(newCall(db), collection, at(key), NOW);
    const markers = (await indexed(db, collection)).map(
      (item) => mapMarkerFromIndex(db.keys, item, collection.key)?.key,
    );
    expect(new Set(markers)).toEqual(new Set(keys));
    expect(markers).toHaveLength(keys.length);
    const read = await getMarkers(
      newCall(db),
      keys.map((key) => ({ collection, key })),
    );
    expect(read.map((marker) => marker?.key)).toEqual(keys);
  });
});

describe('properties', () => {
  test('under 256 bytes are stored once, and projected completely', async () => {
    const item = newMarkerItem(
      database,
      parks,
      at('small', { properties: { height: 1, other: 'x'.repeat(200) } }),
      NOW,
    );
    expect(item).toMatchObject({ mc: true, m: { height: 1 } });
    expect(item['properties']).toBeUndefined();
  });

  test('of 256 bytes and more are stored in the base item, and the index has the collection’s map properties', async () => {
    const properties = { height: 1, other: 'x'.repeat(4_000) };
    const collection = collectionOf('large');
    await createMarker(newCall(database), collection, at('large', { properties }), NOW);
    const [item = {}] = await indexed(database, collection);
    expect(mapMarkerFromIndex(database.keys, item, collection.key)).toMatchObject({
      complete: false,
      mapProperties: { height: 1 },
    });
    expect(item['properties']).toBeUndefined();
    const [marker] = await getMarkers(newCall(database), [{ collection, key: 'large' }]);
    expect(marker?.properties).toEqual(properties);
  });

  test('of any JSON are returned unchanged', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(anyProperties, async (generated) => {
        // HTTP carries JSON, which has no -0.
        const properties = JSON.parse(JSON.stringify(generated)) as Properties;
        n += 1;
        let item: Item;
        try {
          item = newMarkerItem(database, parks, at(`json-${n}`, { properties }), NOW);
        } catch (error) {
          // Numbers that DynamoDB cannot store are rejected; see the next tests.
          if (error instanceof CellportError && error.code === 'BAD_USER_INPUT') return;
          throw error;
        }
        await putMarkersInBulk(newCall(database), [item]);
        const [marker] = await getMarkers(newCall(database), [{ collection: parks, key: `json-${n}` }]);
        expect(canonical(marker?.properties)).toEqual(canonical(properties));
      }),
      { numRuns: someOf(100) },
    );
  });

  const nested = (depth: number): unknown => (depth === 0 ? 'x' : { a: nested(depth - 1) });

  test('are stored up to the allowed depth', async () => {
    const properties = { a: nested(30) };
    await createMarker(newCall(database), parks, at('deep', { properties }), NOW);
    const [marker] = await getMarkers(newCall(database), [{ collection: parks, key: 'deep' }]);
    expect(marker?.properties).toEqual(properties);
  });

  test.each<[string, unknown, RegExp]>([
    ['a list', [], /^properties must be a JSON object/],
    ['text', 'x', /^properties must be/],
    ['NaN', { a: Number.NaN }, /^properties\.a must be a finite number; got NaN/],
    ['more than 53 bits', { a: [2 ** 53] }, /^properties\.a\[0\] must be an integer of at most 53 bits/],
    ['a number too large', { a: 1.5e300 }, /properties\.a must be/],
    ['a number too small', { a: 1e-200 }, /9\.9e125/],
    ['a lone surrogate', { a: '\ud800' }, /surrogates/],
    [
      'a name of 50,001 bytes',
      { a: { ['x'.repeat(50_001)]: 1 } },
      /^properties\.a must be a name of at most 50000 bytes/,
    ],
    ['a function', { a: () => 1 }, /JSON/],
    ['undefined', { a: undefined }, /JSON/],
    ['32 levels', { a: nested(31) }, /nested at most 31 levels deep/],
    ['100,000 levels', JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`), /nested at most/],
  ])('that are %s are rejected by name', (_, properties, message) => {
    const make = () => newMarkerItem(database, parks, at('bad', { properties: properties as Properties }), NOW);
    expect(make).toThrow(message);
  });
});

test('a message abbreviates the path of a property with long names', () => {
  const name = 'x'.repeat(40_000);
  const properties = { [name]: { [name]: { [name]: 2 ** 53 } } };
  const make = () => newMarkerItem(database, parks, at('bad', { properties }), NOW);
  expect(make).toThrow(/^properties\.x{80}…\.x{80}…\.x{80}… must be an integer/);
});

describe('a marker from a client', () => {
  test.each<[string, Partial<Record<keyof MarkerInput, unknown>>, string]>([
    ['no key', { key: undefined }, 'key'],
    ['an empty key', { key: '' }, 'key'],
    ['a key of 3 KB', { key: 'x'.repeat(3_000) }, 'key'],
    ['latitude 91', { position: { lng: 0, lat: 91 } }, 'position.lat'],
    ['longitude NaN', { position: { lng: Number.NaN, lat: 0 } }, 'position.lng'],
    ['a number for a name', { name: 5 }, 'name'],
    ['half a surrogate pair in its category', { category: '\udc00' }, 'category'],
    ['401 KB of properties', { properties: { a: 'x'.repeat(401 * 1024) } }, 'properties'],
  ])('with %s is rejected, and nothing is written', async (_, wrong, field) => {
    const calls = recordCalls(database);
    await expect(
      createMarker(newCall(database), parks, at('bad', wrong as Partial<MarkerInput>), NOW),
    ).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field },
    });
    expect(calls.count()).toBe(0);
  });

  test('of exactly 400 KB is stored, and with one byte more is rejected before any request', async () => {
    const base = itemBytes(newMarkerItem(database, parks, at('border', { properties: { a: 'x'.repeat(1_000) } }), NOW));
    const text = 'x'.repeat(1_000 + MAX_ITEM_BYTES - base);
    const item = newMarkerItem(database, parks, at('border', { properties: { a: text } }), NOW);
    await putMarkersInBulk(newCall(database), [item]);
    expect(() => newMarkerItem(database, parks, at('border', { properties: { a: `${text}x` } }), NOW)).toThrow(
      /409601 bytes/,
    );
  });
});

describe('creating many markers', () => {
  test('reports each failure by its index and creates the other markers, in order', async () => {
    const many = collectionOf('many');
    await createMarker(newCall(database), many, at('there'), NOW);
    const inputs = [
      at('one'),
      at('there'),
      at('two'),
      at('one'),
      at('bad', { position: { lng: 0, lat: 91 } }),
      at('three'),
    ];
    const { written, failures } = await createMarkers(newCall(database), many, inputs, NOW);
    expect(written.map(({ marker }) => marker.key)).toEqual(['one', 'two', 'three']);
    expect(failures.map(({ index, code }) => [index, code])).toEqual([
      [1, 'CONFLICT'],
      [3, 'CONFLICT'],
      [4, 'BAD_USER_INPUT'],
    ]);
    expect(failures[2]?.message).toMatch(/^position\.lat must be/);
  });

  test.each([false, true])(
    'creates the others if DynamoDB refuses one, waiting for the disk: %s',
    async (waitsForDisk) => {
      const db = { ...client(), waitsForDisk };
      const many = collectionOf(`refused-${waitsForDisk}`);
      // An attribute without a name, which no marker has.
      const spoilt = (item: Item) => (String(item['pk']).includes('bad') ? { ...item, '': 1 } : item);
      interceptCalls(db, 'PutItem', (input, ask) => ask({ ...input, Item: spoilt(input['Item'] as Item) }));
      interceptCalls(db, 'TransactWriteItems', (input, ask) => {
        const items = (input['TransactItems'] as { Put: { Item: Item } }[]).map(({ Put }) => ({
          Put: { ...Put, Item: spoilt(Put.Item) },
        }));
        return ask({ ...input, TransactItems: items });
      });
      const { written, failures } = await createMarkers(newCall(db), many, [at('one'), at('bad'), at('two')], NOW);
      expect(written.map(({ marker }) => marker.key)).toEqual(['one', 'two']);
      expect(failures).toMatchObject([{ index: 1, code: 'BAD_USER_INPUT' }]);
    },
  );

  test('accepts 500, and rejects 501 before any write', async () => {
    const five = collectionOf('five-hundred');
    const inputs = Array.from({ length: 501 }, (_, n) => at(String(n)));
    await expect(createMarkers(newCall(database), five, inputs, NOW)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'markers' },
    });
    expect(await indexed(database, five)).toEqual([]);
    const { written, failures } = await createMarkers(newCall(database), five, inputs.slice(1), NOW);
    expect(written).toHaveLength(500);
    expect(failures).toEqual([]);
  });

  test('completes under throttling, and reports correctly which markers were created', async () => {
    const db = client();
    const slow = collectionOf('throttled');
    injectFaults(db, 'PutItem', [
      ...Array<undefined>(20).fill(undefined),
      ...Array<'throttled'>(1_000).fill('throttled'),
    ]);
    const inputs = Array.from({ length: 200 }, (_, n) => at(String(n)));
    const { written, failures } = await createMarkers(newCall(db), slow, inputs, NOW);
    expect(written.length + failures.length).toBe(inputs.length);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['THROTTLED']));
    const found = await getMarkers(
      newCall(database),
      inputs.map(({ key }) => ({ collection: slow, key: key ?? '' })),
    );
    expect(found.filter((marker) => marker !== null)).toEqual(written.map(({ marker }) => marker));
  });
});

test('importing the same markers again creates no duplicates', async () => {
  const again = collectionOf('again', { writeShards: 3 });
  const items = Array.from({ length: 60 }, (_, n) => newMarkerItem(database, again, at(String(n)), NOW));
  await putMarkersInBulk(newCall(database), items);
  await putMarkersInBulk(newCall(database), items);
  expect(await indexed(database, again)).toHaveLength(60);
});

test('an invalid item written by hand is not a marker, and does not hide others', async () => {
  const odd = collectionOf('odd');
  const good = newMarkerItem(database, odd, at('good'), NOW);
  const items = [
    good,
    { ...good, pk: 'someone else' },
    { ...good, ...database.keys.marker('odd', 'lat'), lat: 'north' },
  ];
  for (const item of items)
    await send(newCall(database), 'put', { TableName: database.tables.entities, Item: { ...item } });
  const read = (await indexed(database, odd)).map((item) => markerFromBase(database.keys, item, odd.key)?.key);
  expect(read.filter((key) => key !== undefined)).toEqual(['good']);
  expect(read).toHaveLength(3);
});
