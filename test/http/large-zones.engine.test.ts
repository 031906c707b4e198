import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createFolderStore } from '../../src/objects/folder-store.js';
import type { ObjectStore } from '../../src/objects/object-store.js';
import { createS3Store } from '../../src/objects/s3-store.js';
import { newCall } from '../../src/store/database.js';
import { sweepObjects } from '../../src/store/zone/zones.js';
import { HAS_S3_SERVER, startS3Server } from '../services/s3-server.js';
import { randomFrom } from '../support/random.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

/** A star whose coordinates do not compress well: too large for an item. */
function star(seed: number, lng: number) {
  const random = randomFrom(seed);
  const ring = Array.from({ length: 6_000 }, (_, n) => {
    const [angle, radius] = [(2 * Math.PI * n) / 6_000, 3 + random()];
    return [lng + radius * Math.cos(angle), 50 + radius * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-large-zones-'));
  return { store: createFolderStore(folder), close: () => rm(folder, { recursive: true }) };
}

async function openBucket() {
  const server = await startS3Server();
  const store = createS3Store({ ...server, prefix: 'maps/large' });
  return {
    store,
    close: async () => {
      store.close();
      await server.close();
    },
  };
}

const CREATE = 'mutation Create($input: CreateZoneInput!) { createZone(input: $input) { id version } }';
const UPDATE = 'mutation Update($input: UpdateZoneInput!) { updateZone(input: $input) { version } }';
const READ =
  'query Read($key: String!) { collection(key: "lands") { zone(key: $key) { name geometrySource geometry bounds { west } } } }';

/** The module that starts the S3 server reports if there is none. */
const STORES = [
  ['a folder', openFolder],
  ...(HAS_S3_SERVER ? ([['a bucket of S3', openBucket]] as const) : []),
] as const;

describe.each(STORES)('zones whose geometry is stored in %s', async (_, open) => {
  const db = await testDatabase();
  let server: LiveServer;
  let objects: ObjectStore;
  let close: () => Promise<void>;
  beforeAll(async () => {
    await testCollection(db, { key: 'lands', name: 'Lands' }, '2026-11-21T10:00:00.000Z');
    ({ store: objects, close } = await open());
    server = await startServer(db, { objects });
  });
  afterAll(async () => {
    await server.close();
    await close();
  });

  const create = (key: string, geometry: unknown) =>
    server.ask(CREATE, { input: { collection: 'lands', key, name: key, geometry } });
  const read = async (key: string) => {
    const { data, errors } = await server.ask(READ, { key });
    return { zone: data.collection.zone, errors };
  };
  async function names(): Promise<string[]> {
    const found: string[] = [];
    for await (const { name } of objects.list()) found.push(name);
    return found;
  }
  /** The object that was put since `before`. */
  async function newName(before: readonly string[]): Promise<string> {
    const [name, ...more] = (await names()).filter((one) => !before.includes(one));
    expect(more).toEqual([]);
    return name ?? 'none';
  }

  test('are created with an object, returned as they were given, and get a new object when they change', async () => {
    expect(await create('one', star(1, 10))).toMatchObject({ errors: [], data: { createZone: { version: 1 } } });
    const name = await newName([]);
    const { zone, errors } = await read('one');
    expect(errors).toEqual([]);
    expect(zone.geometry).toEqual(star(1, 10));
    expect(zone.geometrySource).toBe(`${objects.place}/${name}`);
    const update = { id: 'zone::lands::one', geometry: star(2, 30) };
    expect(await server.ask(UPDATE, { input: update })).toMatchObject({ errors: [] });
    const [next, ...more] = await names();
    expect([next === name, more]).toEqual([false, []]);
    expect((await read('one')).zone.geometry).toEqual(star(2, 30));
    await server.ask('mutation Delete { deleteZone(id: "zone::lands::one") { key } }');
    expect(await names()).toEqual([]);
  });

  test.each([
    ['missing', (name: string) => objects.remove(name)],
    ['damaged', (name: string) => objects.put(name, Buffer.from('something else'))],
  ])('with a geometry that is %s fail only that field, with UNAVAILABLE', async (key, harm) => {
    const before = await names();
    await create(key, star(3, 60));
    const name = await newName(before);
    await harm(name);
    const { zone, errors } = await read(key);
    expect(zone).toMatchObject({ name: key, geometry: null, bounds: { west: expect.any(Number) } });
    expect(zone.geometrySource).toBe(`${objects.place}/${name}`);
    expect(errors).toMatchObject([
      {
        path: ['collection', 'zone', 'geometry'],
        message: expect.stringContaining(`${name} is ${key}`),
        extensions: { code: 'UNAVAILABLE' },
      },
    ]);
  });

  test('keep their objects in a sweep, which removes objects without a zone', async () => {
    const before = await names();
    await create('swept', star(4, 90));
    const kept = [...before, await newName(before)];
    const orphan = kept.at(-1)?.replace(/[^/]*$/, 'orphan.json.gz') ?? '';
    await objects.put(orphan, Buffer.from('x'));
    expect(await sweepObjects(newCall(db), objects, new Date(Date.now() + 60_000))).toEqual({
      objects: kept.length + 1,
      orphans: 1,
    });
    expect((await names()).toSorted()).toEqual(kept.toSorted());
    expect((await read('swept')).zone.geometry).toEqual(star(4, 90));
  });
});
