import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { INDEXES } from '../../src/keys/indexes.js';
import type { Collection } from '../../src/model/collection.js';
import { newCall, type Database, type Item } from '../../src/store/database.js';
import { newMarkerItem, type MarkerInput, type MarkerUpdate } from '../../src/store/marker/marker-item.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { removeLeftReadings } from '../../src/store/removal/readings.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { readItem } from '../../src/store/request/conditional-write.js';
import { send } from '../../src/store/request/send.js';
import { DRAWN_ATTRIBUTES } from '../../src/store/table/table-definitions.js';
import { allItems } from '../stream/support.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf, variants } from '../support/rounds.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const THEN = '2026-11-21T10:00:00.000Z';
const NOW = '2026-11-21T11:00:00.000Z';
const database = await testDatabase();
const client = () => newDatabase('readable', { tables: database.tables });
const POZNAN = { lng: 16.9299, lat: 52.4069 };
const BERLIN = { lng: 13.4, lat: 52.52 };

const parks = await testCollection(database, { key: 'parks', name: 'Parks', mapProperties: ['height'] }, THEN);

const itemOf = (key: string, collection = parks, db: Database = database) =>
  readItem(newCall(db), db.keys.marker(db.keys.scope(collection), key));
const reference = (key: string, collection = parks) => ({ collection, key });
const make = (key: string, more: Partial<MarkerInput> = {}, collection = parks) =>
  createMarker(newCall(database), collection, { key, position: POZNAN, ...more }, THEN);
const update = (key: string, change: MarkerUpdate, expectedVersion?: number, db = database) =>
  updateMarker(newCall(db), reference(key), change, { now: NOW, expectedVersion });
const remove = (key: string, expectedVersion?: number, db = database) =>
  deleteMarker(newCall(db), reference(key), { now: NOW, expectedVersion });

const INDEX_KEYS = Object.values(INDEXES).flatMap((attributes) => Object.values(attributes) as string[]);
const picked = (item: Item | undefined, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (item?.[name] === undefined ? [] : [[name, item[name]]])));

/** The attributes that an UpdateItem writes, from the request. */
function attributesWritten(input: Readonly<Record<string, unknown>>): string[] {
  const names = input['ExpressionAttributeNames'] as Record<string, string>;
  return [...String(input['UpdateExpression']).matchAll(/#\w+/g)].map(([name]) => names[name] ?? '').sort();
}

describe('updating a marker', () => {
  test('changes only the given fields, with one conditional write of the differences, and returns the result', async () => {
    await make('kept', { name: 'Old', category: 'park', properties: { height: 1 }, place: ['A', 'B'] });
    const before = await itemOf('kept');
    const calls = recordCalls(database);
    const written = await update('kept', { name: 'New' });
    expect(calls.commands.map(({ name }) => name)).toEqual(['GetItem', 'UpdateItem']);
    expect(attributesWritten(calls.commands[1]!.input)).toEqual(['mv', 'name', 'updatedAt', 'version']);
    const after = await itemOf('kept');
    expect(after).toEqual({ ...before, name: 'New', mv: 2, version: 2, updatedAt: NOW });
    expect(written).toMatchObject({ before, after, marker: { name: 'New', category: 'park', version: 2 } });
    expect(await getMarkers(newCall(database), [reference('kept')])).toEqual([written.marker]);
  });

  test('to a new position writes position and index keys in the same write, for 3 units', async () => {
    await make('moved');
    const call = newCall(database);
    await updateMarker(call, reference('moved'), { position: BERLIN }, { now: NOW });
    expect(call.meter.writeUnits).toBe(3);
    const moved = await itemOf('moved');
    const fresh = newMarkerItem(database, parks, { key: 'moved', position: BERLIN }, NOW);
    expect(picked(moved, INDEX_KEYS)).toEqual(picked(fresh, INDEX_KEYS));
  });

  test('does not write to indexes where no projected attribute changes', async () => {
    const long = 'x'.repeat(300);
    await make('quiet', { properties: { height: 1, long } });
    const call = newCall(database);
    const properties = { height: 1, long: long.toUpperCase() };
    await updateMarker(call, reference('quiet'), { properties }, { now: NOW });
    expect(call.meter.writeUnits).toBe(1);
    expect(await itemOf('quiet')).toMatchObject({ mv: 1, version: 2, properties });
  });

  test('removes attributes set to null, and raises the version even without a difference', async () => {
    await make('cleared', { name: 'N', category: 'C', properties: { a: 1 }, place: ['A'] });
    const { marker } = await update('cleared', { name: null, category: null, properties: null, place: null });
    expect(marker).toMatchObject({ name: null, category: null, properties: {}, place: [], version: 2 });
    const item = await itemOf('cleared');
    expect(
      Object.keys(item ?? {}).filter((name) => ['name', 'category', 'place', 'ppk', 'psk'].includes(name)),
    ).toEqual([]);
    expect((await update('cleared', { name: null })).marker.version).toBe(3);
    expect(await itemOf('cleared')).toMatchObject({ mv: 2 });
  });

  test.each<[string, MarkerUpdate, string]>([
    ['a position of null', { position: null }, 'position'],
    ['latitude 91', { position: { lng: 0, lat: 91 } }, 'position.lat'],
    ['a longitude too small for DynamoDB', { position: { lng: 5e-324, lat: 0 } }, 'position.lng'],
    ['a number for a name', { name: 5 as unknown as string }, 'name'],
    ['an empty name of a place', { place: ['A', ''] }, 'place[1]'],
    ['properties of 401 KB', { properties: { a: 'x'.repeat(401 * 1024) } }, 'properties'],
  ])('with %s is rejected by name, and nothing is written', async (what, change, field) => {
    await make(`bad ${what}`);
    const before = await itemOf(`bad ${what}`);
    await expect(update(`bad ${what}`, change)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { field } });
    expect(await itemOf(`bad ${what}`)).toEqual(before);
  });

  test('with another version than expected is CONFLICT with the current one, and changes nothing', async () => {
    await make('versioned');
    await update('versioned', { name: 'two' }, 1);
    const before = await itemOf('versioned');
    for (const write of [() => update('versioned', { name: 'x' }, 1), () => remove('versioned', 3)]) {
      await expect(write()).rejects.toMatchObject({ code: 'CONFLICT', details: { version: 2 } });
    }
    expect(await itemOf('versioned')).toEqual(before);
  });

  test('of a missing marker is NOT_FOUND, and so is deleting it', async () => {
    await expect(update('nowhere', {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(remove('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('by many clients at once loses none of their changes', async () => {
    await make('busy', { properties: {} });
    const places = Array.from({ length: 12 }, (_, n) => ['Level', String(n)]);
    const names = Array.from({ length: 12 }, (_, n) => `name ${n}`);
    await Promise.all([
      ...places.map((place) => update('busy', { place })),
      ...names.map((name) => update('busy', { name })),
    ]);
    const item = await itemOf('busy');
    expect(item).toMatchObject({ version: 25, name: expect.stringMatching(/^name/) });
    expect(item?.['psk']).toBe(`${(item!['place'] as string[])[1]}::busy`);
  });

  test('succeeds once if many updates expect the same version', async () => {
    await make('once');
    const all = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => update('once', { name: `${n}` }, 1)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await itemOf('once')).toMatchObject({ version: 2 });
  });

  test('whose response is lost succeeds, and counts once', async () => {
    await make('lost');
    const db = client();
    injectFaults(db, 'UpdateItem', ['answer lost']);
    const { before, after } = await update('lost', { name: 'there', position: BERLIN, place: ['A', 'B'] }, 1, db);
    expect([before?.['version'], after?.['version']]).toEqual([1, 2]);
    expect(await itemOf('lost')).toEqual(after);
  });

  test('never changes another incarnation of the marker', async () => {
    await make('again', { position: BERLIN });
    const db = client();
    let between: Promise<unknown> | undefined;
    interceptCalls(db, 'UpdateItem', async (input, ask) => {
      between ??= remove('again').then(() => make('again', { position: POZNAN }));
      await between;
      return ask(input);
    });
    // For the old one this is no move; the new one is elsewhere, with the same version.
    await update('again', { position: BERLIN }, undefined, db);
    const fresh = newMarkerItem(database, parks, { key: 'again', position: BERLIN }, NOW);
    expect(picked(await itemOf('again'), INDEX_KEYS)).toEqual(picked(fresh, INDEX_KEYS));
  });
});

const reading = (pk: unknown, instant: string, of: unknown): Item => ({ pk, sk: `reading::${instant}`, of });
const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();

async function readingsOf(key: string): Promise<Item[]> {
  const { pk } = database.keys.marker('parks', key);
  const request = {
    TableName: database.tables.entities,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :reading)',
    ExpressionAttributeValues: { ':pk': pk, ':reading': 'reading::' },
  };
  return (await send(newCall(database), 'query', request)).Items ?? [];
}

async function record(key: string, from: number, to: number, life?: unknown): Promise<void> {
  const item = await itemOf(key);
  const { pk } = database.keys.marker('parks', key);
  for (let n = from; n < to; n += 1) {
    const Item = reading(pk, at(n), life ?? item?.['life']);
    await send(newCall(database), 'put', { TableName: database.tables.entities, Item: { ...Item } });
  }
}

describe('deleting a marker', () => {
  test('is one conditional write that returns the deleted marker', async () => {
    const { marker } = await make('gone', { name: 'Gone', place: ['A'] });
    const before = await itemOf('gone');
    const calls = recordCalls(database);
    expect(await remove('gone', 1)).toEqual({ before, after: undefined, marker });
    expect(calls.commands.map(({ name }) => name)).toEqual(['Query', 'DeleteItem']);
    expect(await itemOf('gone')).toBeUndefined();
  });

  test('whose response is lost succeeds', async () => {
    const { marker } = await make('lost-too');
    const db = client();
    injectFaults(db, 'DeleteItem', ['answer lost']);
    expect((await remove('lost-too', undefined, db)).marker).toEqual(marker);
  });

  test('deletes its readings too', async () => {
    await make('sensor');
    await record('sensor', 0, 60);
    await remove('sensor');
    expect(await readingsOf('sensor')).toEqual([]);
  });

  test('deletes readings in all buckets too', async () => {
    const input = { key: 'spread', name: 'Spread', readingsTtlDays: 3, readingsBucket: 'DAY' } as const;
    const spread = await testCollection(database, input, THEN);
    await make('s', {}, spread);
    const day = (n: number) => new Date(Date.parse(NOW) - n * 86_400_000).toISOString();
    const readings = [0, 1, 2].map((n) => ({ at: day(n), values: { n } }));
    expect(await recordReadings(newCall(database), reference('s', spread), readings, new Date(NOW))).toBe(3);
    const left = async () =>
      (await allItems(database, database.tables.entities)).filter(({ pk }) => /::spread(::|$)/.test(String(pk)));
    expect(await left()).toHaveLength(4);
    await deleteMarker(newCall(database), reference('s', spread), { now: NOW });
    expect(await left()).toEqual([]);
  });

  test('with more readings than one request removes leaves the rest to a background job', async () => {
    await make('plenty');
    const life = (await itemOf('plenty'))?.['life'];
    const { pk } = database.keys.marker('parks', 'plenty');
    const items = Array.from({ length: 1_200 }, (_, n) => reading(pk, at(n), life));
    await putInBulk(newCall(database), database.tables.entities, items);
    await remove('plenty');
    expect((await readingsOf('plenty')).length).toBe(200);
    // Too soon: another process may still be working on it.
    await removeLeftReadings(newCall(database), parks, Date.parse(NOW));
    expect((await readingsOf('plenty')).length).toBe(200);
    await removeLeftReadings(newCall(database), parks, Date.parse(NOW) + 3_600_000);
    expect(await readingsOf('plenty')).toEqual([]);
    const reminders = await allItems(database, database.tables.entities);
    expect(reminders.filter((item) => String(item['pk']).startsWith('job::'))).toEqual([]);
  });

  test('leaves the readings of another incarnation', async () => {
    await make('reborn');
    await record('reborn', 0, 30);
    const db = client();
    let between: Promise<unknown> | undefined;
    // Between deleting the marker and deleting its readings.
    interceptCalls(db, 'BatchExecuteStatement', async (input, ask) => {
      between ??= make('reborn').then(() => record('reborn', 20, 40));
      await between;
      return ask(input);
    });
    await remove('reborn', undefined, db);
    const life = (await itemOf('reborn'))?.['life'];
    expect(await readingsOf('reborn')).toEqual(
      Array.from({ length: 20 }, (_, n) => expect.objectContaining({ sk: `reading::${at(n + 20)}`, of: life })),
    );
  });
});

/** Layouts that must all have correct index keys. */
const LAYOUTS = [
  { style: 'readable', input: { key: 'plain', name: 'p' } },
  { style: 'readable', input: { key: 'sharded', name: 's', prefixLength: 4, writeShards: 3, mapProperties: ['n'] } },
  { style: 'compact', input: { key: 'short', name: 'c', prefixLength: 0, code: 'Sh' } },
] as const;

describe.each(variants(LAYOUTS))('with the keys of $style/$input.key', async ({ style, input }) => {
  const db = newDatabase(style, { tables: database.tables });
  const collection: Collection = await testCollection(db, input, THEN);

  // DynamoDB stores no smaller magnitudes, and they are rejected.
  const degrees = (most: number) =>
    fc.double({ min: -most, max: most, noNaN: true }).map((value) => (Math.abs(value) < 1e-130 ? 0 : value));
  const position = fc.oneof(
    fc.record({ lng: degrees(180), lat: degrees(90) }),
    fc.constantFrom({ lng: 180, lat: 0 }, { lng: -180, lat: 90 }, { lng: 0, lat: -0 }, POZNAN, BERLIN),
  );
  const text = fc.option(fc.constantFrom('a', 'ż', 'x::y'), { nil: null });
  const place = fc.option(
    fc.array(fc.constantFrom('A', '1', '12', 'e\u0301', '\u00e9', 'a::b', ':;', '#'), { maxLength: 4 }),
    {
      nil: null,
    },
  );
  const properties = fc.option(
    fc.constantFrom({}, { n: 1 }, { n: 2 }, { n: 1, long: 'x'.repeat(300) }, { n: 1, long: 'y'.repeat(300) }),
    { nil: null },
  );
  const step = fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('create' as const), position, name: text, place, properties }),
    },
    {
      weight: 6,
      arbitrary: fc.record(
        { kind: fc.constant('update' as const), position, name: text, category: text, place, properties },
        { requiredKeys: ['kind'] },
      ),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  );

  test('after any sequence of changes the index keys are those of a new marker with the same content', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const key = `m${(run += 1)}`;
        let says: MarkerInput | undefined;
        for (const { kind, ...rest } of [{ kind: 'create' as const, position: POZNAN }, ...steps]) {
          const change = rest as MarkerUpdate;
          const before = await itemOf(key, collection, db);
          try {
            if (kind === 'delete') await deleteMarker(newCall(db), { collection, key }, { now: NOW });
            else if (kind === 'update') await updateMarker(newCall(db), { collection, key }, change, { now: NOW });
            else await createMarker(newCall(db), collection, { position: POZNAN, ...change, key } as MarkerInput, NOW);
          } catch (error) {
            expect(error).toMatchObject({ code: kind === 'create' ? 'CONFLICT' : 'NOT_FOUND' });
            continue;
          }
          if (kind === 'delete') says = undefined;
          else if (kind === 'create') says = { position: POZNAN, ...change, key } as MarkerInput;
          else says = { ...(says as MarkerInput), ...change } as MarkerInput;
          const item = await itemOf(key, collection, db);
          const fresh = says && (JSON.parse(JSON.stringify(newMarkerItem(db, collection, says, NOW))) as Item);
          // The content and index keys of an item, without counters and times.
          const aside = { mv: 0, version: 0, createdAt: '', updatedAt: '', life: '' };
          expect(item && { ...item, ...aside }).toEqual(fresh && { ...fresh, ...aside });
          if (kind === 'update') {
            const drawn = [...DRAWN_ATTRIBUTES.filter((name) => name !== 'mv'), 'gpkA', 'gskA'];
            const redrawn = JSON.stringify(picked(before, drawn)) !== JSON.stringify(picked(item, drawn));
            expect([item?.['mv'], item?.['version']]).toEqual([
              Number(before?.['mv']) + (redrawn ? 1 : 0),
              Number(before?.['version']) + 1,
            ]);
          }
        }
      }),
      { numRuns: someOf(40) },
    );
  });
});
