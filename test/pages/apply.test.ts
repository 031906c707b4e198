import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareBytes } from '../../src/keys/byte-order.js';
import { orderedMarker, type OrderedMarker } from '../../src/pages/ordered-marker.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import { applyToPages, type PageChange } from '../../src/stream/pages/apply.js';
import { PageMemory } from '../../src/stream/pages/memory.js';
import { someOf } from '../support/rounds.js';
import { applying, fits, markerAt, PageTable, SCOPE, type Fault } from './support.js';

// Few positions: some in one partition, two at one geohash and one alone.
const lng = fc.constantFrom(-180, -0.001, 0, 0.001, 10, 10.000001, 10.5, 44.9, 45.1, 180);
const lat = fc.constantFrom(-90, 0, 0.5, 50, 50.1);
const step = fc.record({ key: fc.nat(40).map(String), lng, lat, isDeleted: fc.boolean() });
const batches = fc.array(
  fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 30 }),
    faults: fc.array(fc.constantFrom<Fault>('lost', 'unanswered', 'none'), { maxLength: 6 }),
    /** How often other processes apply the batch again. */
    again: fc.nat(2),
  }),
  { minLength: 1, maxLength: 8 },
);

test('pages contain each marker once, whatever is lost and however often a batch is applied', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const table = new PageTable();
      const model = new Map<string, OrderedMarker>();
      let memory = new PageMemory(4_000);
      const missing: string[] = [];
      const applied: PageChange[][] = [];
      for (const { steps, faults, again } of all) {
        const number = applied.length + 1;
        const before = new Map(model);
        for (const { key, lng: x, lat: y, isDeleted } of steps) {
          if (isDeleted) model.delete(key);
          else model.set(key, orderedMarker(markerAt(key, x, y, number)));
        }
        const touched = new Set(steps.map(({ key }) => key));
        const changes = [...touched].map((key): PageChange => {
          return { scope: SCOPE, before: before.get(key)?.position, after: model.get(key) };
        });
        // Markers that stay are found at every moment.
        const stays = [...before.keys()].filter((key) => model.has(key));
        table.onWrite = () => {
          const found = new Set(table.all().flatMap(({ entries }) => entries.map(({ marker }) => marker.key)));
          missing.push(...stays.filter((key) => !found.has(key)));
        };
        table.faults = [...faults];
        applied.push(changes);
        for (let run = 0; run <= again; run += 1) {
          if (run > 0) memory = new PageMemory(4_000);
          await applyToPages(applying(table, memory), number, changes);
        }
        expect(missing).toEqual([]);
        const pages = table.all();
        const entries = pages.flatMap((page) => page.entries);
        expect(entries).toEqual([...model.values()].sort((a, b) => compareBytes(a.position, b.position)));
        pages.forEach((page, index) => {
          const next = pages[index + 1]?.begin;
          expect(page.end).toBe(next?.charAt(0) === page.begin.charAt(0) ? next : undefined);
          expect(fits(page)).toBe(true);
          for (const { position } of page.entries) expect(compareBytes(page.begin, position)).toBeLessThanOrEqual(0);
        });
      }
      // A process that resumes late applies what others applied long ago.
      const last = table.all();
      for (const [index, changes] of applied.entries())
        await applyToPages(applying(table, new PageMemory(4_000)), index + 1, changes);
      expect(table.all()).toEqual(last);
    }),
    { numRuns: someOf(150) },
  );
});

test('pages that get thousands of markers at once are cut first, and located with few reads', async () => {
  const table = new PageTable();
  const added = Array.from({ length: 1_600 }, (_, n): PageChange => {
    const entry = orderedMarker(markerAt(`${n}`, 16.9 + (n % 80) / 1_000, 52.4 + Math.floor(n / 80) / 1_000, 1));
    return { scope: SCOPE, before: undefined, after: entry };
  });
  const pagesAfter = () => table.all().flatMap(({ entries }) => entries);
  const expected = added.flatMap(({ after }) => after ?? []).sort((a, b) => compareBytes(a.position, b.position));
  // A process that stops after each of some writes, and others that continue.
  table.faults = Array.from({ length: 40 }, (_, n) => (n % 3 === 0 ? 'unanswered' : 'none'));
  await applyToPages(applying(table, new PageMemory()), 1, added);
  expect(pagesAfter()).toEqual(expected);
  expect(table.all().every(fits)).toBe(true);
  const parts = table.directory('u');
  const hints = parts.flatMap((part) => part.hints);
  expect(hints.length).toBeGreaterThan(500);
  expect(parts.every((part) => part.hints.length <= MOST_HINTS)).toBe(true);
  // Each part ends where the next one begins.
  expect(parts.map(({ end }) => end)).toEqual([...parts.slice(1).map(({ begin }) => begin), 'u~']);
  const begins = new Set(table.all().map(({ begin }) => begin));
  expect(hints.filter(({ begin }) => !begins.has(begin))).toEqual([]);

  table.reads = 0;
  const deleted = expected.slice(300, 1_300).map(({ position }): PageChange => {
    return { scope: SCOPE, before: position, after: undefined };
  });
  await applyToPages(applying(table, new PageMemory()), 2, deleted);
  expect(pagesAfter()).toEqual([...expected.slice(0, 300), ...expected.slice(1_300)]);
  expect(table.reads).toBeLessThan(20);
});
