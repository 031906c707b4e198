import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MonthKeeper } from '../../src/jobs/month-tables.js';
import { silentLog } from '../../src/log.js';
import { monthsDown } from '../../src/model/reading.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { readSummaries } from '../../src/store/reading/reading-summaries.js';
import { readReadingsOf, recordReadings } from '../../src/store/reading/readings.js';
import { deleteMarker, removePartition } from '../../src/store/removal/markers.js';
import { hasStream, listMonths, monthDefinitions, monthTable } from '../../src/store/table/month-tables.js';
import { queryAll } from '../../src/store/table/query-responses.js';
import { tableDifferences } from '../../src/store/table/table-differences.js';
import { describeTable, describeTables, ensureTables } from '../../src/store/table/tables.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf } from '../support/rounds.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = new Date('2028-03-01T00:00:10.000Z');
const DAY = 86_400_000;
const database = await testDatabase();
const iso = (ms: number) => new Date(ms).toISOString();
const TTL_DAYS = 800;
const make = (key: string, more: object = {}, into = database) =>
  testCollection(
    into,
    { key, name: key, readingsTable: 'MONTHLY', readingsTtlDays: TTL_DAYS, ...more },
    NOW.toISOString(),
  );
const collection = await make('monthly');

let made = 0;
async function newMarker(of = collection, into = database) {
  made += 1;
  const key = `m${made}`;
  await createMarker(newCall(into), of, { key, position: { lng: 16.9, lat: 52.4 } }, NOW.toISOString());
  return { collection: of, key };
}
type Name = Awaited<ReturnType<typeof newMarker>>;

const record = (name: Name, times: readonly number[], now = NOW, into = database) =>
  recordReadings(
    newCall(into),
    name,
    times.map((ms) => ({ at: iso(ms), values: { ms } })),
    now,
  );
const options = () => ({ now: NOW.getTime(), mostPassed: 20_000 });

async function read(name: Name, wanted: { last: number; from?: string; to?: string }, from = database) {
  const [marker] = await getMarkers(newCall(from), [name]);
  return marker ? readReadingsOf(newCall(from), name, marker.incarnation, wanted, options()) : [];
}

test('the months between two instants are those of a calendar', () => {
  expect(monthsDown(Date.parse('2027-11-30T23:59:59.999Z'), Date.parse('2028-03-01T00:00:00.000Z'))).toEqual([
    '2028-03',
    '2028-02',
    '2028-01',
    '2027-12',
    '2027-11',
  ]);
  const day = fc.integer({ min: 0, max: 60_000 });
  fc.assert(
    fc.property(day, day, (from, to) => {
      const days = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => iso((from + index) * DAY));
      expect(monthsDown(from * DAY, to * DAY)).toEqual([...new Set(days.map((each) => each.slice(0, 7)))].toReversed());
    }),
    { numRuns: someOf(100) },
  );
});

/** Instants around the ends of months, years and a leap February, and others, as old as are kept. */
const EDGES = [
  '2026-01-01',
  '2026-03-01',
  '2027-01-01',
  '2027-03-01',
  '2028-01-01',
  '2028-02-01',
  '2028-02-29',
  '2028-03-01',
];
const instant = fc.oneof(
  fc
    .tuple(fc.constantFrom(...EDGES), fc.integer({ min: -2, max: 2 }))
    .map(([edge, ms]) => Date.parse(`${edge}T00:00:00.000Z`) + ms),
  fc.integer({ min: NOW.getTime() - (TTL_DAYS + 5) * DAY, max: NOW.getTime() + DAY }),
);

describe('readings in monthly tables', () => {
  test('are found as in a linear scan, in order, however late they were recorded, and summarized alike', async () => {
    const wanted = fc.record({
      last: fc.integer({ min: 1, max: 12 }),
      from: fc.option(instant),
      to: fc.option(instant),
    });
    const calls = fc.array(fc.array(instant, { minLength: 1, maxLength: 6 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(calls, fc.array(wanted, { minLength: 1, maxLength: 4 }), async (recorded, queries) => {
        const name = await newMarker();
        for (const times of recorded) await record(name, times);
        const kept = [...new Set(recorded.flat())]
          .filter((ms) => ms > NOW.getTime() - TTL_DAYS * DAY)
          .toSorted((a, b) => b - a);
        for (const { last, from, to } of queries) {
          const inside = kept.filter((ms) => ms >= (from ?? -Infinity) && ms <= (to ?? Infinity));
          const bounds = { ...(from === null ? {} : { from: iso(from) }), ...(to === null ? {} : { to: iso(to) }) };
          const found = await read(name, { last, ...bounds });
          expect(found.map(({ at }) => at)).toEqual(inside.slice(0, last).map(iso));
          const [marker] = await getMarkers(newCall(database), [name]);
          const budget = { queries: 100, items: 20_000 };
          const days =
            marker &&
            (await readSummaries(
              newCall(database),
              name,
              marker.incarnation,
              { value: 'ms', period: 'DAY', from: iso(from ?? 0), to: bounds.to, first: 100 },
              { now: NOW.getTime(), budget },
            ));
          const starts = [...new Set(inside.map((ms) => iso(ms).slice(0, 10)))].toReversed();
          expect(days?.summaries.map(({ start }) => start.slice(0, 10))).toEqual(starts);
          expect(days?.summaries.reduce((sum, { count }) => sum + count, 0)).toBe(inside.length);
        }
      }),
      { numRuns: someOf(25) },
    );
  });

  test('take a Query for each month until there are enough, in tables of the entities table and the month', async () => {
    const name = await newMarker();
    await record(
      name,
      ['2028-02-29T23:59:59.999Z', '2027-12-31T23:59:59.999Z', '2027-12-01T00:00:00.000Z'].map(Date.parse),
    );
    const db = newDatabase('readable', { tables: database.tables });
    const calls = recordCalls(db);
    expect(await read(name, { last: 2 }, db)).toHaveLength(2);
    const tables = calls.commands
      .filter(({ name: command }) => command === 'Query')
      .map(({ input }) => input['TableName']);
    expect(tables).toEqual(
      ['2028-03', '2028-02', '2028-01', '2027-12'].map((month) => monthTable(database.tables, month)),
    );
    expect(tables[0]).toBe(`${database.tables.entities}-readings-2028-03`);
    expect(await read(name, { last: 9, from: '2027-12-31T00:00:00.000Z' })).toHaveLength(2);
  });

  test('that have expired, or are ahead by over a day, are not stored', async () => {
    const name = await newMarker();
    expect(await record(name, [NOW.getTime() - TTL_DAYS * DAY, NOW.getTime() - 1])).toBe(1);
    await expect(record(name, [NOW.getTime() + DAY + 1])).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    const table = monthTable(database.tables, '2028-03');
    const range = { index: 'entities', table, pk: `marker::monthly::${name.key}` } as const;
    const [item] = await queryAll(newCall(database), range);
    expect(item?.['ttl']).toBe(Math.ceil((NOW.getTime() - 1 + TTL_DAYS * DAY) / 1_000));
  });

  test('are deleted with their marker, and with their collection', async () => {
    const emptied = await make('emptied', { prefixLength: 0 });
    const times = ['2028-02-29T12:00:00.000Z', '2027-01-01T00:00:00.000Z'].map(Date.parse);
    const left = async ({ collection: { key: scope }, key }: Name) => {
      const counts = await Promise.all(
        (await listMonths(database)).map(async (month) => {
          const table = monthTable(database.tables, month);
          const range = { index: 'entities', table, pk: `marker::${scope}::${key}` } as const;
          return (await queryAll(newCall(database), range)).length;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const [deleted, other, last] = [await newMarker(), await newMarker(), await newMarker(emptied)];
    for (const name of [deleted, other]) await record(name, times);
    // The collection is emptied by the clock of this machine.
    await record(last, [Date.now(), Date.now() - 100 * DAY], new Date());
    await deleteMarker(newCall(database), deleted, { now: NOW.toISOString() });
    expect([await left(deleted), await left(other), await left(last)]).toEqual([0, 2, 2]);
    const [pk = ''] = database.keys.geoPartitions('emptied', '', 1);
    expect(await removePartition(newCall(database), emptied, pk)).toBe(1);
    expect([await left(other), await left(last)]).toEqual([2, 0]);
  });
});

describe('the tables of months', () => {
  const isFollowed = async (db: typeof database, month: string) => {
    const table = await describeTable(db, monthTable(db.tables, month));
    return table && hasStream(table);
  };
  test('are created before their month, cooled after it, and deleted when all readings have expired', async () => {
    const db = newDatabase('readable');
    await ensureTables(db);
    const short = await make('short', { readingsTtlDays: 100 }, db);
    const long = await make('long', { readingsTtlDays: 130 }, db);
    const keeper = () => new MonthKeeper(db, silentLog);
    const january = Date.parse('2028-01-29T12:00:00.000Z');
    await keeper().keep([short, long], january - 2 * DAY);
    expect(await listMonths(db)).toEqual(['2028-01']);
    await keeper().keep([short, long], january);
    expect(await listMonths(db)).toEqual(['2028-01', '2028-02']);
    expect(await isFollowed(db, '2028-02')).toBe(true);
    const name = await newMarker(short, db);
    await record(name, [january], new Date(january), db);
    // A month without a table gets one when a reading of it is recorded, without a stream if it is long over.
    await record(name, [january - 75 * DAY], new Date(january), db);
    expect(await listMonths(db)).toEqual(['2027-11', '2028-01', '2028-02']);
    expect(await isFollowed(db, '2027-11')).toBe(false);

    const ended = Date.parse('2028-02-01T00:00:00.000Z');
    const keepers = [keeper(), keeper()];
    const keep = (ms: number) => Promise.all(keepers.map((one) => one.keep([short, long], ms)));
    const differences = async (ms: number) => {
      const definitions = await monthDefinitions(db, ms);
      const states = await describeTables(db, definitions);
      return definitions.flatMap((definition, at) => tableDifferences(definition, states[at]!));
    };
    await keep(ended + 39 * DAY);
    expect(await isFollowed(db, '2028-01')).toBe(true);
    // As required, also while no server has cooled it.
    expect([await differences(ended + 39 * DAY), await differences(ended + 41 * DAY)]).toEqual([[], []]);
    const calls = recordCalls(db);
    await keep(ended + 41 * DAY);
    const classes = calls.commands.flatMap(({ input: { TableName, TableClass } }) =>
      TableClass === undefined ? [] : [[TableName, TableClass]],
    );
    // DynamoDB Local has no classes of storage.
    expect(classes).toContainEqual([monthTable(db.tables, '2028-01'), 'STANDARD_INFREQUENT_ACCESS']);
    expect([await isFollowed(db, '2028-01'), await isFollowed(db, '2028-02')]).toEqual([false, true]);
    expect(await differences(ended + 41 * DAY)).toEqual([]);
    await keep(ended + 130 * DAY);
    expect(await listMonths(db)).toContain('2028-01');
    await keep(ended + 132 * DAY);
    expect(await listMonths(db)).toEqual(['2028-02', '2028-03', '2028-06']);
  });
});
