import fc from 'fast-check';
import { expect, test } from 'vitest';

import { LONGEST_Z } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { Budget } from '../../src/loaders/budget.js';
import { orderedMarker, type OrderedMarker } from '../../src/pages/ordered-marker.js';
import { RecentWrites } from '../../src/pages/recent-writes.js';
import { markersOf, readPages } from '../../src/read/from-pages/chain.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { DirectoryReader, type DirectorySource } from '../../src/read/from-pages/directory-reader.js';
import { PageMarkers } from '../../src/read/from-pages/page-source.js';
import type { SearchedPages } from '../../src/read/search.js';
import { applyToPages, roundOf, type PageChange } from '../../src/stream/pages/apply.js';
import { PageMemory } from '../../src/stream/pages/memory.js';
import { inTurn, someOf } from '../support/rounds.js';
import { applying, markerAt, PageTable, SCOPE, sourceOf } from './support.js';

const turn = inTurn(2);
const WORLD = [{ from: 0, to: 32 ** LONGEST_Z }];

const lng = fc.constantFrom(-180, -0.001, 0, 0.001, 10, 10.000001, 10.5, 20, 30, 44.9, 45.1, 180);
const lat = fc.constantFrom(-90, 0, 0.5, 20, 50, 50.1);
const step = fc.record({ key: fc.nat(30).map(String), lng, lat, isDeleted: fc.boolean() });
const batch = fc.array(step, { minLength: 1, maxLength: 25 });

/** Reads a table's directory of short parts; `pause` is awaited before each read. */
function directoryOf(table: PageTable, directories: DirectoryCache, pause: () => Promise<void>): DirectoryReader {
  const partitions = () => [...new Set(table.all().map(({ begin }) => begin.charAt(0)))];
  const source: DirectorySource = {
    partitions: () => Promise.resolve(partitions()),
    firstPage: async (partition) => {
      await pause();
      return table.all().find(({ begin }) => begin === partition);
    },
    at: async (position) => {
      await pause();
      return table.findDirectoryPart(SCOPE, position);
    },
    between: async (from, to, limit) => {
      await pause();
      const inside = ({ begin }: { readonly begin: string }) =>
        compareBytes(from, begin) <= 0 && compareBytes(begin, to) <= 0;
      const all = partitions()
        .sort()
        .flatMap((partition) => table.directory(partition).filter(inside));
      return { parts: all.slice(0, limit), isWhole: all.length <= limit };
    },
  };
  return new DirectoryReader({ scope: SCOPE, collection: SCOPE, generation: '1' }, source, directories);
}

const keyOf = ({ marker }: OrderedMarker) => marker.key;

/**
 * The keys of all markers that are found, part by part, in their order: of several copies that of the newest, except in
 * parts which say that they have none.
 */
async function found(source: PageMarkers, wanted: number): Promise<string[]> {
  const newest = new Map<string, OrderedMarker>();
  const distinct: string[] = [];
  for (let after = '0'.repeat(LONGEST_Z); ;) {
    const part = await source.next(after, wanted);
    if (!part) throw new Error('the budget is spent');
    const start = after;
    if (part.distinct)
      distinct.push(...part.markers.filter(({ position }) => compareBytes(position, start) > 0).map(keyOf));
    for (const one of part.markers) {
      const known = newest.get(one.marker.key);
      if (!known || known.marker.mapVersion < one.marker.mapVersion) newest.set(one.marker.key, one);
    }
    if (part.ended) return [...distinct, ...[...newest.keys()].filter((key) => !distinct.includes(key))];
    after = part.upTo;
  }
}

test('a read finds each marker that exists throughout exactly once, while pages are written', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  await fc.assert(
    fc.asyncProperty(
      batch,
      fc.array(batch, { minLength: 1, maxLength: 3 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      fc.record({
        wanted: fc.constantFrom(1, 5, Infinity),
        isKnown: fc.boolean(),
        keptBytes: fc.constantFrom(700, 1e6),
      }),
      async (first, others, turns, { wanted, isKnown, keptBytes }) => {
        const table = new PageTable();
        const model = new Map<string, OrderedMarker>();
        const memory = new PageMemory();
        const changesOf = (steps: typeof first, number: number) => {
          const before = new Map(model);
          for (const { key, lng: x, lat: y, isDeleted } of steps) {
            if (isDeleted) model.delete(key);
            else model.set(key, orderedMarker(markerAt(key, x, y, number)));
          }
          return [...new Set(steps.map(({ key }) => key))].map((key): PageChange => {
            return { scope: SCOPE, before: before.get(key)?.position, after: model.get(key) };
          });
        };
        await applyToPages(applying(table, memory, 2), 1, changesOf(first, 1));
        const directories = new DirectoryCache(keptBytes);
        const budget = new Budget(10_000, 1e6);
        // What a server has kept is old by the time it reads.
        if (isKnown) await directoryOf(table, directories, () => Promise.resolve()).read(WORLD, Infinity, budget);
        const there = new Set(model.keys());
        const stays = new Set(there);

        // The writer and the reader take turns in the given order.
        let waiting: (() => void)[] = [];
        let turn = 0;
        const pass = () => new Promise<void>((resolve) => waiting.push(resolve));
        table.onWrite = pass;
        let writing = true;
        const writer = (async () => {
          for (const [index, steps] of others.entries()) {
            const changes = changesOf(steps, index + 2);
            for (const key of stays) if (!model.has(key)) stays.delete(key);
            for (const key of model.keys()) there.add(key);
            await applyToPages(applying(table, memory, 2), index + 2, changes);
          }
          writing = false;
        })();
        let reading = true;
        const pause = () => (writing ? pass() : Promise.resolve());
        const directory = directoryOf(table, directories, pause);
        const source = sourceOf(table, pause);
        const pages: SearchedPages = {
          recent: RecentWrites.NONE,
          keyOf: (sk) => ({ pk: SCOPE, sk }),
          directory: directory.read.bind(directory),
          read: async (reads, earlier) => {
            const others = [...directory.others];
            const answer = await readPages(source, reads, earlier, others, roundOf(1, true));
            return { entries: markersOf(answer, 0), again: answer.again.length > 0, distinct: answer.distinct };
          },
        };
        const reader = found(new PageMarkers(pages, WORLD, budget), wanted).finally(() => {
          reading = false;
        });
        while (writing || reading) {
          await new Promise((resolve) => setImmediate(resolve));
          const at = turns[turn++ % turns.length] ? 0 : waiting.length - 1;
          const [next] = waiting.splice(Math.max(0, at), 1);
          next?.();
        }
        await writer;
        const keys = await reader;
        expect(new Set(keys).size).toBe(keys.length);
        expect([...stays].filter((key) => !keys.includes(key))).toEqual([]);
        expect(keys.filter((key) => !there.has(key))).toEqual([]);
      },
    ),
    { numRuns: someOf(4_000) },
  );
});
