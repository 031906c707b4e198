import type { Client } from 'graphql-ws';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { collect, websocketClient } from '../live/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    driver: [
      {
        collections: ['vehicles'],
        may: ['read'],
        where: { properties: [{ name: 'fleet', eq: '$fleet' }] },
        hide: ['margin', 'fleet'],
      },
    ],
    recent: [{ collections: ['vehicles'], may: ['read'], where: { updatedAfter: '$since' } }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
let server: GuardedServer;
let admin: Record<string, string>;
const clients: Client[] = [];

beforeAll(async () => {
  await testCollection(db, { key: 'vehicles', name: 'Vehicles' });
  server = await guardedServer(db, RULES);
  admin = bearer(await createKey(db, { roles: ['admin'] }));
});
afterAll(async () => {
  for (const client of clients) await client.dispose();
  await server.close();
});

async function connectedAs(role: string, variables: Record<string, string>): Promise<Client> {
  const client = websocketClient(server.url, bearer(await createKey(db, { roles: [role], variables })));
  clients.push(client);
  return client;
}
const connected = (fleet: string) => connectedAs('driver', { fleet });

async function mutate(field: string): Promise<void> {
  const { errors } = await server.ask(`mutation { ${field} }`, {}, admin);
  expect(errors).toEqual([]);
}

const create = (key: string, fleet: string, lng: number) =>
  mutate(`createMarker(input: { collection: "vehicles", key: "${key}", position: { lng: ${lng}, lat: 1 },
    properties: { fleet: "${fleet}", margin: "secret-${fleet}" } }) { key }`);
const update = (key: string, change: string) =>
  mutate(`updateMarker(input: { id: "marker::vehicles::${key}", ${change} }) { key }`);
const toFleet = (fleet: string) => `properties: { fleet: "${fleet}", margin: "secret-${fleet}" }`;

const CHANGED = `subscription($since: DateTime) { markerChanged(collection: "vehicles", since: $since) {
  kind id previous { lng } marker { key position { lng } properties version } } }`;

const SOON = { timeout: 30_000, interval: 100 };
const PATIENT = { timeout: 90_000 };

interface Told {
  readonly kind: string;
  readonly id: string;
  readonly previous: { readonly lng: number } | null;
  readonly marker: { readonly position: { readonly lng: number } } | null;
}

/** What was told of the marker with a key. */
const linesOf = (key: string, data: readonly object[]) =>
  data.flatMap((one) => {
    const { kind, id, previous, marker } = (one as { markerChanged: Told }).markerChanged;
    return id === `marker::vehicles::${key}` ? [`${kind} ${previous?.lng ?? '-'} ${marker?.position.lng ?? '-'}`] : [];
  });

test('two principals are told of their own markers, and since a time of the same', PATIENT, async () => {
  const moving = 'moving';
  const [north, south] = [await connected('north'), await connected('south')];
  const [ofNorth, ofSouth] = [collect(north, CHANGED), collect(south, CHANGED)];
  // A subscription has begun once it tells of a change.
  for (let n = 0; ofNorth.data.length === 0 || ofSouth.data.length === 0; n += 1) {
    await create(`begin-north-${n}`, 'north', 1);
    await create(`begin-south-${n}`, 'south', 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (n > 100) throw new Error(`no subscription has begun: ${JSON.stringify([ofNorth, ofSouth])}`);
  }
  // Not earlier: a server that has just started may not know what happened before.
  const since = new Date().toISOString();
  await create(moving, 'north', 11);
  await update(moving, 'position: { lng: 12, lat: 1 }');
  await update(moving, `position: { lng: 13, lat: 1 }, ${toFleet('south')}`);
  await update(moving, 'position: { lng: 14, lat: 1 }');
  await update(moving, `position: { lng: 15, lat: 1 }, ${toFleet('north')}`);
  await mutate(`deleteMarker(id: "marker::vehicles::${moving}") { key }`);
  const lines = (data: readonly object[]) => linesOf(moving, data);
  const expected = {
    north: ['CREATED - 11', 'MOVED 11 12', 'LEFT 12 -', 'ENTERED - 15', 'DELETED 15 -'],
    south: ['ENTERED - 13', 'MOVED 13 14', 'LEFT 14 -'],
  };
  await vi.waitFor(() => expect({ north: lines(ofNorth.data), south: lines(ofSouth.data) }).toEqual(expected), SOON);
  const missed = collect(north, CHANGED, { since });
  // DynamoDB Local truncates times to minutes, so recent changes are read from the stream, too.
  await vi.waitFor(() => {
    expect({ errors: missed.errors, told: [...new Set(lines(missed.data))] }).toEqual({
      errors: [],
      told: expected.north,
    });
  }, SOON);
  for (const told of [ofNorth, missed]) expect(JSON.stringify(told.data)).not.toMatch(/south|secret/);
  expect(JSON.stringify(ofSouth.data)).not.toMatch(/north|secret/);
  expect([...ofNorth.errors, ...ofSouth.errors, ...missed.errors]).toEqual([]);
});

test('a marker that was too old for the rows enters them without its former position', PATIENT, async () => {
  const kept = ['aged', 'stale'];
  for (const key of kept) await create(key, 'north', 31);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const told = collect(await connectedAs('recent', { since: new Date().toISOString() }), CHANGED);
  for (let n = 0; told.data.length === 0; n += 1) {
    await create(`begin-recent-${n}`, 'north', 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (n > 100) throw new Error(`no subscription has begun: ${JSON.stringify(told)}`);
  }
  await update('aged', 'position: { lng: 32, lat: 1 }');
  await update('aged', 'position: { lng: 33, lat: 1 }');
  await update('aged', toFleet('south'));
  await mutate('deleteMarker(id: "marker::vehicles::stale") { key }');
  await mutate('deleteMarker(id: "marker::vehicles::aged") { key }');
  const expected = ['ENTERED - 32', 'MOVED 32 33', 'UPDATED 33 33', 'DELETED 33 -'];
  await vi.waitFor(() => expect(linesOf('aged', told.data)).toEqual(expected), SOON);
  expect(linesOf('stale', told.data)).toEqual([]);
});

test('readings are told only while the marker is in the rows', PATIENT, async () => {
  const sensor = 'sensor';
  await create(sensor, 'north', 21);
  const RECORDED = `subscription { readingRecorded(marker: "marker::vehicles::${sensor}") { values } }`;
  const [ofNorth, ofSouth] = [collect(await connected('north'), RECORDED), collect(await connected('south'), RECORDED)];
  const record = (n: number) =>
    mutate(`recordReadings(marker: "marker::vehicles::${sensor}", readings: [{ values: { n: ${n} } }])`);
  await vi.waitFor(async () => {
    await record(1);
    expect([ofNorth.data.length > 0, ofSouth.errors.length]).toEqual([true, 1]);
  }, SOON);
  await update(sensor, toFleet('south'));
  await record(2);
  await vi.waitFor(() => expect(ofNorth.errors).toHaveLength(1), SOON);
  for (const { errors } of [ofNorth, ofSouth]) expect(errors[0]?.extensions['code']).toBe('NOT_FOUND');
  expect(ofSouth.errors[0]?.message).toBe(ofNorth.errors[0]?.message);
  expect(JSON.stringify([ofNorth.data, ofSouth.data])).not.toContain('{"n":2}');
});
