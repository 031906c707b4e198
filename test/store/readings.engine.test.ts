import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import {
  readMarkerWithReadings,
  readReadingsOf,
  recordReadings,
  type ReadingInput,
  type ReadingsWanted,
} from '../../src/store/reading/readings.js';
import { send } from '../../src/store/request/send.js';
import { injectFaults, interceptCalls, leaveUnprocessed } from '../support/faults.js';
import { readsKeysOf } from '../support/json-keys.js';
import { recordCalls } from '../support/record-calls.js';
import { someOf } from '../support/rounds.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const DAY = 86_400_000;
const database = await testDatabase();
const client = (options = {}) => newDatabase('readable', { tables: database.tables, ...options });

let kept: Collection;
/** Its readings expire after ten days. */
let passing: Collection;
/** The same, in buckets. */
let daily: Collection;
let hourly: Collection;
beforeAll(async () => {
  kept = await testCollection(database, { key: 'kept', name: 'Kept' }, NOW.toISOString());
  const input = { key: 'passing', name: 'Passing', readingsTtlDays: 10 };
  passing = await testCollection(database, input, NOW.toISOString());
  const byDay = { key: 'daily', name: 'Daily', readingsTtlDays: 10, readingsBucket: 'DAY' } as const;
  daily = await testCollection(database, byDay, NOW.toISOString());
  const byHour = { key: 'hourly', name: 'Hourly', readingsTtlDays: 2, readingsBucket: 'HOUR' } as const;
  hourly = await testCollection(database, byHour, NOW.toISOString());
});

let made = 0;
async function newMarker(collection: Collection, now = NOW) {
  made += 1;
  const key = `m${made}`;
  await createMarker(newCall(database), collection, { key, position: { lng: 16.9, lat: 52.4 } }, now.toISOString());
  return { collection, key };
}
type Name = Awaited<ReturnType<typeof newMarker>>;

const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
const reading = (ms: number, values: object = { n: ms }): ReadingInput => ({ at: at(ms), values });
const record = (name: Name, inputs: readonly ReadingInput[], now = NOW, db: Database = database) =>
  recordReadings(newCall(db), name, inputs, now);
const optionsAt = (now: Date, mostPassed = 20_000) => ({ now: now.getTime(), mostPassed });

/** The same readings, read in both ways: with the marker, and without it up to an instant. */
async function read(name: Name, wanted: ReadingsWanted, now = NOW, db: Database = database) {
  const apart = name.collection.readingsBucket !== 'NONE';
  if (wanted.to === undefined && !apart)
    return (await readMarkerWithReadings(newCall(db), name, wanted, optionsAt(now))).readings;
  const [marker] = await getMarkers(newCall(db), [name]);
  return marker ? readReadingsOf(newCall(db), name, marker.incarnation, wanted, optionsAt(now)) : [];
}

describe('recorded readings', () => {
  test('are returned newest first, with the marker, by one Query', async () => {
    const name = await newMarker(kept);
    expect(await record(name, [reading(1), reading(3), reading(-5), reading(2)])).toBe(4);
    const db = client();
    const calls = recordCalls(db);
    const { marker, readings } = await readMarkerWithReadings(newCall(db), name, { last: 3 }, optionsAt(NOW));
    expect(marker).toMatchObject({ key: name.key, position: { lng: 16.9, lat: 52.4 } });
    expect(readings).toEqual([3, 2, 1].map((ms) => ({ at: at(ms), values: { n: ms } })));
    expect(calls.commands.map(({ name: command }) => command)).toEqual(['Query']);
    expect(calls.commands[0]?.input).toMatchObject({ Limit: 4, ScanIndexForward: false });
  });

  test('are written in batches of 25, after one read of the marker', async () => {
    const name = await newMarker(kept);
    const db = client();
    const calls = recordCalls(db);
    expect(
      await record(
        name,
        Array.from({ length: 60 }, (_, ms) => reading(ms)),
        NOW,
        db,
      ),
    ).toBe(60);
    expect(calls.count('BatchGetItem')).toBe(1);
    const sizes = calls.commands
      .filter(({ name: command }) => command === 'BatchWriteItem')
      .map(({ input }) => (input['RequestItems'] as Record<string, unknown[]>)[database.tables.entities]?.length);
    expect(sizes.toSorted((a = 0, b = 0) => a - b)).toEqual([10, 25, 25]);
    expect(await read(name, { last: 100 })).toHaveLength(60);
  });

  test('of one instant replace each other: the last one wins, within a call and across calls', async () => {
    const name = await newMarker(kept);
    expect(await record(name, [reading(0, { a: 1 }), reading(1), reading(0, { a: 2 })])).toBe(2);
    expect(await record(name, [reading(0, { b: 3 })])).toBe(1);
    // The same instant in another notation.
    expect(await record(name, [{ at: '2026-11-21T11:00:00.0019+01:00', values: { c: 4 } }])).toBe(1);
    expect(await read(name, { last: 10 })).toEqual([
      { at: at(1), values: { c: 4 } },
      { at: at(0), values: { b: 3 } },
    ]);
  });

  test('without an instant get the time of the call, at most one per call', async () => {
    const name = await newMarker(kept);
    expect(await record(name, [{ values: { a: 1 } }, reading(-1)], new Date(NOW.getTime() + 7))).toBe(2);
    expect(await read(name, { last: 1 })).toEqual([{ at: at(7), values: { a: 1 } }]);
    await expect(record(name, [{ values: {} }, { at: null, values: {} }])).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'readings' },
    });
  });

  test('keep numbers and text exactly', async () => {
    const name = await newMarker(kept);
    const value = fc.oneof(
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
      fc.constantFrom(0.1 + 0.2, 1e-7, -1e-100, Number.MAX_SAFE_INTEGER, 1234567.891011),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('9007199254740993123456789', '00.10', '', '1e5'),
    );
    const names = fc.string({ unit: 'binary', maxLength: 20 }).filter(readsKeysOf);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, value, { maxKeys: 8 }), async (generated) => {
        // HTTP carries JSON, which has no -0.
        const values = JSON.parse(JSON.stringify(generated)) as object;
        if (Object.values(values).some((one) => typeof one === 'number' && one !== 0 && Math.abs(one) < 1e-130)) return;
        await record(name, [reading(0, values)]);
        expect((await read(name, { last: 1 }))[0]?.values).toEqual(values);
      }),
      { numRuns: someOf(40) },
    );
  });
});

describe('bad readings', () => {
  const bad: [string, unknown, string, RegExp][] = [
    ['a list', [1], 'readings[1].values', /JSON object of numbers and text values/],
    ['null', null, 'readings[1].values', /JSON object/],
    ['a boolean', { on: true }, 'readings[1].values.on', /a number or text/],
    ['nothing', { a: null }, 'readings[1].values.a', /a number or text/],
    ['an object', { a: { b: 1 } }, 'readings[1].values.a', /a number or text/],
    ['a list inside', { a: [1] }, 'readings[1].values.a', /a number or text/],
    ['more than 53 bits', { a: 2 ** 53 }, 'readings[1].values.a', /53 bits/],
    ['a bigint', { a: 1n }, 'readings[1].values.a', /53 bits/],
    ['NaN', { a: Number.NaN }, 'readings[1].values.a', /finite/],
    ['half a character', { a: '\ud800' }, 'readings[1].values.a', /surrogates/],
    ['a name of 50,001 bytes', { ['x'.repeat(50_001)]: 1 }, 'readings[1].values', /a name of at most/],
    ['400 KB', { a: 'x'.repeat(400 * 1024) }, 'readings[1].values', /bytes/],
  ];
  test.each(bad)(
    'with %s for values are rejected by name, and nothing of the call is written',
    async (_, values, field, allowed) => {
      const name = await newMarker(kept);
      await expect(record(name, [reading(0), { at: at(1), values }])).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        details: { field, allowed: expect.stringMatching(allowed) },
      });
      expect(await read(name, { last: 10 })).toEqual([]);
    },
  );

  test.each(['yesterday', '2026-02-30T00:00:00Z', '2026-11-21', '9999-12-31T23:59:59-10:00', 5])(
    'at %s are rejected',
    async (when) => {
      const name = await newMarker(kept);
      await expect(record(name, [{ at: when as string, values: {} }])).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        details: { field: 'readings[0].at' },
      });
    },
  );

  test('more than 1,000 are rejected before any request', async () => {
    const name = await newMarker(kept);
    const db = client();
    const calls = recordCalls(db);
    const inputs = Array.from({ length: 1_001 }, (_, ms) => reading(ms));
    await expect(record(name, inputs, NOW, db)).rejects.toMatchObject({ details: { field: 'readings' } });
    expect(calls.count()).toBe(0);
    expect(await record(name, inputs.slice(1))).toBe(1_000);
    expect(await record(name, [])).toBe(0);
  });

  test('of a missing marker are NOT_FOUND, and none is written', async () => {
    const name = { collection: kept, key: 'nobody' };
    const db = client();
    const calls = recordCalls(db);
    await expect(record(name, [reading(0)], NOW, db)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(calls.count('BatchWriteItem')).toBe(0);
    expect(await readMarkerWithReadings(newCall(database), name, { last: 5 }, optionsAt(NOW))).toEqual({
      marker: null,
      readings: [],
    });
  });
});

describe('under throttling', () => {
  test('what DynamoDB leaves unprocessed is retried', async () => {
    const name = await newMarker(kept);
    const db = client();
    leaveUnprocessed(db);
    const inputs = Array.from({ length: 80 }, (_, ms) => reading(ms));
    expect(await record(name, inputs, NOW, db)).toBe(80);
    expect(await read(name, { last: 100 })).toHaveLength(80);
  });

  test('that persists, the call fails with THROTTLED, and may be repeated', async () => {
    const name = await newMarker(kept);
    const inputs = Array.from({ length: 60 }, (_, ms) => reading(ms));
    const busy = client();
    interceptCalls(busy, 'BatchWriteItem', async (input) => ({ UnprocessedItems: input['RequestItems'] }));
    const refusing = client({ giveUpAfterMs: 20_000 });
    injectFaults(refusing, 'BatchWriteItem', 'throttled');
    // The pauses between attempts are random fractions of their maximum, both ours and the SDK's.
    const chance = vi.spyOn(Math, 'random').mockReturnValue(0.01);
    onTestFinished(() => chance.mockRestore());
    await expect(record(name, inputs, NOW, busy)).rejects.toMatchObject({
      code: 'THROTTLED',
      details: { retryAfterMs: expect.any(Number) },
    });
    await expect(record(name, inputs, NOW, refusing)).rejects.toMatchObject({ code: 'THROTTLED' });
    expect(await record(name, inputs)).toBe(60);
    expect(await read(name, { last: 100 })).toHaveLength(60);
  });
});

describe('from and to', () => {
  test('are both included, and select the last readings between them', async () => {
    const name = await newMarker(kept);
    await record(
      name,
      Array.from({ length: 9 }, (_, ms) => reading(ms)),
    );
    const times = async (wanted: ReadingsWanted) =>
      (await read(name, wanted)).map(({ values }) => (values as { n: number }).n);
    expect(await times({ last: 10, from: at(3), to: at(5) })).toEqual([5, 4, 3]);
    expect(await times({ last: 2, from: at(3), to: at(5) })).toEqual([5, 4]);
    expect(await times({ last: 10, from: at(7) })).toEqual([8, 7]);
    expect(await times({ last: 1, from: at(7) })).toEqual([8]);
    expect(await times({ last: 10, to: at(1) })).toEqual([1, 0]);
    expect(await times({ last: 10, from: at(20) })).toEqual([]);
    expect(await times({ last: 10, from: at(-20), to: at(-10) })).toEqual([]);
  });
});

describe('expired readings', () => {
  test('are returned up to the last millisecond, and not after, although they are still stored', async () => {
    const name = await newMarker(passing);
    await record(name, [reading(0), reading(1), reading(500)]);
    const shownAt = async (ms: number, wanted: ReadingsWanted = { last: 10 }) =>
      (await read(name, wanted, new Date(NOW.getTime() + 10 * DAY + ms))).map(({ at: instant }) => instant);
    expect(await shownAt(-1)).toEqual([at(500), at(1), at(0)]);
    expect(await shownAt(0)).toEqual([at(500), at(1)]);
    expect(await shownAt(1)).toEqual([at(500)]);
    expect(await shownAt(1, { last: 10, to: at(499) })).toEqual([]);
    expect(await shownAt(1, { last: 10, from: at(0), to: at(500) })).toEqual([at(500)]);
    expect(await shownAt(500)).toEqual([]);
    // DynamoDB gets a TTL that is no earlier.
    const { pk, sk } = database.keys.reading({ scope: 'passing', key: name.key }, at(1));
    const { Item } = await send(newCall(database), 'get', { TableName: database.tables.entities, Key: { pk, sk } });
    expect(Item).toMatchObject({
      ttl: NOW.getTime() / 1000 + 10 * 86_400 + 1,
      of: expect.stringMatching(/^[\w-]{8}$/),
    });
  });

  test('are not stored, and not counted', async () => {
    const name = await newMarker(passing);
    expect(await record(name, [reading(-10 * DAY), reading(-10 * DAY + 1), reading(0)])).toBe(2);
    const { readingsTtlDays: _, ...rest } = passing;
    const everything = { collection: { ...rest, readingsTtlDays: null }, key: name.key };
    expect(await read(everything, { last: 10 })).toHaveLength(2);
  });

  test('with a TTL of their own are not returned either', async () => {
    const name = await newMarker(kept);
    await record({ ...name, collection: { ...kept, readingsTtlDays: 1 } }, [reading(0), reading(1000)]);
    await record(name, [reading(-1000)]);
    const later = new Date(NOW.getTime() + DAY);
    expect((await read(name, { last: 1 }, later)).map((one) => one.at)).toEqual([at(1000)]);
    expect((await read(name, { last: 3 }, later)).map((one) => one.at)).toEqual([at(1000), at(-1000)]);
    expect((await read(name, { last: 1 }, new Date(later.getTime() + 1000))).map((one) => one.at)).toEqual([at(-1000)]);
  });

  test('are not even read, however many are still stored', async () => {
    const name = await newMarker(passing);
    for (let n = 0; n < 2; n += 1) {
      await record(
        name,
        Array.from({ length: 1000 }, (_, ms) => reading(n * 1000 + ms)),
      );
    }
    await record(name, [reading(5 * DAY)], new Date(NOW.getTime() + 5 * DAY));
    const options = optionsAt(new Date(NOW.getTime() + 12 * DAY));
    const call = newCall(database);
    const { readings } = await readMarkerWithReadings(call, name, { last: 10 }, options);
    expect(readings).toHaveLength(1);
    expect(call.meter).toMatchObject({ queries: 1, itemsScanned: 2 });
  });
});

describe('another incarnation of a marker', () => {
  async function madeAgain(readings: number) {
    const name = await newMarker(kept);
    await record(
      name,
      Array.from({ length: readings }, (_, ms) => reading(ms)),
    );
    const Key = { ...database.keys.marker('kept', name.key) };
    await send(newCall(database), 'delete', { TableName: database.tables.entities, Key });
    expect(await readMarkerWithReadings(newCall(database), name, { last: 5 }, optionsAt(NOW))).toMatchObject({
      marker: null,
    });
    const input = { key: name.key, position: { lng: 1, lat: 1 } };
    await createMarker(newCall(database), kept, input, at(60_000));
    return name;
  }

  test('does not inherit readings, and has its own among those of the former one', async () => {
    const name = await madeAgain(5);
    expect(await read(name, { last: 5 })).toEqual([]);
    expect(await read(name, { last: 5, to: at(9) })).toEqual([]);
    await record(name, [reading(2, { own: 1 }), reading(-1, { own: 2 })]);
    const own = [
      { at: at(2), values: { own: 1 } },
      { at: at(-1), values: { own: 2 } },
    ];
    expect(await read(name, { last: 5 })).toEqual(own);
    expect(await read(name, { last: 5, to: at(9) })).toEqual(own);
  });

  test('has readings that are found among those of the former one, up to a limit', async () => {
    const name = await madeAgain(300);
    await record(name, [reading(-1, { own: 1 })]);
    const atMost = (mostPassed: number) =>
      readMarkerWithReadings(newCall(database), name, { last: 1 }, optionsAt(NOW, mostPassed));
    await expect(atMost(301)).resolves.toMatchObject({ readings: [{ at: at(-1), values: { own: 1 } }] });
    await expect(atMost(100)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', details: { limit: 100 } });
  });
});

test('readings written by other programs are returned if they are valid', async () => {
  const name = await newMarker(kept);
  const { pk } = database.keys.marker('kept', name.key);
  const put = (sk: string, item: object) =>
    send(newCall(database), 'put', { TableName: database.tables.entities, Item: { pk, sk, ...item } });
  await put(`reading::${at(0)}`, { values: { t: 21.5, n: 12345678901234567890n } });
  await put(`reading::${at(1)}`, { values: 'text' });
  await put('reading::2026-11-21T10:00:05Z', { values: { a: 1 } });
  await put('reading::later', { values: { a: 1 } });
  await put(`reading::${at(2)}`, { temperature: 5 });
  expect(await read(name, { last: 10 })).toEqual([{ at: at(0), values: { t: 21.5, n: '12345678901234567890' } }]);
});

test('a marker with thousands of readings takes no more calls and items than one with ten', async () => {
  const few = await newMarker(kept);
  const many = await newMarker(kept);
  await record(
    few,
    Array.from({ length: 10 }, (_, ms) => reading(ms)),
  );
  for (let n = 0; n < 4; n += 1) {
    await record(
      many,
      Array.from({ length: 1000 }, (_, ms) => reading(n * 1000 + ms)),
    );
  }
  const cost = async (name: Name, wanted: ReadingsWanted) => {
    const call = newCall(database);
    const [marker] = await getMarkers(newCall(database), [name]);
    if (wanted.to === undefined) await readMarkerWithReadings(call, name, wanted, optionsAt(NOW));
    else await readReadingsOf(call, name, marker!.incarnation, wanted, optionsAt(NOW));
    const { queries, itemsScanned, getItems } = call.meter;
    return { queries, itemsScanned, getItems };
  };
  expect(await cost(few, { last: 10 })).toEqual({ queries: 1, itemsScanned: 11, getItems: 0 });
  expect(await cost(many, { last: 10 })).toEqual({ queries: 1, itemsScanned: 11, getItems: 0 });
  const middle = { last: 10, from: at(1000), to: at(2000) };
  expect(await cost(many, middle)).toEqual({ queries: 1, itemsScanned: 10, getItems: 0 });
});

describe('readings in buckets', () => {
  const HOUR = DAY / 24;

  test('have one partition per bucket, and are read newest first until there are enough', async () => {
    const name = await newMarker(daily);
    const days = [0, -1, -2, -3, -9];
    await record(
      name,
      days.flatMap((day) => [reading(day * DAY), reading(day * DAY + 1)]),
    );
    const pk = `marker::daily::${name.key}::2026-11-19`;
    const Key = { pk, sk: `reading::${at(-2 * DAY)}` };
    const { Item } = await send(newCall(database), 'get', { TableName: database.tables.entities, Key });
    expect(Item).toMatchObject({ values: { n: -2 * DAY }, of: expect.stringMatching(/^[\w-]{8}$/) });
    const db = client();
    const calls = recordCalls(db);
    const askedAt = async (wanted: ReadingsWanted) => {
      calls.reset();
      const [marker] = await getMarkers(newCall(database), [name]);
      const readings = await readReadingsOf(newCall(db), name, marker!.incarnation, wanted, optionsAt(NOW));
      return { at: readings.map((one) => one.at), calls: calls.commands.length };
    };
    // The next day is read first.
    expect(await askedAt({ last: 2 })).toEqual({ at: [at(1), at(0)], calls: 2 });
    expect(await askedAt({ last: 3 })).toEqual({ at: [at(1), at(0), at(1 - DAY)], calls: 3 });
    expect((await askedAt({ last: 100 })).at).toEqual(days.flatMap((day) => [at(day * DAY + 1), at(day * DAY)]));
    expect((await askedAt({ last: 100 })).calls).toBe(12);
    const between = await askedAt({ last: 100, from: at(-3 * DAY + 1), to: at(-2 * DAY) });
    expect(between).toEqual({ at: [at(-2 * DAY), at(-3 * DAY + 1)], calls: 2 });
  });

  test('of a silent sensor take no more calls than there are buckets', async () => {
    const name = await newMarker(hourly);
    const call = newCall(database);
    expect(await readReadingsOf(call, name, 'any', { last: 10 }, optionsAt(NOW))).toEqual([]);
    expect(call.meter.queries).toBe(50);
  });

  test('too far in the future are rejected by field, because no query would find them', async () => {
    const name = await newMarker(hourly);
    expect(await record(name, [reading(HOUR)])).toBe(1);
    expect(await read(name, { last: 1 })).toEqual([{ at: at(HOUR), values: { n: HOUR } }]);
    await expect(record(name, [reading(0), reading(HOUR + 1)])).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'readings[1].at' },
    });
    expect(await read(name, { last: 10 })).toHaveLength(1);
  });
});

test('any sequence of calls agrees with a model in memory', async () => {
  const instants = fc.integer({ min: 0, max: 40 });
  const batch = fc.array(fc.record({ ms: instants, v: fc.integer() }), { maxLength: 30 });
  const bound = fc.option(instants, { nil: undefined });
  const question = fc.record({
    last: fc.integer({ min: 1, max: 45 }),
    from: bound,
    to: bound,
    day: fc.integer({ min: 9, max: 21 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('kept' as const, 'passing' as const, 'daily' as const),
      fc.array(batch, { maxLength: 3 }),
      fc.array(question, { minLength: 1, maxLength: 5 }),
      async (kind, batches, questions) => {
        const name = await newMarker({ kept, passing, daily }[kind]);
        const expire = kind !== 'kept';
        const model = new Map<number, number>();
        for (const inputs of batches) {
          // A unit is six hours, so that some have expired when they are read.
          await record(
            name,
            inputs.map(({ ms, v }) => reading((ms * DAY) / 4, { v })),
            // None of them has expired or is more than a day in the future.
            new Date(NOW.getTime() + 9 * DAY),
          );
          for (const { ms, v } of inputs) model.set(ms, v);
        }
        for (const { last, from, to, day } of questions) {
          if (from !== undefined && to !== undefined && from > to) continue;
          const expected = [...model]
            .filter(([ms]) => ms >= (from ?? 0) && ms <= (to ?? Infinity) && (!expire || ms / 4 > day - 10))
            .sort(([a], [b]) => b - a)
            .slice(0, last)
            .map(([ms, v]) => ({ at: at((ms * DAY) / 4), values: { v } }));
          const wanted = {
            last,
            from: from === undefined ? undefined : at((from * DAY) / 4),
            to: to === undefined ? undefined : at((to * DAY) / 4),
          };
          expect(await read(name, wanted, new Date(NOW.getTime() + day * DAY))).toEqual(expected);
        }
      },
    ),
    { numRuns: someOf(60) },
  );
});
