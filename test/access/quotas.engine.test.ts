import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { itemBytes } from '../../src/store/request/item-size.js';
import { send } from '../../src/store/request/send.js';
import { allItems } from '../stream/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, setRules, type Answer, type GuardedServer } from './guarded-server.js';
import { TRANSPORTS } from './transports.js';

const db = await testDatabase('readable', { stream: true });
const ALL = [{ collections: ['*'], may: ['read', 'write', 'admin'] }];
const OWN = [{ collections: ['own-*', 'mine'], may: ['read', 'write', 'admin'] }];
const RULES = {
  roles: {
    admin: ALL,
    ten: { rules: ALL, quotas: { markersPerCollection: 10 } },
    twelve: { rules: ALL, quotas: { markersPerCollection: 12, bytesPerMarker: 1_000 } },
    heavy: { rules: ALL, quotas: { bytesPerCollection: 5_000 } },
    tenant: { rules: OWN, quotas: { collections: 3 } },
    blind: {
      rules: [{ collections: ['*'], may: ['write', 'read'], where: { properties: [{ name: 'of', eq: 'blind' }] } }],
      quotas: { markersPerCollection: 10 },
    },
  },
};
const keyOf = async (...roles: string[]) => bearer(await createKey(db, { roles }));
const markersNamed = (prefix: string, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ key: `${prefix}${n}`, position: { lng: n / 10, lat: 1 }, ...more }));
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => String(extensions['code']));
let server: GuardedServer;
let admin: Record<string, string>;

beforeAll(async () => {
  server = await guardedServer(db, RULES);
  admin = await keyOf('admin');
});
afterAll(() => server.close());

/** A new collection, and what one does with its markers. */
async function newCollection(key: string) {
  await testCollection(db, { key, name: key });
  const on = (headers: Record<string, string>, at = server) => ({
    createOne: (marker: string) =>
      at.ask(
        `mutation { createMarker(input: { collection: "${key}", key: "${marker}", position: { lng: 1, lat: 1 } }) { key } }`,
        {},
        headers,
      ),
    create: (markers: readonly object[]) =>
      at.ask(
        `mutation Create($markers: [MarkerInput!]!) {
          createMarkers(collection: "${key}", markers: $markers) { markers { key } failures { index code message } } }`,
        { markers },
        headers,
      ),
    upsert: (markers: readonly object[]) =>
      at.ask(
        `mutation Upsert($markers: [MarkerInput!]!) {
          upsertMarkers(collection: "${key}", markers: $markers) { created updated unchanged failures { index code message } } }`,
        { markers },
        headers,
      ),
    remove: (markers: readonly string[]) =>
      at.ask(
        'mutation Remove($ids: [ID!]!) { deleteMarkers(ids: $ids) { deleted } }',
        { ids: markers.map((marker) => `marker::${key}::${marker}`) },
        headers,
      ),
  });
  const list = async (): Promise<string[]> => {
    const items = await allItems(db, db.tables.entities);
    const named = items.map(({ pk, sk }) => db.keys.parseMarker({ pk: String(pk), sk: String(sk) }));
    return named.flatMap((marker) => (marker?.scope === key ? [marker.key] : [])).sort();
  };
  const counted = (count: number, at = server) =>
    vi.waitFor(
      async () => {
        const { data } = await at.ask(`{ collection(key: "${key}") { count } }`, {}, admin);
        expect(data.collection.count).toBe(count);
      },
      { timeout: 30_000, interval: 100 },
    );
  return { on, list, counted };
}

test('markers are created up to the quota, and a batch that passes it changes nothing', async () => {
  const parks = await newCollection('parks');
  const ten = parks.on(await keyOf('ten'));
  expect((await ten.create(markersNamed('a', 8))).data.createMarkers.failures).toEqual([]);
  // Counted or not: deciding again must not depend on it.
  for (const wait of [async () => undefined, () => parks.counted(8)]) {
    await wait();
    for (const write of [ten.create, ten.upsert]) {
      const refused = await write(markersNamed('b', 3));
      expect(codesOf(refused)).toEqual(['LIMIT_EXCEEDED']);
      expect(refused.errors[0].extensions).toMatchObject({
        field: 'number of markers of collection parks',
        value: 11,
        limit: 10,
      });
    }
    expect((await parks.list()).filter((key) => key.startsWith('b'))).toEqual([]);
  }
  expect(codesOf(await ten.createOne('b0'))).toEqual([]);
  expect((await ten.upsert(markersNamed('b', 2))).data.upsertMarkers).toMatchObject({ created: 1, updated: 1 });
  expect(codesOf(await ten.createOne('b2'))).toEqual(['LIMIT_EXCEEDED']);
  expect(await parks.list()).toHaveLength(10);
});

test('at the quota, markers can be changed and deleted, and deletions make room at once', async () => {
  const full = await newCollection('full');
  const ten = full.on(await keyOf('ten'));
  await ten.create(markersNamed('a', 10));
  const changed = await ten.upsert(markersNamed('a', 10, { name: 'changed' }));
  expect(changed.data.upsertMarkers).toMatchObject({ created: 0, updated: 10, failures: [] });
  expect(codesOf(await ten.upsert([...markersNamed('a', 10, { name: 'again' }), ...markersNamed('b', 1)]))).toEqual([
    'LIMIT_EXCEEDED',
  ]);
  expect((await ten.remove(['a0', 'a1', 'a1', 'none'])).data.deleteMarkers.deleted).toBe(2);
  expect(codesOf(await ten.create(markersNamed('b', 3)))).toEqual(['LIMIT_EXCEEDED']);
  expect(codesOf(await ten.create(markersNamed('b', 2)))).toEqual([]);
  expect(codesOf(await ten.createOne('b2'))).toEqual(['LIMIT_EXCEEDED']);
  expect(await full.list()).toHaveLength(10);
});

test('what was admitted and not created is given back', async () => {
  const some = await newCollection('some');
  const ten = some.on(await keyOf('ten'));
  await ten.create(markersNamed('a', 6));
  for (let n = 0; n < 3; n++) {
    expect(codesOf(await ten.createOne('a0'))).toEqual(['CONFLICT']);
    expect((await ten.create(markersNamed('a', 4))).data.createMarkers.failures).toHaveLength(4);
  }
  expect((await ten.create(markersNamed('b', 4))).data.createMarkers.failures).toEqual([]);
  expect(codesOf(await ten.createOne('c'))).toEqual(['LIMIT_EXCEEDED']);
});

test('of two roles, the larger quota counts; a key has its own; who has none is not limited', async () => {
  const shops = await newCollection('shops');
  const both = shops.on(await keyOf('ten', 'twelve', 'admin'));
  expect(codesOf(await both.create(markersNamed('a', 13)))).toEqual(['LIMIT_EXCEEDED']);
  expect(codesOf(await both.create(markersNamed('a', 12)))).toEqual([]);
  const own = shops.on(bearer(await createKey(db, { roles: ['ten'], quotas: { markersPerCollection: 14 } })));
  expect(codesOf(await own.create(markersNamed('b', 3)))).toEqual(['LIMIT_EXCEEDED']);
  expect(codesOf(await own.create(markersNamed('b', 2)))).toEqual([]);
  expect(codesOf(await shops.on(admin).create(markersNamed('c', 20)))).toEqual([]);
});

test('whatever is sent at the same time, one server creates as many as the quota allows', async () => {
  const busy = await newCollection('busy');
  const headers = await keyOf('ten');
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => busy.on(headers).createOne(`one${n}`)),
    ...Array.from({ length: 5 }, (_, n) => busy.on(headers).create(markersNamed(`many${n}-`, 2))),
    ...Array.from({ length: 5 }, (_, n) => busy.on(headers).upsert(markersNamed(`put${n}-`, 2))),
  ]);
  expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['LIMIT_EXCEEDED']));
  expect(await busy.list()).toHaveLength(10);
  const aliases = Array.from(
    { length: 12 },
    (_, n) => `m${n}: createMarker(input: { collection: "busy", key: "x${n}", position: { lng: 1, lat: 1 } }) { key }`,
  );
  await busy.on(headers).remove((await busy.list()).slice(0, 4));
  // They are executed one after another, until one fails.
  expect(codesOf(await server.ask(`mutation { ${aliases.join('\n')} }`, {}, headers))).toEqual(['LIMIT_EXCEEDED']);
  expect(await busy.list()).toHaveLength(10);
});

test('a quota costs at most one read, and a refused call no write', async ({ task }) => {
  const costs = await newCollection(`costs${task.result?.retryCount ?? 0}`);
  const costOf = async (headers: Record<string, string>, marker: string) => {
    const { extensions } = await costs.on({ ...headers, 'x-cellport-cost': '1' }).createOne(marker);
    return extensions.cost as { readonly readUnits: number; readonly writeUnits: number };
  };
  const ten = await keyOf('ten');
  const free = await costOf(admin, 'free');
  await costs.counted(1);
  const reads: number[] = [];
  for (let n = 1; n < 10; n++) {
    const limited = await costOf(ten, `limited${n}`);
    expect(limited.writeUnits).toBe(free.writeUnits);
    reads.push(limited.readUnits);
  }
  // That of the collection may be due, too; on a busy machine, what is kept for a second has expired before some calls.
  expect(reads.toSorted((a, b) => a - b)[4]).toBeLessThanOrEqual(1);
  expect((await costOf(ten, 'more')).writeUnits).toBe(0);
});

test('two servers may each fill it at the same time; once they are counted, neither creates more', async () => {
  const twice = await newCollection('twice');
  const headers = await keyOf('ten');
  const other = await guardedServer(db, RULES);
  try {
    const ones = [server, other].flatMap((at) =>
      Array.from({ length: 15 }, (_, n) => twice.on(headers, at).createOne(`${at === other ? 'other' : 'this'}${n}`)),
    );
    expect(new Set((await Promise.all(ones)).flatMap(codesOf))).toEqual(new Set(['LIMIT_EXCEEDED']));
    const there = await twice.list();
    expect(there.length).toBeGreaterThanOrEqual(10);
    expect(there.length).toBeLessThanOrEqual(20);
    for (const at of [server, other]) {
      await twice.counted(there.length, at);
      expect(codesOf(await twice.on(headers, at).createOne('more'))).toEqual(['LIMIT_EXCEEDED']);
    }
    await twice.on(admin).remove(there.slice(10));
    for (const at of [server, other]) {
      await twice.counted(10, at);
      expect(codesOf(await twice.on(headers, at).createOne('more'))).toEqual(['LIMIT_EXCEEDED']);
    }
  } finally {
    await other.close();
  }
});

test('a marker is as large as the quota allows; it may always become smaller', async () => {
  const sizes = await newCollection('sizes');
  const [one, every] = [sizes.on(await keyOf('twelve')), sizes.on(admin)];
  const sized = (key: string, length: number) => ({
    key,
    position: { lng: 1, lat: 1 },
    properties: { note: 'x'.repeat(length) },
  });
  const { data } = await one.create([sized('small', 400), sized('large', 1_000), sized('too', 400)]);
  expect(data.createMarkers.markers).toEqual([{ key: 'small' }, { key: 'too' }]);
  const [failure] = data.createMarkers.failures;
  expect(failure).toMatchObject({ index: 1, code: 'LIMIT_EXCEEDED' });
  expect(failure.message).toMatch(/size of the marker in bytes is 1\d{3}, the limit is 1000/);
  await every.create([sized('large', 2_000)]);
  const upserted = await one.upsert([
    sized('small', 2_000),
    sized('large', 1_500),
    sized('new', 2_000),
    sized('ok', 4),
  ]);
  expect(upserted.data.upsertMarkers).toMatchObject({ created: 1, updated: 1 });
  expect(upserted.data.upsertMarkers.failures).toMatchObject([
    { index: 0, code: 'LIMIT_EXCEEDED' },
    { index: 2, code: 'LIMIT_EXCEEDED' },
  ]);
  const update = async (key: string, length: number) =>
    codesOf(
      await server.ask(
        'mutation Update($input: UpdateMarkerInput!) { updateMarker(input: $input) { version } }',
        { input: { id: `marker::sizes::${key}`, properties: sized(key, length).properties } },
        await keyOf('twelve'),
      ),
    );
  expect(await update('small', 2_000)).toEqual(['LIMIT_EXCEEDED']);
  expect(await update('large', 1_600)).toEqual(['LIMIT_EXCEEDED']);
  expect(await update('large', 1_400)).toEqual([]);
  expect(await update('small', 10)).toEqual([]);
  expect(await sizes.list()).toEqual(['large', 'ok', 'small', 'too']);
});

test('markers of a collection have as many bytes as the quota allows; what makes them smaller is never refused', async () => {
  const bytes = await newCollection('bytes');
  const [heavy, every] = [bytes.on(await keyOf('heavy')), bytes.on(admin)];
  const sized = (key: string, length: number) => ({
    key,
    position: { lng: 1, lat: 1 },
    properties: { note: 'x'.repeat(length) },
  });
  const stored = async () => {
    const items = await allItems(db, db.tables.entities);
    const own = items.filter(
      ({ pk, sk }) => db.keys.parseMarker({ pk: String(pk), sk: String(sk) })?.scope === 'bytes',
    );
    return own.reduce((sum, item) => sum + itemBytes(item), 0);
  };
  const room = async () => 5_000 - (await stored());
  expect(codesOf(await heavy.create([sized('a', 1_000), sized('b', 1_000)]))).toEqual([]);
  await every.create([sized('c', 1_000)]);
  // Counted or not: deciding again must not depend on it.
  for (const wait of [async () => undefined, () => bytes.counted(3)]) {
    await wait();
    const { errors } = await heavy.create([sized('d', 300), sized('e', 1_000)]);
    expect(errors[0]?.extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', field: 'size in bytes of collection bytes' });
    expect(codesOf(await heavy.upsert([sized('a', 2_500)]))).toEqual(['LIMIT_EXCEEDED']);
    expect((await bytes.list()).length).toBe(3);
  }
  const update = async (key: string, length: number) =>
    codesOf(
      await server.ask(
        'mutation Update($input: UpdateMarkerInput!) { updateMarker(input: $input) { version } }',
        { input: { id: `marker::bytes::${key}`, properties: sized(key, length).properties } },
        await keyOf('heavy'),
      ),
    );
  expect(await update('a', 1_001 + (await room()))).toEqual(['LIMIT_EXCEEDED']);
  // To the last byte: the note is in `properties` only, and versions have one digit.
  expect(await update('a', 1_000 + (await room()))).toEqual([]);
  expect(await stored()).toBe(5_000);
  expect(codesOf(await heavy.createOne('d'))).toEqual(['LIMIT_EXCEEDED']);
  expect(await update('b', 900)).toEqual([]);
  expect(codesOf(await heavy.upsert([sized('b', 100), sized('d', 400)]))).toEqual([]);
  expect(codesOf(await heavy.create([sized('e', 1_000)]))).toEqual(['LIMIT_EXCEEDED']);
  await heavy.remove(['a']);
  expect(codesOf(await heavy.create([sized('e', 1_000)]))).toEqual([]);
  expect(await stored()).toBeLessThanOrEqual(5_000);
});

test('the size of a collection that a release before has counted is not known, which is said', async () => {
  const old = await newCollection('old');
  await old.on(admin).create(markersNamed('a', 3));
  await old.counted(3);
  const Key = db.keys.cell('old', '');
  const UpdateExpression = 'REMOVE #bytes, measured';
  const names = { '#bytes': 'bytes' };
  const update = { TableName: db.tables.derived, Key, UpdateExpression, ExpressionAttributeNames: names };
  await send(newCall(db), 'update', update);
  const other = await guardedServer(db, RULES);
  try {
    const heavy = old.on(await keyOf('heavy'), other);
    const refused = await heavy.createOne('b');
    expect(codesOf(refused)).toEqual(['LIMIT_EXCEEDED']);
    expect(refused.errors[0].message).toMatch(/size in bytes of collection old is unknown.*run `cellport recount`$/);
    expect(codesOf(await old.on(await keyOf('ten'), other).createOne('b'))).toEqual([]);
  } finally {
    await other.close();
  }
});

test('who sees only some of the markers is refused without being told how many there are', async () => {
  const secret = await newCollection('secret');
  await secret.on(admin).create(markersNamed('a', 17));
  await secret.counted(17);
  const blind = secret.on(await keyOf('blind'));
  const refused = await blind.create(markersNamed('b', 1, { properties: { of: 'blind' } }));
  expect(codesOf(refused)).toEqual(['LIMIT_EXCEEDED']);
  expect(JSON.stringify(refused.errors)).toContain('more than 10');
  expect(JSON.stringify(refused.errors)).not.toMatch(/17|18/);
});

test('quotas hold over every transport that has mutations', async () => {
  const ways = await newCollection('ways');
  const headers = await keyOf('ten');
  await ways.on(headers).create(markersNamed('a', 10));
  const outcomes: Record<string, unknown> = {};
  for (const [name, ask] of Object.entries(TRANSPORTS)) {
    const query = `mutation { createMarker(input: { collection: "ways", key: "${name}", position: { lng: 1, lat: 1 } }) { key } }`;
    const { errors = [] } = await ask(server.url, query, headers);
    outcomes[name] = (errors as Answer['errors']).map(({ extensions }) => String(extensions?.code));
  }
  const refused = ['LIMIT_EXCEEDED'];
  expect(outcomes).toMatchObject({ POST: refused, events: refused, WebSocket: refused });
  expect(await ways.list()).toHaveLength(10);
});

test('collections are created up to the quota, on whichever server, and deletions make room', async () => {
  const headers = await keyOf('tenant');
  const other = await guardedServer(db, undefined);
  const create = async (key: string, at = server) =>
    at.ask(`mutation { createCollection(input: { key: "${key}", name: "One" }) { key } }`, {}, headers);
  const keys = ['own-1', 'own-2', 'own-3', 'own-4', 'mine'];
  const answers = await Promise.all(keys.map((key, n) => create(key, n % 2 === 0 ? server : other)));
  await other.close();
  expect(answers.flatMap(codesOf)).toEqual(['LIMIT_EXCEEDED', 'LIMIT_EXCEEDED']);
  const refused = await create('own-5');
  expect(refused.errors[0].extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 3 });
  const created = keys.filter((_, n) => answers[n]?.errors.length === 0);
  await server.ask(`mutation { deleteCollection(key: "${created[0]}") { key } }`, {}, headers);
  expect(codesOf(await create('own-6'))).toEqual([]);
  expect(codesOf(await create('own-7'))).toEqual(['LIMIT_EXCEEDED']);
  expect(codesOf(await create('other'))).toEqual(['NOT_FOUND']);
});

test('another quota is in force within a moment', async () => {
  const later = await newCollection('later');
  const ten = later.on(await keyOf('ten'));
  expect(codesOf(await ten.create(markersNamed('a', 11)))).toEqual(['LIMIT_EXCEEDED']);
  await setRules(db, { roles: { ...RULES.roles, ten: { rules: ALL, quotas: { markersPerCollection: 11 } } } });
  await vi.waitFor(async () => expect(codesOf(await ten.create(markersNamed('a', 11)))).toEqual([]), 10_000);
});
