import fc from 'fast-check';
import { expect, test } from 'vitest';

import { LONGEST_Z } from '../../src/geo/geohash.js';
import { type Directory, type PageHint, PartitionPages } from '../../src/pages/directory.js';
import { type PageEntry, pageEntry } from '../../src/pages/entry.js';
import { entriesOf, readPages } from '../../src/loaders/pages/chain.js';
import { planReads } from '../../src/pages/plan-reads.js';
import { type MarkerChange, applyToPages, roundOf } from '../../src/stream/apply-pages.js';
import { PageMemory } from '../../src/stream/page-memory.js';
import { someOf } from '../support/rounds.js';
import { PageTable, SCOPE, applying, markerAt, sourceOf } from './support.js';

const WORLD = [{ from: 0, to: 32 ** LONGEST_Z }];

const lng = fc.constantFrom(-180, -0.001, 0, 0.001, 10, 10.000001, 10.5, 20, 30, 44.9, 45.1, 180);
const lat = fc.constantFrom(-90, 0, 0.5, 20, 50, 50.1);
const step = fc.record({ key: fc.nat(30).map(String), lng, lat, isDeleted: fc.boolean() });
const batch = fc.array(step, { minLength: 1, maxLength: 25 });

/** The directory of a table's current pages. */
function directoryOf(table: PageTable): Directory {
  const partitions = new Map<string, PageHint[]>();
  for (const { begin, entries, bytes } of table.all()) {
    const hints = partitions.get(begin.charAt(0)) ?? [];
    partitions.set(begin.charAt(0), [...hints, { begin, markers: entries.length, bytes: bytes }]);
  }
  return new Map([...partitions].map(([partition, hints]) => [partition, new PartitionPages(hints)]));
}

test('a read finds each marker that exists throughout exactly once, while pages are written', async () => {
  await fc.assert(
    fc.asyncProperty(
      batch,
      fc.array(batch, { minLength: 1, maxLength: 3 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      async (first, others, turns) => {
        const table = new PageTable();
        const model = new Map<string, PageEntry>();
        const memory = new PageMemory();
        const changesOf = (steps: typeof first, number: number) => {
          const before = new Map(model);
          for (const { key, lng: x, lat: y, isDeleted } of steps) {
            if (isDeleted) model.delete(key);
            else model.set(key, pageEntry(markerAt(key, x, y, number)));
          }
          return [...new Set(steps.map(({ key }) => key))].map((key): MarkerChange => {
            return { scope: SCOPE, before: before.get(key)?.position, after: model.get(key) };
          });
        };
        await applyToPages(applying(table, memory), 1, changesOf(first, 1));
        const directory = directoryOf(table);
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
            await applyToPages(applying(table, memory), index + 2, changes);
          }
          writing = false;
        })();
        let reading = true;
        const reader = readPages(
          sourceOf(table, () => (writing ? pass() : Promise.resolve())),
          {
            directory,
            reads: planReads(directory, WORLD),
            earlier: [],
            cover: WORLD,
            complete: roundOf(1, true),
          },
        ).finally(() => {
          reading = false;
        });
        while (writing || reading) {
          await new Promise((resolve) => setImmediate(resolve));
          const at = turns[turn++ % turns.length] ? 0 : waiting.length - 1;
          const [next] = waiting.splice(Math.max(0, at), 1);
          next?.();
        }
        await writer;
        const keys = entriesOf(await reader).map(({ marker }) => marker.key);
        expect(new Set(keys).size).toBe(keys.length);
        expect([...stays].filter((key) => !keys.includes(key))).toEqual([]);
        expect(keys.filter((key) => !there.has(key))).toEqual([]);
      },
    ),
    { numRuns: someOf(4_000) },
  );
});
