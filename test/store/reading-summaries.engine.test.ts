import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import type { SummaryPeriod } from '../../src/model/reading-summary.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { readSummaries, type SummariesWanted, type SummaryBudget } from '../../src/store/reading/reading-summaries.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { interceptCalls } from '../support/faults.js';
import { memoryDatabase } from '../support/memory-store.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf } from '../support/rounds.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = new Date('2026-11-21T10:20:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const database = await testDatabase();
/** Compared with DynamoDB Local in its own tests, and faster for hundreds of pages. */
const memory = memoryDatabase();
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
const ample = (): SummaryBudget => ({ queries: 1_000, items: 20_000 });

const make = (key: string, more: object = {}, db = memory) =>
  testCollection(db, { key, name: key, ...more }, NOW.toISOString());
const collections: readonly Collection[] = [
  await make('kept'),
  await make('passing', { readingsTtlDays: 3 }),
  await make('daily', { readingsTtlDays: 4, readingsBucket: 'DAY' }),
  await make('hourly', { readingsTtlDays: 2, readingsBucket: 'HOUR' }),
];
const stored = await make('stored', {}, database);

let made = 0;
async function newMarker(collection: Collection, db = database) {
  made += 1;
  const name = { collection, key: `m${made}` };
  const position = { lng: 16.9, lat: 52.4 };
  await createMarker(newCall(db), collection, { key: name.key, position }, NOW.toISOString());
  return name;
}
type Name = Awaited<ReturnType<typeof newMarker>>;

async function page(name: Name, wanted: SummariesWanted, budget = ample(), now = NOW, db = database) {
  const [marker] = await getMarkers(newCall(db), [name]);
  if (!marker) throw new Error('no marker');
  return readSummaries(newCall(db), name, marker.incarnation, wanted, { now: now.getTime(), budget });
}

/** All pages, each with a budget of its own. */
async function pages(name: Name, wanted: SummariesWanted, budget = ample, now = NOW) {
  const found = [];
  for (let from: string | null = wanted.from; from !== null;) {
    const { summaries, next } = await page(name, { ...wanted, from }, budget(), now, memory);
    expect(summaries.length).toBeLessThanOrEqual(wanted.first);
    expect(next === null || next > from).toBe(true);
    found.push(...summaries);
    from = next;
  }
  return found;
}

interface Made {
  readonly at: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The same by a scan of all readings, with sums. */
function scanned(readings: readonly Made[], { value, period, from, to = '9' }: SummariesWanted, visibleAfter: number) {
  const groups = new Map<string, number[]>();
  for (const reading of readings.toSorted((a, b) => (a.at < b.at ? -1 : 1))) {
    const number = reading.values[value];
    if (typeof number !== 'number' || reading.at < from || reading.at > to) continue;
    if (Date.parse(reading.at) <= visibleAfter) continue;
    const date = new Date(reading.at);
    date.setUTCMinutes(0, 0, 0);
    if (period === 'DAY') date.setUTCHours(0);
    const start = date.toISOString();
    groups.set(start, [...(groups.get(start) ?? []), number]);
  }
  return [...groups].map(([start, numbers]) => ({
    start,
    count: numbers.length,
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    mean: expect.closeTo(numbers.reduce((sum, number) => sum + number, 0) / numbers.length, 6) as number,
  }));
}

describe('summaries of readings', () => {
  const moment = fc.integer({ min: -4 * DAY, max: HOUR / 2 });
  const values = fc.oneof(
    fc.record({ n: fc.integer({ min: -1_000, max: 1_000 }) }),
    fc.record({ n: fc.constantFrom('off', '12'), other: fc.integer() }),
    fc.record({ other: fc.integer() }),
  );

  test('are those of a scan over all readings, page by page, in every way to store them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...collections),
        fc.uniqueArray(fc.tuple(moment, values), { maxLength: 60, selector: ([ms]) => ms }),
        fc.constantFrom<SummaryPeriod>('HOUR', 'DAY'),
        fc.tuple(moment, fc.option(moment, { nil: undefined })),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: DAY }),
        async (collection, made, period, [from, to], first, later) => {
          const name = await newMarker(collection, memory);
          const readings = made.map(([ms, of]) => ({ at: at(ms), values: of }));
          await recordReadings(newCall(memory), name, readings, NOW);
          const until = to === undefined ? undefined : at(to);
          const wanted = { value: 'n', period, from: at(from), to: until, first };
          // Later, more has expired that nobody has removed.
          const now = new Date(NOW.getTime() + later);
          const { readingsTtlDays: days } = collection;
          const expected = scanned(readings, wanted, days === null ? -Infinity : now.getTime() - days * DAY);
          expect(await pages(name, wanted, ample, now)).toEqual(expected);
          // Enough for any one period, with Query calls for what leads to it.
          const little = () => ({ queries: 60, items: made.length + 1 });
          expect(await pages(name, wanted, little, now)).toEqual(expected);
        },
      ),
      { numRuns: someOf(40) },
    );
  });

  test('leave out those of an earlier marker with the same key', async () => {
    const name = await newMarker(stored);
    await recordReadings(newCall(database), name, [{ at: at(-HOUR), values: { n: 1 } }], NOW);
    const db = newDatabase('readable', { tables: database.tables });
    // Its readings stay behind.
    interceptCalls(db, 'BatchExecuteStatement', async () => {
      throw Object.assign(new Error('refused'), { name: 'AccessDeniedException' });
    });
    await expect(deleteMarker(newCall(db), name, { now: NOW.toISOString() })).rejects.toThrow('refused');
    const position = { lng: 1, lat: 1 };
    await createMarker(newCall(database), name.collection, { key: name.key, position }, NOW.toISOString());
    await recordReadings(newCall(database), name, [{ at: at(-HOUR + 1), values: { n: 5 } }], NOW);
    const { summaries } = await page(name, { value: 'n', period: 'DAY', from: at(-DAY), to: undefined, first: 9 });
    expect(summaries).toMatchObject([{ count: 1, min: 5 }]);
  });

  test('end a page at the last period that the budget covers, and fail if it covers none', async () => {
    const name = await newMarker(stored);
    const readings = Array.from({ length: 240 }, (_, n) => ({ at: at(-4 * HOUR + n * 60_000), values: { n } }));
    await recordReadings(newCall(database), name, readings, NOW);
    const wanted = { value: 'n', period: 'HOUR', from: at(-4 * HOUR), to: undefined, first: 100 } as const;
    const budget = { queries: 100, items: 100 };
    const first = await page(name, wanted, budget);
    expect(first.summaries.map(({ count }) => count)).toEqual([40]);
    expect(first.next).toBe('2026-11-21T07:00:00.000Z');
    expect(budget.items).toBe(0);
    const failing = page(name, { ...wanted, from: first.next ?? '' }, { queries: 100, items: 50 });
    await expect(failing).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await expect(page(name, wanted, { queries: 0, items: 100 })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  test('of a year of hours are read by one Query for each thousand readings', async () => {
    const name = await newMarker(stored);
    const readings = Array.from({ length: 2_200 }, (_, n) => ({ at: at((n - 2_200) * HOUR), values: { n } }));
    for (const some of [readings.slice(0, 1_000), readings.slice(1_000, 2_000), readings.slice(2_000)])
      await recordReadings(newCall(database), name, some, NOW);
    const db = newDatabase('readable', { tables: database.tables });
    const calls = recordCalls(db);
    const wanted = { value: 'n', period: 'DAY', from: at(-2_200 * HOUR), to: undefined, first: 400 } as const;
    const { summaries, next } = await page(name, wanted, ample(), NOW, db);
    expect(summaries.reduce((sum, { count }) => sum + count, 0)).toBe(2_200);
    expect([summaries.length, next]).toEqual([93, null]);
    expect(calls.count('Query')).toBe(3);
  });
});
