import fc from 'fast-check';
import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';

import { systemClock, type Clock } from '../../src/clock.js';
import { ConsumerTrust } from '../../src/loaders/consumer-trust.js';
import { MarkerLoader } from '../../src/loaders/marker-loader.js';
import { SummaryLoader } from '../../src/loaders/reading-summaries.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import type { SummaryPeriod } from '../../src/model/reading-summary.js';
import { storedReport } from '../../src/server/consumer.js';
import { CONSUMER } from '../../src/store/cell/stream-state.js';
import { newCall, type Item } from '../../src/store/database.js';
import { createMarkers, getMarkers } from '../../src/store/marker/markers.js';
import {
  closeDay,
  forgetDueDay,
  listDueDays,
  openDays,
  readDays,
  removeDays,
  storedText,
  summarizeDay,
} from '../../src/store/reading/kept-days.js';
import { readKeptSummaries, type KeptTrust } from '../../src/store/reading/kept-summaries.js';
import type { SummariesWanted } from '../../src/store/reading/reading-summaries.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { itemBytes } from '../../src/store/request/item-size.js';
import { send } from '../../src/store/request/send.js';
import { openSummaries } from '../../src/stream/consume/derived-ports.js';
import { MarkerDays } from '../../src/stream/days/apply.js';
import { RecountDays } from '../../src/stream/recount/days.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { recount } from '../../src/stream/recount/recount.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, rounds, runsAll } from '../support/rounds.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { createChance } from './simulation/world.js';
import { allItems, consumeThroughout, streamParts, untilRead, withoutWaiting } from './support.js';

const turn = inTurn(2);
const NOW = new Date('2026-11-21T10:20:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const began = Date.now();
/** A clock that shows NOW at first, so that no test runs over midnight. */
const clock: Clock = { ...systemClock, wall: () => NOW.getTime() + Date.now() - began };
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
const CURRENT: KeptTrust = { current: true, finalBefore: Infinity };
const BEHIND: KeptTrust = { current: false, finalBefore: Infinity };

const db = await testDatabase('readable', { stream: true });
/** Without a consumer. */
const lonely = await testDatabase();
const parts = { ...streamParts(db), clock };
const make = (key: string, more: object = {}, into = db) =>
  testCollection(into, { key, name: key, readingsSummarized: true, ...more }, NOW.toISOString());
const collections: readonly Collection[] = [
  await make('kept'),
  await make('daily', { readingsTtlDays: 10, readingsBucket: 'DAY' }),
];
consumeThroughout(db, { ...parts, days: { ...parts.days, everyMs: 50 } });

interface Name {
  readonly collection: Collection;
  readonly key: string;
}

let made = 0;
async function newMarkers(collection: Collection, count: number, into = db): Promise<Name[]> {
  const keys = Array.from({ length: count }, () => `m${(made += 1)}`);
  const inputs = keys.map((key) => ({ key, position: { lng: 16.9, lat: 52.4 } }));
  await createMarkers(newCall(into), collection, inputs, NOW.toISOString());
  return keys.map((key) => ({ collection, key }));
}

/** Waits until the consumer has summarized all days that are over. */
async function untilSummarized(): Promise<void> {
  await untilRead(db);
  for (const collection of collections) {
    for (let due = 1; due > 0;) {
      due = 0;
      for await (const days of listDueDays(newCall(db), collection.key, '2026-11-20')) due += days.length;
      if (due > 0) await systemClock.sleep(20);
    }
  }
}

const record = (name: Name, readings: readonly Reading[], into = db) =>
  recordReadings(
    newCall(into),
    name,
    readings.map(([ms, n]) => ({ at: at(ms), values: { n, text: 'x' } })),
    NOW,
  );

async function page(name: Name, wanted: SummariesWanted, trust = CURRENT, now = NOW, from = db) {
  const [marker] = await getMarkers(newCall(from), [name]);
  if (!marker) throw new Error('no marker');
  const options = { now: now.getTime(), budget: { queries: 100, items: 20_000 } };
  return readKeptSummaries(newCall(from), name, marker.incarnation, wanted, { ...options, trust });
}

async function pages(name: Name, wanted: SummariesWanted, trust = CURRENT, now = NOW, of = db) {
  const found = [];
  for (let from: string | null = wanted.from; from !== null;) {
    const { summaries, next } = await page(name, { ...wanted, from }, trust, now, of);
    expect(summaries.length).toBeLessThanOrEqual(wanted.first);
    expect(next === null || next > from).toBe(true);
    found.push(...summaries);
    from = next;
  }
  return found;
}

type Reading = readonly [ms: number, n: number];

/** The summaries of whole periods by a scan of all readings. */
function scanned(readings: readonly Reading[], { period, from, to = '9' }: SummariesWanted) {
  const startOf = (instant: string) => instant.slice(0, period === 'DAY' ? 10 : 13);
  const groups = new Map<string, number[]>();
  for (const [ms, n] of readings.toSorted(([a], [b]) => a - b)) {
    const start = startOf(at(ms));
    if (start < startOf(from) || start > startOf(to)) continue;
    groups.set(start, [...(groups.get(start) ?? []), n]);
  }
  return [...groups].map(([start, numbers]) => ({
    start: start + 'T00:00:00.000Z'.slice(start.length - 10),
    count: numbers.length,
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    mean: expect.closeTo(numbers.reduce((sum, number) => sum + number, 0) / numbers.length, 6) as number,
  }));
}

const everything = { value: 'n', period: 'DAY', from: at(-400 * DAY), to: undefined, first: 1_000 } as const;

// Before the others: it compares all days that there are.
describe('a recount', () => {
  const recounting = (checkOnly: boolean) =>
    recount(
      {
        ...streamParts(db),
        clock: withoutWaiting(clock),
        tables: openRecount(db, CONSUMER),
        checkOnly,
      },
      new AbortController().signal,
    );

  const wrongDays = async () => (await recounting(true)).wrongDays;

  test('finds summaries that differ from the readings, and has them computed again', async ({ skip, task }) => {
    skip(!turn(task));
    const [wrong, missing] = await newMarkers(collections[0]!, 2);
    await record(wrong!, [[-2 * DAY, 3]]);
    await record(missing!, [[-2 * DAY, 4]]);
    await untilSummarized();
    expect(await wrongDays()).toEqual([]);
    const dayOf = (name: Name) => ({ scope: 'kept', key: name.key, day: '2026-11-19' });
    await removeDays(newCall(db), [dayOf(missing!)]);
    const item = { ...db.keys.daySummary(dayOf(wrong!)), d: storedText('[]'), of: '', v: 'x', e: 0 };
    await send(newCall(db), 'put', { TableName: db.tables.derived, Item: item });
    const found = await wrongDays();
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([dayOf(wrong!), dayOf(missing!)]));
    expect((await recounting(false)).days).toBeGreaterThan(1);
    await untilSummarized();
    expect(await wrongDays()).toEqual([]);
    expect(await pages(wrong!, everything)).toMatchObject([{ min: 3 }]);
    expect(await pages(missing!, everything)).toMatchObject([{ min: 4 }]);
  });
});

/** Markers in each comparison with a scan. */
const TOGETHER = runsAll ? 8 : 4;

describe('kept summaries of readings', () => {
  const moment = fc.integer({ min: -6 * DAY, max: HOUR });
  const reading: fc.Arbitrary<Reading> = fc.tuple(moment, fc.integer({ min: -100, max: 100 }));
  const wanted = fc.record({
    period: fc.constantFrom<SummaryPeriod>('HOUR', 'DAY'),
    bounds: fc.tuple(moment, moment),
    open: fc.boolean(),
    first: fc.integer({ min: 1, max: 8 }),
  });

  test('are those of a scan over all readings, also of late, replaced and deleted ones', async ({ skip, task }) => {
    skip(!turn(task));
    const marker = fc.record({
      rounds: fc.array(fc.array(reading, { maxLength: 12 }), { minLength: 2, maxLength: 2 }),
      deleted: fc.nat(),
      wanted: fc.array(wanted, { minLength: 3, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...collections),
        fc.array(marker, { minLength: TOGETHER, maxLength: TOGETHER }),
        fc.boolean(),
        async (collection, markers, wait) => {
          const names = await newMarkers(collection, markers.length);
          const stored = names.map(() => new Map<number, number>());
          for (const round of [0, 1]) {
            await Promise.all(
              markers.map(async ({ rounds, deleted }, index) => {
                const name = names[index]!;
                const own = stored[index]!;
                await record(name, rounds[round]!);
                for (const [ms, n] of rounds[round]!) own.set(ms, n);
                const ms = [...own.keys()][deleted % (own.size + 1)];
                if (ms === undefined) return;
                own.delete(ms);
                const bucket = collection.readingsBucket === 'DAY' ? at(ms).slice(0, 10) : undefined;
                const Key = db.keys.reading({ scope: collection.key, key: name.key, bucket }, at(ms));
                await send(newCall(db), 'delete', { TableName: db.tables.entities, Key });
              }),
            );
            // With late readings open, or closed.
            await (wait || round === 1 ? untilSummarized() : untilRead(db));
            for (const [index, name] of names.entries()) {
              for (const { period, bounds, open, first } of markers[index]!.wanted) {
                const [from = 0, to = 0] = bounds.toSorted((a, b) => a - b);
                const asked = { value: 'n', period, from: at(from), to: open ? undefined : at(to), first };
                const expected = scanned([...stored[index]!], asked);
                expect(await pages(name, asked)).toEqual(expected);
                expect(await pages(name, asked, BEHIND)).toEqual(expected);
              }
            }
          }
        },
      ),
      { numRuns: rounds('scannedSummaries') },
    );
  });

  test('of many days take one Query, and one more for the current day', async () => {
    const [name] = await newMarkers(collections[0]!, 1);
    const readings = Array.from({ length: 120 }, (_, n): Reading => [(n - 120) * 12 * HOUR, n]);
    await record(name!, readings);
    await record(name!, [[-1, 7]]);
    await untilSummarized();
    const reader = newDatabase('readable', { tables: db.tables });
    const calls = recordCalls(reader);
    const past = await page(name!, { ...everything, to: at(-DAY) }, CURRENT, NOW, reader);
    expect(past).toEqual({ summaries: scanned(readings, { ...everything, to: at(-DAY) }), next: null });
    expect(past.summaries.length).toBeGreaterThan(55);
    expect(calls.count('Query')).toBe(1);
    calls.reset();
    const { summaries } = await page(name!, everything, CURRENT, NOW, reader);
    expect(summaries).toEqual(scanned([...readings, [-1, 7]], everything));
    expect(calls.count('Query')).toBe(2);
  });

  test('cost four writes of one unit for a day of one value each minute, and 32 read units for the chart of a year', async () => {
    const collection = await make('minutes', {}, lonely);
    const [name] = await newMarkers(collection, 1, lonely);
    const midnight = Date.parse('2026-11-20') - NOW.getTime();
    // As a sensor gives them: a daily and a random change, with one decimal.
    const random = createChance(7);
    const minutes = Array.from({ length: 1_440 }, (_, minute): Reading => {
      const n = 15 + 5 * Math.sin(minute / 229) + random.next();
      return [midnight + minute * 60_000, Math.round(10 * n) / 10];
    });
    for (const some of [minutes.slice(0, 720), minutes.slice(720)]) await record(name!, some, lonely);
    const spender = newDatabase('readable', { tables: lonely.tables });
    const calls = recordCalls(spender);
    const day = { scope: collection.key, key: name!.key, day: '2026-11-20' };
    await openDays(newCall(spender), [day], 1);
    expect(calls.commands.flatMap(({ input }) => Object.values(input['RequestItems'] as object)).flat()).toHaveLength(
      2,
    );
    const call = newCall(spender);
    const kept = await summarizeDay(call, collection, day, NOW.getTime());
    const [{ version = '', epoch = 0 } = {}] = await readDays(newCall(spender), [day]);
    calls.reset();
    await closeDay(newCall(spender), day, { version, epoch }, kept);
    const item = calls.commands[0]?.input['Item'] as Item;
    expect(itemBytes(item)).toBeLessThan(400);
    expect(calls.commands.map(({ name: command }) => command)).toEqual(['PutItem']);
    await forgetDueDay(newCall(spender), { ...day, token: '' });
    expect(calls.commands.map(({ name: command }) => command)).toEqual(['PutItem', 'DeleteItem']);
    const year = Array.from({ length: 365 }, (_, index) => {
      return { ...item, ...lonely.keys.daySummary({ ...day, day: at(-index * DAY).slice(0, 10) }) };
    });
    await putInBulk(newCall(spender), lonely.tables.derived, year);
    const chart = newCall(spender);
    const options = { now: NOW.getTime(), budget: { queries: 100, items: 20_000 } };
    const [marker] = await getMarkers(newCall(lonely), [name!]);
    const wanted = { ...everything, to: at(-DAY) };
    const { summaries } = await readKeptSummaries(chart, name!, marker!.incarnation, wanted, {
      ...options,
      trust: CURRENT,
    });
    expect(summaries).toHaveLength(364);
    // docs/time-series.md states these figures.
    expect(call.meter.readUnits).toBe(32);
    expect(chart.meter).toMatchObject({ queries: 1, readUnits: 32 });
  });

  test('are not inherited by a marker created again, and deleted with the marker', async () => {
    const [collection] = collections;
    const [name] = await newMarkers(collection!, 1);
    await record(name!, [[-3 * DAY, 1]]);
    await untilSummarized();
    expect(await pages(name!, everything)).toMatchObject([{ count: 1, min: 1 }]);
    await deleteMarker(newCall(db), name!, { now: NOW.toISOString() });
    const input = { key: name!.key, position: { lng: 1, lat: 1 } };
    await createMarkers(newCall(db), collection!, [input], NOW.toISOString());
    expect(await pages(name!, everything)).toEqual([]);
    await untilSummarized();
    const { pk } = db.keys.daySummaryRange(collection!.key, name!.key, '0', '9');
    expect((await allItems(db, db.tables.derived)).filter((item) => item['pk'] === pk)).toEqual([]);
  });

  test('are read by a server that learns from the stored report how far the consumer is', async () => {
    const [name] = await newMarkers(collections[0]!, 1);
    await record(name!, [
      [-3 * DAY, 1],
      [-2 * DAY, 2],
    ]);
    await untilSummarized();
    const reader = newDatabase('readable', { tables: db.tables });
    const calls = recordCalls(reader);
    const report = await storedReport(db);
    const trust = new ConsumerTrust({
      own: () => undefined,
      stored: () => Promise.resolve(report),
      // However long it takes on a busy machine.
      wall: () => report?.endAt ?? 0,
    });
    const parts = { call: newCall(reader), slots: pLimit(4), limits: DEFAULT_LIMITS, now: () => NOW, trust };
    const markers = new MarkerLoader(parts.call, parts.slots, parts.limits, parts.now);
    const loader = new SummaryLoader({ ...parts, markers });
    const asked = { ...everything, to: at(-DAY) };
    const expected = scanned(
      [
        [-3 * DAY, 1],
        [-2 * DAY, 2],
      ],
      asked,
    );
    expect((await loader.load(name!, asked)).summaries).toEqual(expected);
    const { pk } = db.keys.daySummaryRange('kept', name!.key, '0', '9');
    const read = calls.commands.filter(({ name: command }) => command === 'Query');
    expect(read.map(({ input }) => (input['ExpressionAttributeValues'] as { ':pk': string })[':pk'])).toEqual([pk]);
  });
});

describe('summaries include readings as soon as they are acknowledged, although the consumer has not heard of them', () => {
  const settings = [
    {},
    { readingsTtlDays: 30 },
    { readingsTtlDays: 30, readingsBucket: 'DAY' },
    { readingsTtlDays: 30, readingsTable: 'MONTHLY' },
  ] as const;

  test.each(settings)('of past days, closed or not, in a collection with %j', async (more) => {
    const collection = await make(`heard-${settings.indexOf(more)}`, more, lonely);
    const [name] = await newMarkers(collection, 1, lonely);
    const readings = Array.from({ length: 60 }, (_, n): Reading => [(n - 59) * 5 * HOUR, n]);
    await record(name!, readings, lonely);
    for (const period of ['HOUR', 'DAY'] as const) {
      const wanted = { ...everything, period };
      expect(await pages(name!, wanted, CURRENT, NOW, lonely)).toEqual(scanned(readings, wanted));
    }
    const day = { scope: collection.key, key: name!.key, day: '2026-11-18' };
    const [open] = await readDays(newCall(lonely), [day]);
    const kept = await summarizeDay(newCall(lonely), collection, day, NOW.getTime());
    expect(await closeDay(newCall(lonely), day, open!, kept)).toBe(true);
    const late: Reading = [-3 * DAY + 1, 1_000];
    await record(name!, [late], lonely);
    const all = [...readings, late];
    expect(await pages(name!, everything, CURRENT, NOW, lonely)).toEqual(scanned(all, everything));
  });

  test('of a day that is over since', async () => {
    const collection = await make('midnight', {}, lonely);
    const [name] = await newMarkers(collection, 1, lonely);
    await record(name!, [[-1, 1]], lonely);
    const midnight = new Date('2026-11-22T00:00:00.100Z');
    expect(await pages(name!, everything, CURRENT, midnight, lonely)).toEqual(scanned([[-1, 1]], everything));
  });

  test('and a reading of the current day costs no more writes than without summaries', async () => {
    const collection = await make('cheap', {}, lonely);
    const [name] = await newMarkers(collection, 1, lonely);
    const spender = newDatabase('readable', { tables: lonely.tables });
    const calls = recordCalls(spender);
    await record(name!, [[-1, 1]], spender);
    const writes = calls.commands.flatMap(({ input }) => Object.values((input['RequestItems'] ?? {}) as object));
    expect(writes.flat().filter((write) => 'PutRequest' in (write as object))).toHaveLength(1);
  });
});

describe('summaries of readings that expire', () => {
  const session = (later: number, epoch: number) =>
    new MarkerDays(
      { port: openSummaries(newCall(lonely)) },
      {
        clock: { ...clock, wall: () => NOW.getTime() + later },
        log: silentLog,
        signal: new AbortController().signal,
        holds: () => true,
      },
      epoch,
    );

  /** A marker with readings of three days ago in a table without a consumer. */
  async function lonelyMarker(key: string) {
    const collection = await make(key, { readingsTtlDays: 30 }, lonely);
    const [name] = await newMarkers(collection, 1, lonely);
    const readings: Reading[] = [
      [-3 * DAY, 1],
      [-3 * DAY + HOUR, 5],
    ];
    await record(name!, readings, lonely);
    return { name: name!, day: { scope: key, key: name!.key, day: '2026-11-18' } };
  }

  test('remain, and change no more', async () => {
    const { name, day } = await lonelyMarker('expiring');
    await session(0, 1_000_000).open([day]);
    await session(0, 1_000_000).closeDue();
    const later = new Date(NOW.getTime() + 40 * DAY);
    const expected = [{ start: '2026-11-18T00:00:00.000Z', count: 2, min: 1, max: 5, mean: 3 }];
    for (const trust of [CURRENT, BEHIND])
      expect(await pages(name, everything, trust, later, lonely)).toEqual(expected);
    // DynamoDB deletes the readings.
    await session(40 * DAY, 1_000_001).open([day]);
    await session(40 * DAY, 1_000_001).closeDue();
    expect(await pages(name, everything, CURRENT, later, lonely)).toEqual(expected);
    // Records may have been lost before they became final.
    const gap = { current: false, finalBefore: NOW.getTime() + 20 * DAY };
    expect(await pages(name, everything, gap, later, lonely)).toEqual([]);
    // Then a recount deletes them.
    const recounting = async (inexactSince: number) => {
      const days = session(40 * DAY, 1_000_002);
      const recounted = new RecountDays({
        keys: lonely.keys,
        port: openSummaries(newCall(lonely)),
        days,
        checkOnly: false,
      });
      await recounted.addStored([day], inexactSince);
    };
    await recounting(NOW.getTime() + 27 * DAY);
    expect(await pages(name, everything, CURRENT, later, lonely)).toEqual(expected);
    await recounting(NOW.getTime() + 20 * DAY);
    expect(await pages(name, everything, CURRENT, later, lonely)).toEqual([]);
  });

  test('are none if some had expired before the day was summarized', async () => {
    const { name, day } = await lonelyMarker('late');
    await session(0, 1_000_000).open([day]);
    await session(30 * DAY, 1_000_000).closeDue();
    expect(await pages(name, everything, CURRENT, new Date(NOW.getTime() + 30 * DAY), lonely)).toEqual([]);
    const days = (await allItems(lonely, lonely.tables.derived)).filter(({ pk, sk }) => {
      return db.keys.parseDaySummary({ pk: String(pk), sk: String(sk) })?.scope === 'late';
    });
    expect(days).toEqual([]);
  });
});
