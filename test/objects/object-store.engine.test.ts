import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createFolderStore } from '../../src/objects/folder-store.js';
import type { ObjectStore } from '../../src/objects/object-store.js';
import { createS3Store } from '../../src/objects/s3-store.js';
import { HAS_S3_SERVER, startS3Server, type S3Server } from '../services/s3-server.js';
import { someOf } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
/** Plain bytes from any kind of buffer. */
const plain = (body: Uint8Array | undefined) => body && Buffer.from(body).toString('latin1');

async function namesOf(store: ObjectStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.list()) names.push(name);
  return names.toSorted();
}

const part = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,30}$/);
const objectName = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));

/** The contract of every object store, tested on one from `open`, empty each time. */
function keepsTheContract(open: () => Promise<ObjectStore>): void {
  test('returns a stored object byte for byte, and undefined for a missing one', async () => {
    const store = await open();
    await fc.assert(
      fc.asyncProperty(objectName, fc.uint8Array({ maxLength: 5000 }), async (name, body) => {
        expect(await store.get(`none/${name}`)).toBeUndefined();
        await store.put(`some/${name}/x`, body);
        expect(plain(await store.get(`some/${name}/x`))).toEqual(plain(body));
        await store.remove(`some/${name}/x`);
        expect(await store.get(`some/${name}/x`)).toBeUndefined();
      }),
      { numRuns: someOf(30) },
    );
  });

  test('stores bodies of several megabytes and empty ones', async () => {
    const store = await open();
    const large = Buffer.alloc(3_000_000, 'Île de la Cité ');
    await store.put('large', large);
    await store.put('empty', new Uint8Array());
    const [got, empty] = [await store.get('large'), await store.get('empty')];
    expect(got && large.equals(got)).toBe(true);
    expect(empty).toHaveLength(0);
  });

  test('replaces a body; of concurrent writes, one remains, complete', async () => {
    const store = await open();
    const bodies = ['a', 'b'].map((letter) => Buffer.alloc(500_000, letter));
    await store.put('zone', bytes('first'));
    await store.put('zone', bytes('second'));
    expect(plain(await store.get('zone'))).toBe('second');
    await Promise.all(Array.from({ length: 10 }, (_, n) => store.put('zone', bodies[n % 2] as Buffer)));
    expect(bodies.map(String)).toContain(plain(await store.get('zone')));
    expect(await namesOf(store)).toEqual(['zone']);
  });

  test('removes an object, and ignores a missing one', async () => {
    const store = await open();
    await store.put('zones/1', bytes('1'));
    await store.put('zones/2', bytes('2'));
    await store.remove('zones/1');
    await store.remove('zones/1');
    await store.remove('nowhere/at-all');
    // A folder of objects is not an object.
    await store.remove('zones');
    expect(await store.get('zones')).toBeUndefined();
    expect(await namesOf(store)).toEqual(['zones/2']);
  });

  test('lists every object with its time, across pages', async () => {
    const store = await open();
    expect(await namesOf(store)).toEqual([]);
    const began = Date.now();
    const names = Array.from({ length: 1100 }, (_, n) => `part-${n % 7}/${n}`);
    for (let from = 0; from < names.length; from += 50) {
      await Promise.all(names.slice(from, from + 50).map((name) => store.put(name, bytes(name))));
    }
    const listed: { name: string; modifiedAt: Date }[] = [];
    for await (const object of store.list()) listed.push(object);
    expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    // S3 returns whole seconds.
    for (const { modifiedAt } of listed) {
      expect(modifiedAt.getTime()).toBeGreaterThan(began - 2000);
      expect(modifiedAt.getTime()).toBeLessThan(Date.now() + 2000);
    }
  });

  test('rejects invalid names on write, and finds nothing under them', async () => {
    const store = await open();
    const wrong = ['', '.', '..', '../up', 'a/../../up', 'a/./b', '/root', 'a//b', 'a/', 'ü', 'a b', 'a\\b', 'a\0b'];
    for (const name of [...wrong, 'x'.repeat(201), Array.from({ length: 100 }, () => 'xxxxxx').join('/'), 'a\n']) {
      await expect(store.put(name, bytes('x'))).rejects.toThrow('invalid object name');
      expect(await store.get(name)).toBeUndefined();
      await store.remove(name);
    }
    expect(await namesOf(store)).toEqual([]);
  });
}

describe('a folder of objects', () => {
  const parent = temporaryFolder();
  let count = 0;
  const newFolder = () => join(parent, String((count += 1)), 'objects');

  keepsTheContract(async () => createFolderStore(newFolder()));

  test('creates its folder on the first write, not before', async () => {
    const folder = newFolder();
    const store = createFolderStore(folder);
    expect(await store.get('zone')).toBeUndefined();
    expect(await namesOf(store)).toEqual([]);
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    await store.put('zone', bytes('x'));
    expect((await stat(folder)).isDirectory()).toBe(true);
    expect(await namesOf(store)).toEqual(['zone']);
  });

  test('never lets a reader see half of a body while it is replaced', async () => {
    const store = createFolderStore(newFolder());
    const bodies = ['a', 'b'].map((letter) => Buffer.alloc(500_000, letter));
    await store.put('zone', bodies[0] as Buffer);
    const [seen] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, async () => plain(await store.get('zone')))),
      ...Array.from({ length: 10 }, (_, n) => store.put('zone', bodies[n % 2] as Buffer)),
    ]);
    for (const body of seen) expect(bodies.map(String)).toContain(body);
  });

  test('leaves no half-written file after a failed write, and reports UNAVAILABLE', async () => {
    const folder = newFolder();
    const store = createFolderStore(folder);
    await store.put('zones/1', bytes('1'));
    // A folder has that name, or a file is in the path.
    for (const name of ['zones', 'zones/1/2']) {
      await expect(store.put(name, bytes('x'))).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.not.stringContaining(folder),
        cause: { message: folder },
      });
    }
    expect(await namesOf(store)).toEqual(['zones/1']);
    expect(plain(await store.get('zones/1'))).toBe('1');
  });

  test('distinguishes a disk error from a missing object', async () => {
    // A file name that is too long represents any error of the operating system.
    const store = createFolderStore(join(parent, 'x'.repeat(300)));
    await expect(store.get('zone')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('ENAMETOOLONG'),
    });
    await expect(store.remove('zone')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(namesOf(store)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe.skipIf(!HAS_S3_SERVER)('a bucket of S3', () => {
  let server: S3Server;
  const stores: { close(): void }[] = [];
  let count = 0;
  function open(options: Partial<Parameters<typeof createS3Store>[0]> = {}) {
    const store = createS3Store({ ...server, prefix: `test/${(count += 1)}`, ...options });
    stores.push(store);
    return store;
  }
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(async () => {
    for (const store of stores) store.close();
    await server.close();
  });

  keepsTheContract(async () => open());

  test('keeps objects under its prefix, or at the top without one', async () => {
    const [all, some, other] = [open({ prefix: '' }), open({ prefix: 'some' }), open({ prefix: 'somewhere' })];
    await Promise.all([all.put('zone', bytes('all')), some.put('zone', bytes('some')), other.put('x', bytes('x'))]);
    expect(await namesOf(some)).toEqual(['zone']);
    expect(plain(await all.get('some/zone'))).toBe('some');
    expect(await namesOf(all)).toEqual(expect.arrayContaining(['zone', 'some/zone', 'somewhere/x']));
    expect([all.place, some.place]).toEqual(['s3://maps/', 's3://maps/some']);
  });

  test('reports UNAVAILABLE with the reason if the bucket is missing or the keys are wrong', async () => {
    const missing = open({ bucket: 'no-such-bucket' });
    const refused = open({ credentials: { accessKeyId: 'test', secretAccessKey: 'wrong' } });
    for (const [store, reason] of [
      [missing, 'NoSuchBucket'],
      [refused, 'SignatureDoesNotMatch'],
    ] as const) {
      for (const work of [() => store.put('a', bytes('x')), () => store.get('a'), () => namesOf(store)]) {
        await expect(work()).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: `the object store is unavailable: ${reason}`,
        });
      }
    }
  });
});
