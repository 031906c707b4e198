import { expect, onTestFinished, test, vi } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { CONSUMER, loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { readDays } from '../../src/store/reading/kept-days.js';
import { readKeptSummaries } from '../../src/store/reading/kept-summaries.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { coolMonthTable, monthTable } from '../../src/store/table/month-tables.js';
import { deleteTable } from '../../src/store/table/tables.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { createStreamsClient, openStream } from '../../src/stream/source/dynamodb.js';
import { recordCalls } from '../support/record-calls.js';
import { engine, newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { started, streamParts, untilRead } from './support.js';

const DAY = 86_400_000;
const MINUTE = 60_000;
const began = Date.now();
/** The time of the consumer is ahead of that of writers, so that no test waits for days to be closed. */
let ahead = 0;
const clock = { ...systemClock, wall: () => Date.now() + ahead };

const db = await testDatabase('readable', { stream: true });
const input = {
  key: 'c',
  name: 'C',
  readingsTable: 'MONTHLY',
  readingsTtlDays: 300,
  readingsSummarized: true,
} as const;
const collection = await testCollection(db, input);
const name = { collection, key: 'm' };
const add = (key: string) =>
  createMarker(newCall(db), collection, { key, position: { lng: 1, lat: 1 } }, new Date().toISOString());
await add('m');

const at = (ms: number) => new Date(ms).toISOString();
const record = (ms: number, n: number, into = db) =>
  recordReadings(newCall(into), name, [{ at: at(ms), values: { n } }], new Date());

/** Starts a consumer; returns the instants of the readings that it has passed on, and how to stop it. */
function consume() {
  const passed: string[] = [];
  const { days, ...parts } = { ...streamParts(db), clock };
  const consumer = new Consumer({
    ...parts,
    days: { ...days, everyMs: 50 },
    onRecord({ keys }) {
      const key = { pk: String(keys['pk']?.['S']), sk: String(keys['sk']?.['S']) };
      const instant = db.keys.parseReading(key)?.instant;
      if (instant !== undefined) passed.push(instant);
    },
  });
  const running = started(consumer);
  const stop = () => running.stop();
  onTestFinished(stop);
  return { passed, stop, status: () => consumer.status() };
}

const dayOf = (ms: number) => ({ scope: 'c', key: 'm', day: at(ms).slice(0, 10) });
const isKept = async (ms: number) => (await readDays(newCall(db), [dayOf(ms)]))[0]?.kept !== undefined;
const WAIT = { timeout: 30_000, interval: 50 };

async function summaries(from = db) {
  const [marker] = await getMarkers(newCall(db), [name]);
  const wanted = { value: 'n', period: 'DAY', from: at(began - 299 * DAY), to: undefined, first: 100 } as const;
  const options = { now: Date.now(), budget: { queries: 100, items: 1_000 } };
  const trust = { current: true, finalBefore: Infinity };
  const page = await readKeptSummaries(newCall(from), name, marker!.incarnation, wanted, { ...options, trust });
  return page.summaries.map(({ start, count, max }) => [start.slice(0, 10), count, max]);
}

test('the consumer passes on and summarizes readings of recent months, and late ones of months without a stream', async () => {
  const [recent, late, cold] = [began, began - 5 * DAY, began - 100 * DAY] as const;
  const { passed } = consume();
  await record(cold, 1);
  await record(late, 2);
  await record(recent, 3);
  await expect.poll(() => passed.toSorted(), WAIT).toEqual([at(late), at(recent)]);
  const expected = [
    [at(cold).slice(0, 10), 1, 1],
    [at(late).slice(0, 10), 1, 2],
    [at(recent).slice(0, 10), 1, 3],
  ];
  expect(await summaries()).toEqual(expected);
  // The writer may be about to put a reading of it.
  expect(await isKept(cold)).toBe(false);
  ahead += 16 * MINUTE;
  for (const day of [cold, late]) await expect.poll(() => isKept(day), WAIT).toBe(true);
  const reader = newDatabase('readable', { tables: db.tables });
  const calls = recordCalls(reader);
  expect(await summaries(reader)).toEqual(expected);
  expect(calls.commands.filter(({ input: { TableName } }) => TableName === db.tables.derived)).toHaveLength(1);

  await record(cold + 1, 9);
  expect(await isKept(cold)).toBe(false);
  expect((await summaries())[0]).toEqual([at(cold).slice(0, 10), 2, 9]);
  ahead += 16 * MINUTE;
  await expect.poll(() => isKept(cold), WAIT).toBe(true);
  expect((await summaries())[0]).toEqual([at(cold).slice(0, 10), 2, 9]);

  const seen: string[] = [];
  for await (const images of openRecount(db, CONSUMER).scanMarkers()) {
    for (const { pk, sk } of images) {
      const instant = db.keys.parseReading({ pk: String(pk?.['S']), sk: String(sk?.['S']) })?.instant;
      if (instant !== undefined) seen.push(instant);
    }
  }
  expect(seen.toSorted()).toEqual([cold, cold + 1, late, recent].map(at));
});

test('tables of months that lose their stream, or are deleted, leave no gap', async () => {
  const first = consume();
  await record(began - 2, 1);
  await expect.poll(() => first.passed, WAIT).toContain(at(began - 2));
  const month = at(began).slice(0, 7);
  await coolMonthTable(db, month);
  // Its shards end.
  await vi.waitFor(async () => {
    const { shards = {} } = (await loadStreamState(newCall(db), CONSUMER)) ?? {};
    const own = Object.entries(shards).filter(([id]) => id.startsWith(month));
    expect(own.length).toBeGreaterThan(0);
    expect(own.every(([, { endedAt }]) => endedAt !== undefined)).toBe(true);
  }, WAIT);
  await first.stop();
  await deleteTable(db, monthTable(db.tables, month));
  // Another writer, which does not remember the table, creates it again.
  await record(began - 3, 1, newDatabase('readable', { tables: db.tables }));
  const second = consume();
  await expect.poll(() => second.passed, WAIT).toContain(at(began - 3));
  await second.stop();
  // Now while nobody reads it.
  await deleteTable(db, monthTable(db.tables, month));
  const third = consume();
  await add('other');
  await untilRead(db);
  expect(third.status()).toMatchObject({ owner: true, countsExact: true, gap: null });
});

test('whether a collection has tables of months is asked for once, and then seen in the stream', async () => {
  const other = await testDatabase('readable', { stream: true });
  const streams = createStreamsClient(engine());
  onTestFinished(() => streams.destroy());
  const calls = recordCalls(other);
  const port = openStream(other, streams);
  const stream = await port.identify();
  /** The names of the tables whose shards are listed, and the Query calls that this took. */
  async function list() {
    calls.reset();
    const { shards } = await port.listShards(stream, undefined);
    return { shards: shards.map(({ id }) => id), queries: calls.count('Query') };
  }
  const { shards, queries } = await list();
  expect([shards.length, queries, (await list()).queries]).toEqual([1, 1, 0]);
  let iterator = await port.openShard(stream, shards[0] ?? '', { type: 'newest' });
  // A collection may have been made before the start.
  expect([(await list()).queries, (await list()).queries]).toEqual([1, 0]);

  const made = await testCollection(other, input);
  const marker = { collection: made, key: 'm' };
  await createMarker(newCall(other), made, { key: 'm', position: { lng: 1, lat: 1 } }, new Date().toISOString());
  await recordReadings(newCall(other), marker, [{ at: at(began), values: { n: 1 } }], new Date());
  expect((await list()).shards).toEqual(shards);
  for (let read = 0; read < 2;) {
    const page = await port.readRecords(iterator);
    read += page.records.length;
    iterator = page.next ?? '';
  }
  const found = await list();
  expect(found.queries).toBe(0);
  expect(found.shards.slice(1)).toEqual([expect.stringMatching(new RegExp(`^${at(began).slice(0, 7)}/`))]);
});
