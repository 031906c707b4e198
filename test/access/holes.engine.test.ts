import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { hashOfKey } from '../../src/access/api-key.js';
import { Authenticator } from '../../src/access/authenticator.js';
import type { CellportError } from '../../src/errors.js';
import { silentLog } from '../../src/log.js';
import { removeKey, storedKey } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, JWT, setRules, token, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const NORTH = { properties: [{ name: 'fleet', eq: '$fleet' }] };
const all = ['read', 'write', 'record', 'admin'];
const RULES = {
  roles: {
    anonymous: [{ collections: ['cars'], may: ['read'], where: { properties: [{ name: 'fleet', eq: 'north' }] } }],
    writer: [{ collections: ['cars'], may: ['read', 'write'] }],
    driver: [{ collections: ['cars'], may: ['read'], where: NORTH }],
    editor: [{ collections: ['cars'], may: ['read', 'write'], hide: ['margin'] }],
    keeper: [{ collections: ['cars'], may: ['admin'] }],
    chief: [
      { collections: ['cars'], may: ['admin'] },
      { collections: ['cars'], may: ['read'], where: NORTH, hide: ['margin'] },
    ],
    admin: [{ collections: ['*'], may: all }],
  },
  jwt: JWT,
};
let server: GuardedServer;

beforeAll(async () => {
  const now = new Date().toISOString();
  const made = { key: 'cars', name: 'Cars', mapProperties: ['fleet', 'margin'] };
  const collection = await testCollection(db, made, now);
  const markers = ['north', 'south', null].map((fleet) => ({
    key: String(fleet),
    position: { lng: 10, lat: 50 },
    properties: { fleet, margin: 7 },
  }));
  await createMarkers(newCall(db), collection, markers, now);
  server = await guardedServer(db, RULES);
  const admin = bearer(await createKey(db, { roles: ['admin'] }));
  // Until then, a list looks for markers everywhere, and may end before it finds one.
  const counted = async () => {
    const { data } = await server.ask('{ collection(key: "cars") { count countsExact } }', {}, admin);
    expect(data).toEqual({ collection: { count: 3, countsExact: true } });
  };
  await vi.waitFor(counted, { timeout: 60_000, interval: 100 });
});
afterAll(() => server.close());

const CARS = '{ collection(key: "cars") { markers { nodes { key properties } } } }';

test('an empty credential is not the same as none, whichever is known first', async () => {
  expect((await server.ask(CARS, {}, { 'x-api-key': '' })).status).toBe(401);
  expect((await server.ask(CARS)).data.collection.markers.nodes).toHaveLength(1);
  expect((await server.ask(CARS, {}, { 'x-api-key': '' })).status).toBe(401);
});

/** A WebSocket that has been opened with a payload, and the first message or the code with which it is closed. */
async function opened(payload: object): Promise<{ socket: WebSocket; first: unknown }> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  const message = once(socket, 'message').then(
    ([data]) => (JSON.parse(String(data)) as { readonly type: string }).type,
  );
  const closed = once(socket, 'close').then(([code]) => code as number);
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  return { socket, first: await Promise.race([message, closed]) };
}

test('a credential that is no text is refused, as one that does not verify', async () => {
  for (const payload of [{ authorization: ['Bearer x'] }, { 'x-api-key': 1 }, { headers: { Authorization: {} } }]) {
    expect([payload, (await opened(payload)).first]).toEqual([payload, 4401]);
  }
  const { socket, first } = await opened({ authorization: null });
  expect(first).toBe('connection_ack');
  socket.terminate();
});

test('a WebSocket that does not close when its key is revoked executes nothing more', async () => {
  const key = await createKey(db, { roles: ['writer'] });
  const { socket, first } = await opened(bearer(key));
  expect(first).toBe('connection_ack');
  // It does not see that it is to close, and so does not answer.
  (socket as unknown as { readonly _socket: { pause(): void } })._socket.pause();
  const stored = await storedKey(newCall(db), hashOfKey(key) ?? '');
  if (stored) await removeKey(newCall(db), stored);
  const admin = bearer(await createKey(db, { roles: ['admin'] }));
  const refused = async () => expect((await server.ask(CARS, {}, bearer(key))).status).toBe(401);
  await vi.waitFor(refused, { timeout: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const query =
    'mutation { createMarker(input: { collection: "cars", key: "late", position: { lng: 1, lat: 1 } }) { key } }';
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { data } = await server.ask('{ collection(key: "cars") { marker(key: "late") { key } } }', {}, admin);
  socket.terminate();
  expect(data).toEqual({ collection: { marker: null } });
});

test('the answer to a change of a collection shows what its principal may read', async () => {
  const change =
    'mutation { updateCollection(input: { key: "cars", description: "x" }) { count mapProperties markers { nodes { key properties } } } }';
  const keeper = await server.ask(change, {}, bearer(await createKey(db, { roles: ['keeper'] })));
  expect(JSON.stringify(keeper)).not.toMatch(/north|south/);
  const chief = bearer(await createKey(db, { roles: ['chief'], variables: { fleet: 'north' } }));
  expect((await server.ask(change, {}, chief)).data.updateCollection).toEqual({
    count: 1,
    mapProperties: ['fleet'],
    markers: { nodes: [{ key: 'north', properties: { fleet: 'north' } }] },
  });
});

test('the answer to a change of a marker shows no hidden property', async () => {
  const editor = bearer(await createKey(db, { roles: ['editor'] }));
  for (const change of [
    'updateMarker(input: { id: "marker::cars::south", name: "x" })',
    'deleteMarker(id: "marker::cars::south")',
  ]) {
    const { data } = await server.ask(`mutation { changed: ${change} { properties geojson } }`, {}, editor);
    expect(data.changed.properties).toEqual({ fleet: 'south' });
    expect(JSON.stringify(data)).not.toContain('margin');
  }
});

test('a claim that is null is one that is missing', async () => {
  const driver = async (fleet: unknown) => server.ask(CARS, {}, bearer(await token({ roles: ['driver'], fleet })));
  expect((await driver('north')).data.collection.markers.nodes).toHaveLength(1);
  expect((await driver(null)).data).toEqual({ collection: null });
});

test('a credential that many send at once is looked up once', async () => {
  const authenticator = new Authenticator(db, silentLog);
  const credential = bearer(await createKey(db, { roles: ['writer'] }));
  await authenticator.access({});
  const read = vi.spyOn(db.client, 'send');
  const found = await Promise.all(Array.from({ length: 50 }, () => authenticator.access(credential)));
  const lookups = read.mock.calls.filter(
    ([{ input }]) => JSON.stringify(input).includes('"key::') && !('UpdateExpression' in input),
  );
  read.mockRestore();
  expect([new Set(found).size, lookups.length]).toEqual([1, 1]);
});

test('rules that cannot be read allow nothing, and are not quoted', async () => {
  await setRules(db, { roles: { secretive: 1 } });
  const authenticator = new Authenticator(db, silentLog);
  await expect(authenticator.access({})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'the access rules cannot be read',
  });
  await setRules(db, RULES);
});

test('a stream ends if the keys of the issuer could not be read when the rules changed', async () => {
  let isDown = false;
  const issuer = createServer((_request, response) =>
    isDown ? response.destroy() : response.setHeader('content-type', 'application/json').end(JSON.stringify(JWT.jwks)),
  ).listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  const jwt = { ...JWT, jwks: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks` };
  await setRules(db, { ...RULES, jwt });
  const authenticator = new Authenticator(db, silentLog);
  authenticator.start();
  try {
    const credential = bearer(await token({ roles: ['driver'], fleet: 'north' }));
    const access = await authenticator.access(credential);
    const end = vi.fn<(reason: CellportError) => void>();
    const release = authenticator.hold(credential, access, end);
    isDown = true;
    await setRules(db, { ...RULES, jwt: { ...jwt, audience: 'others' } });
    const unavailable = () => expect(authenticator.access(credential)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await vi.waitFor(unavailable, { timeout: 20_000 });
    expect(end).not.toHaveBeenCalled();
    isDown = false;
    await vi.waitFor(() => expect(end.mock.lastCall?.[0].code).toBe('FORBIDDEN'), { timeout: 20_000 });
    release();
  } finally {
    await authenticator.stop();
    issuer.close();
    await setRules(db, RULES);
  }
});
