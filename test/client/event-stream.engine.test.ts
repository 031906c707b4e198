import { afterAll, beforeAll, expect, test } from 'vitest';

import { hashOfKey } from '../../src/access/api-key.js';
import { subscribe } from '../../src/client/public.js';
import { removeKey, storedKey } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { createKey, guardedServer, JWT, setRules, token, type GuardedServer } from '../access/guarded-server.js';
import { testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const ALL = [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }];
const RULES = { roles: { all: ALL, reader: [{ collections: ['*'], may: ['read'] }] }, jwt: JWT };
const READINGS = 'subscription ($id: ID!) { readingRecorded(marker: $id) { at } }';
const MARKER = { id: 'marker::sensors::one' };
let server: GuardedServer;
let admin: Record<string, string>;

beforeAll(async () => {
  server = await guardedServer(db, RULES);
  admin = { 'x-api-key': await createKey(db, { roles: ['all'] }) };
  const ask = async (mutation: string) => {
    expect((await server.ask(`mutation { ${mutation} }`, {}, admin)).errors).toEqual([]);
  };
  await ask('createCollection(input: { key: "sensors", name: "Sensors" }) { id }');
  await ask('createMarker(input: { collection: "sensors", key: "one", position: { lng: 1, lat: 2 } }) { id }');
});
afterAll(() => server.close());

let second = 0;
/** Records readings until the stream sends one. */
async function next(stream: AsyncGenerator<object, void>): Promise<object | void> {
  const received = stream.next().then(({ value }) => value);
  const recording = setInterval(() => {
    const at = new Date(Date.UTC(2020, 0, 1, 0, 0, (second += 1))).toISOString();
    void server.ask(
      'mutation ($id: ID!, $at: DateTime!) { recordReadings(marker: $id, readings: [{ at: $at, values: { x: 1 } }]) }',
      { ...MARKER, at },
      admin,
    );
  }, 200);
  try {
    return await received;
  } finally {
    clearInterval(recording);
  }
}

test('an event stream goes on under other rules, and ends with the code when its key is revoked', async () => {
  const key = await createKey(db, { roles: ['reader'] });
  let asked = 0;
  const headers = () => ({ 'x-api-key': key, 'x-asked': String((asked += 1)) });
  const stream = subscribe({ url: `${server.url}/graphql`, headers }, READINGS, MARKER);
  expect(await next(stream)).toHaveProperty('readingRecorded.at');
  const reader = [...RULES.roles.reader, { collections: ['x'], may: ['read'] }];
  await setRules(db, { ...RULES, roles: { ...RULES.roles, reader } });
  await expect.poll(async () => (await next(stream)) && asked, { timeout: 10_000 }).toBe(2);
  const stored = await storedKey(newCall(db), hashOfKey(key) ?? '');
  if (stored) await removeKey(newCall(db), stored);
  const end = async () => {
    for await (const _ of stream);
  };
  await expect(end()).rejects.toMatchObject({ name: 'ViewportError', code: 'UNAUTHENTICATED' });
});

test('a token that has expired is replaced, once', async () => {
  const asked: boolean[] = [];
  const fresh = await token({ roles: ['reader'] });
  const stale = await token({ roles: ['reader'] }, { expires: '-2m' });
  const headers = (isRefused: boolean) => {
    asked.push(isRefused);
    return { authorization: `Bearer ${isRefused ? fresh : stale}` };
  };
  const stream = subscribe({ url: `${server.url}/graphql`, headers }, READINGS, MARKER);
  expect(await next(stream)).toHaveProperty('readingRecorded.at');
  expect(asked).toEqual([false, true]);
  await stream.return();
  const refused = subscribe({ url: `${server.url}/graphql`, headers: () => ({ authorization: `Bearer ${stale}` }) }, READINGS, MARKER); // prettier-ignore
  await expect(refused.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: 'the token has expired' });
});
