import pLimit from 'p-limit';
import { expect, test } from 'vitest';

import { GEOHASH_ALPHABET } from '../../src/geo/geohash.js';
import { Budget } from '../../src/loaders/budget.js';
import { DirectoryCache } from '../../src/loaders/pages/directory-cache.js';
import { DirectoryReader } from '../../src/loaders/pages/directory-reader.js';
import { type PageHint, partitionRange } from '../../src/pages/directory.js';
import { putDirectoryPart } from '../../src/store/page/page-directory.js';
import { newCall } from '../../src/store/request/meter.js';
import { memoryDatabase } from '../support/memory-store.js';
import { recordCalls } from '../support/record-calls.js';

const db = memoryDatabase();
const calls = recordCalls(db);
const of = { scope: 'cities', collection: 'cities', generation: '1' };
const hint = (begin: string): PageHint => ({ begin, markers: 30, bytes: 900 });

/** A server whose collection has markers in these partitions, and pages in its directory. */
async function server(parts: readonly (readonly string[])[], exist: readonly string[], generation: string) {
  const named = { ...of, generation };
  const put = (part: readonly string[]) => putDirectoryPart(db, named, part.map(hint), newCall());
  for (const part of parts) await put(part);
  const world = { exist, asked: 0, first: [] as string[] };
  const options = {
    db,
    call: newCall(),
    slots: pLimit(4),
    directories: new DirectoryCache(),
    partitions: () => {
      world.asked += 1;
      return Promise.resolve(world.exist);
    },
    firstPage: (partition: string) => {
      world.first.push(partition);
      return Promise.resolve({ begin: partition, end: undefined, round: 1, lost: undefined, entries: [], bytes: 500 });
    },
  };
  const read = async (partitions: string) => {
    const before = calls.count('Query');
    const budget = new Budget(100, 100);
    const cover = Array.from(partitions, partitionRange);
    const directory = await new DirectoryReader(options, named).read(cover, budget);
    const begins = [...directory.values()].map(({ hints }) => hints.map(({ begin }) => begin).join(' '));
    return { begins, queries: calls.count('Query') - before, debited: 100 - budget.calls };
  };
  return { world, put, read };
}

test('neighbouring partitions are read once, by one Query', async () => {
  const { world, read } = await server([['s', 's4'], ['t'], ['u', 'u1', 'u2'], ['u8', 'ub']], ['s', 't', 'u'], 'near');
  expect(await read('stu')).toEqual({ begins: ['s s4', 't', 'u u1 u2 u8 ub'], queries: 1, debited: 1 });
  expect(await read('tu')).toEqual({ begins: ['t', 'u u1 u2 u8 ub'], queries: 0, debited: 0 });
  expect(world).toMatchObject({ asked: 0, first: [] });
});

test('other partitions are read by one Query each; the whole world by a single one', async () => {
  const { world, read } = await server([['6'], ['9', '9z'], ['d']], ['6', '9', 'd'], 'far');
  expect(await read('69')).toEqual({ begins: ['6', '9 9z'], queries: 2, debited: 2 });
  expect(world.asked).toBe(0);
  const another = await server([], ['6', '9', 'd'], 'far');
  expect(await another.read(GEOHASH_ALPHABET)).toEqual({ begins: ['6', '9 9z', 'd'], queries: 1, debited: 1 });
});

test('a partition without pages is read again once the counts show that it has markers', async () => {
  const { world, put, read } = await server([['u']], ['u'], 'later');
  expect(await read('tu')).toMatchObject({ begins: ['u'], queries: 1 });
  // The counts show that it is still empty.
  expect(await read('tu')).toMatchObject({ begins: ['u'], queries: 0 });
  await put(['t', 't5']);
  world.exist = ['t', 'u'];
  expect(await read('tu')).toMatchObject({ begins: ['t t5', 'u'], queries: 1 });
  expect(world.first).toEqual([]);
});

test.each([
  ['nothing of a partition yet', [], 'nothing'],
  ['only a later part of it yet', [['u8', 'ub']], 'right'],
])('its first page is read where the directory has %s', async (_, parts, generation) => {
  const { world, read } = await server(parts, ['u'], generation);
  expect(await read('u')).toMatchObject({ begins: ['u'], queries: 1 });
  expect(world.first).toEqual(['u']);
  expect(await read('u')).toMatchObject({ begins: ['u'], queries: 0 });
});
