import fc from 'fast-check';
import { expect, test } from 'vitest';

import { GEOHASH_ALPHABET, LONGEST_Z, type ZRange } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { Budget } from '../../src/loaders/budget.js';
import { afterPartition, partitionRange, partsOfHints, positionOf, type PageHint } from '../../src/pages/directory.js';
import { planReads } from '../../src/pages/plan-reads.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { DirectoryReader } from '../../src/read/from-pages/directory-reader.js';
import { newCall } from '../../src/store/database.js';
import { findDirectoryPart, putDirectoryPart, readDirectory } from '../../src/store/page/pages.js';
import { memoryDatabase } from '../support/memory-store.js';
import { columnsOf } from '../support/page-services.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf } from '../support/rounds.js';

const db = memoryDatabase();
const calls = recordCalls(db);
const of = { scope: 'cities', collection: 'cities', generation: '1' };
const hint = (begin: string): PageHint => ({ begin, markers: 30, bytes: 900 });

/** A server whose collection has markers in these partitions, and pages in its directory. */
async function server(
  parts: readonly (readonly string[])[],
  exist: readonly string[],
  generation: string,
  keptBytes?: number,
) {
  const named = { ...of, generation };
  const put = async (begins: readonly string[], next?: string) => {
    const end = next?.startsWith(begins[0]?.charAt(0) ?? '') ? next : afterPartition(begins[0] ?? '');
    for (const part of partsOfHints(begins.map(hint), end, begins.length))
      await putDirectoryPart(newCall(db), named, part);
  };
  for (const [index, part] of parts.entries()) await put(part, parts[index + 1]?.[0]);
  const world = { exist, asked: 0, first: [] as string[] };
  const directories = new DirectoryCache(keptBytes);
  const source = {
    at: (position: string) => findDirectoryPart(newCall(db), named, position, false),
    between: (from: string, to: string, limit: number) => readDirectory(newCall(db), named, { from, to, limit }),
    partitions: () => {
      world.asked += 1;
      return Promise.resolve(world.exist);
    },
    firstPage: (partition: string) => {
      world.first.push(partition);
      const page = { begin: partition, end: undefined, round: 1, lost: undefined, entries: [], columns: columnsOf([]) };
      return Promise.resolve({ ...page, bytes: 500 });
    },
  };
  const known = (cover: readonly ZRange[], markers: number, budget: Budget) =>
    new DirectoryReader(named, source, directories).read(cover, markers, budget);
  const read = async (partitions: string) => {
    const before = calls.count('Query');
    const budget = new Budget(100, 100);
    const { directory } = await known(Array.from(partitions, partitionRange), Infinity, budget);
    const begins = [...directory.values()].map(({ hints }) => hints.map(({ begin }) => begin).join(' '));
    return { begins, queries: calls.count('Query') - before, debited: 100 - budget.calls };
  };
  return { world, put, read, known };
}

test('neighboring partitions are read once, by one Query', async () => {
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
  const begins = [['u', ...parts.flat()].join(' ')];
  expect(await read('u')).toMatchObject({ begins, queries: 1 });
  expect(world.first).toEqual(['u']);
  expect(await read('u')).toMatchObject({ begins, queries: 0 });
});

const END = partitionRange('u').to;
const HALVES = Array.from(GEOHASH_ALPHABET, (character) => [`u${character}`, `u${character}h`]).flat();
/** A partition of 64 pages in 32 parts; the first page begins at its character. */
const LONG = Array.from({ length: 32 }, (_, n) => [n === 0 ? 'u' : (HALVES[2 * n] ?? ''), HALVES[2 * n + 1] ?? '']);
const rangeOf = (from: string, to: string) => ({ from: positionOf(from), to: positionOf(to) });
const beginsOf = ({ hints }: { readonly hints: readonly PageHint[] }) =>
  hints.map(({ begin, isGap }) => (isGap ? `(${begin})` : begin)).join(' ');

test('of a long directory only the parts are read that a range needs, each once', async () => {
  const { known } = await server(LONG, ['u'], 'long');
  const before = calls.count('Query');
  const read = async (...cover: ZRange[]) => {
    const { directory } = await known(cover, Infinity, new Budget(100, 100));
    const pages = directory.get('u');
    return { pages: pages && beginsOf(pages), queries: calls.count('Query') - before };
  };
  // Its beginning, and the part of the range.
  const beginning = LONG.slice(0, 8).flat().join(' ');
  expect(await read(rangeOf('ufh3', 'ufh4'))).toEqual({ pages: `${beginning} (u8) uf ufh (ug)`, queries: 2 });
  expect(await read(rangeOf('ufh3', 'ufh4'))).toEqual({ pages: '(u) uf ufh (ug)', queries: 2 });
  // One more, and what follows it.
  expect(await read(rangeOf('uth3', 'uv3'))).toEqual({ pages: '(u) ut uth uu uuh uv uvh (uw)', queries: 4 });
  // Parts that are far from each other at once.
  expect(await read(rangeOf('uk1', 'uk2'), rangeOf('uth3', 'uv3'), rangeOf('uz', 'uz1'))).toEqual({
    pages: '(u) uk ukh (um) ut uth uu uuh uv uvh (uw) uz uzh',
    queries: 6,
  });
});

test('a directory is read until it names enough markers, or half of the budget is spent', async () => {
  const { known } = await server(LONG, ['u'], 'enough');
  const cover = [rangeOf('uf1', 'uz')];
  const budget = new Budget(4, 100);
  expect([(await known(cover, Infinity, budget)).upTo, budget.calls]).toEqual(['ug', 2]);
  expect((await known(cover, 61, new Budget(100, 100))).upTo).toBe('uh');
});

test('whatever is kept, ranges meet the same pages as in the whole directory', async () => {
  const { known } = await server(LONG, ['u'], 'any', 1_000);
  const whole = (await (await server(LONG, ['u'], 'any')).known([partitionRange('u')], Infinity, new Budget(100, 100)))
    .directory;
  expect(whole.get('u')?.hints.map(({ begin }) => begin)).toEqual(LONG.flat());
  const position = fc
    .integer({ min: 0, max: 32 ** 3 - 1 })
    .map((n) => partitionRange('u').from + n * 32 ** (LONGEST_Z - 4));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(position, { minLength: 2, maxLength: 16 }), async (some) => {
      const sorted = [...some, END].sort((a, b) => a - b);
      const cover = sorted.flatMap((from, index) => {
        const to = sorted[index + 1];
        return index % 2 === 0 && to !== undefined ? [{ from, to }] : [];
      });
      const { directory, upTo } = await known(cover, Infinity, new Budget(1_000, 100));
      expect(upTo).toBeUndefined();
      const pagesOf = (part: typeof directory) => {
        const pages = part.get('u');
        return pages?.overlapping(cover).flatMap(({ first, last }) => pages.hints.slice(first, last + 1));
      };
      expect(pagesOf(directory)).toEqual(pagesOf(whole));
      // Nothing is read that is not known.
      expect(
        planReads(directory, cover).some(({ pages, first, last }) =>
          pages.hints.slice(first, last + 1).some(({ isGap }) => isGap),
        ),
      ).toBe(false);
      expect(
        directory
          .get('u')
          ?.hints.every(({ begin }, index, all) => compareBytes(all[index - 1]?.begin ?? '', begin) < 0),
      ).toBe(true);
    }),
    { numRuns: someOf(100) },
  );
});
