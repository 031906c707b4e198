import { afterEach, describe, expect, test, vi } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { readConfig } from '../../src/config.js';
import { createHandler, type StreamEvent } from '../../src/lambda/stream.js';
import type { Collection } from '../../src/model/collection.js';
import { countDeadLetters } from '../../src/store/cell/dead-letters.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { readDays } from '../../src/store/reading/kept-days.js';
import { newReadingItem } from '../../src/store/reading/reading-item.js';
import { send } from '../../src/store/request/send.js';
import { ensureTables } from '../../src/store/table/tables.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { readWholeStream } from '../../src/stream/consume/follower.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { recount } from '../../src/stream/recount/recount.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { createChance } from '../stream/simulation/world.js';
import {
  countedCells,
  countedPlaces,
  markerEntries,
  started,
  storedCells,
  storedEntries,
  storedPlaces,
  streamParts,
  untilRead,
  withoutWaiting,
} from '../stream/support.js';
import { fakeCloudFront } from '../support/fake-cloudfront.js';
import { injectFaults, interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, runsAll, variants } from '../support/rounds.js';
import { engine, newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const NOW = '2026-11-21T10:00:00.000Z';
const DAY = 24 * 3_600_000;
const LEASE_MS = 1_000;
const config = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: 'us-east-1' });
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));

// A process has one handler; those of many tests would pile up until Node warns.
const others = process.listeners('exit');
afterEach(() => {
  for (const listener of process.listeners('exit')) if (!others.includes(listener)) process.off('exit', listener);
});

/** A function as a process of its own. */
const functionOf = (database: Database) =>
  createHandler(config, () => ({ database, streams: createStreamsClient(engine()) }), { leaseMs: LEASE_MS });
const ending = (inMs: number) => {
  const at = Date.now() + inMs;
  return { getRemainingTimeInMillis: () => at - Date.now() };
};

type EventRecord = NonNullable<StreamEvent['Records']>[number];

/** Records of the stream in the form in which an event source mapping delivers them. */
async function eventRecords(db: Database): Promise<EventRecord[]> {
  const records: StreamRecord[] = [];
  const onRecord = (record: StreamRecord) => records.push(record);
  await readWholeStream({ ...streamParts(db), onRecord }, 60_000, new AbortController().signal);
  const event = records.map(({ sequence, event: eventName, at, keys, before, after }) => ({
    eventID: `id-${sequence}`,
    eventName,
    eventSource: 'aws:dynamodb',
    eventSourceARN: 'arn:aws:dynamodb:us-east-1:1:table/places/stream/2026-11-21T10:00:00.000',
    dynamodb: {
      ApproximateCreationDateTime: at / 1_000,
      Keys: keys,
      ...(before && { OldImage: before }),
      ...(after && { NewImage: after }),
      SequenceNumber: sequence,
    },
  }));
  // A Lambda event is JSON on the way.
  return JSON.parse(JSON.stringify(event)) as EventRecord[];
}

const put = (db: Database, Item: Record<string, unknown>) =>
  send(newCall(db), 'put', { TableName: db.tables.entities, Item });

/** Writes markers at random, some of them many times, and some items that are not markers. */
async function writeAtRandom(
  db: Database,
  collection: Collection,
  chance: ReturnType<typeof createChance>,
  writes: number,
) {
  for (let n = 0; n < writes; n += 1) {
    const key = `m${chance.integer(1, 25)}`;
    const { pk, sk } = db.keys.marker(db.keys.scope(collection), key);
    const what = chance.next();
    if (what < 0.2) await send(newCall(db), 'delete', { TableName: db.tables.entities, Key: { pk, sk } });
    else if (what < 0.25) await put(db, { pk, sk: 'reading::2026-11-21T10:00:00.000Z', values: {} });
    else if (what < 0.3) await put(db, { pk, sk, lng: 'nowhere' });
    else {
      const near = chance.happens(0.5);
      const lng = near ? 16.9 + chance.next() / 10 : chance.pick([180, -180, chance.next() * 360 - 180]);
      const lat = near ? 52.4 + chance.next() / 10 : chance.next() * 180 - 90;
      const place = chance.pick([[], ['Poznań'], ['Poznań', 'A', '1'], ['Poznań', 'A', '2'], ['Berlin', 'A']]);
      await put(db, { ...newMarkerItem(db, collection, { key, position: { lng, lat }, place }, NOW) });
    }
  }
}

const stateOf = (db: Database) => loadStreamState(newCall(db), 'cells');

/** Expects what a server's consumer would have made of the table, and that nobody holds the lease. */
async function expectExact(db: Database): Promise<void> {
  expect({ seed, cells: await storedCells(db) }).toEqual({ seed, cells: await countedCells(db) });
  expect({ seed, places: await storedPlaces(db) }).toEqual({ seed, places: await countedPlaces(db) });
  expect({ seed, entries: await storedEntries(db) }).toEqual({ seed, entries: await markerEntries(db) });
  expect(await stateOf(db)).toMatchObject({ owner: '', plan: null, gap: null });
}

describe.each(variants(['readable', 'compact'] as const))('with %s keys', async (style) => {
  const db = await testDatabase(style, { stream: true });

  test('cells, places and pages are exact once calls have ended, of several shards, repeated, reordered and concurrent', async () => {
    const collection = await testCollection(db, { key: 'parks', name: 'Parks', code: 'Pa' }, NOW);
    const chance = createChance(seed);
    const functions = Array.from({ length: 3 }, () => functionOf(db));
    injectFaults(db, 'BatchExecuteStatement', ['answer lost', 'throttled', 'answer lost']);
    for (let round = 0; round < 3; round += 1) {
      const known = (await eventRecords(db)).length;
      await writeAtRandom(db, collection, chance, 40);
      const fresh = (await eventRecords(db)).slice(known);
      // Each shard has calls of its own, and one of them has a former delivery once more.
      const shards = [0, 1].map((shard) => fresh.filter((_, at) => at % 2 === shard));
      const deliveries = [...shards, fresh.slice(0, 5)];
      const calls = functions.map((call, at) => call({ Records: deliveries[at] ?? [] }));
      expect(await Promise.all(calls)).toEqual(calls.map(() => ({ batchItemFailures: [] })));
      await expectExact(db);
    }
    expect(await countDeadLetters(newCall(db), 'cells')).toBeGreaterThan(0);
    expect(Object.keys(await countedCells(db)).length).toBeGreaterThan(20);
  });
});

describe('one table', async () => {
  const db = await testDatabase('readable', { stream: true });
  const chance = createChance(seed);
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  const lambda = functionOf(db);
  let known = 0;
  /** Writes something and returns its records. */
  async function written(writes = 20): Promise<EventRecord[]> {
    await writeAtRandom(db, parks, chance, writes);
    const all = await eventRecords(db);
    const fresh = all.slice(known);
    known = all.length;
    return fresh;
  }

  test('a call without records summarizes the days that are over', async () => {
    const sensors = await testCollection(db, { key: 's', name: 'S', readingsSummarized: true }, NOW);
    const marker = newMarkerItem(db, sensors, { key: 'one', position: { lng: 1, lat: 2 } }, NOW);
    await put(db, marker);
    const at = new Date(Date.now() - 3 * DAY).toISOString();
    const owner = { collection: sensors, key: 'one', incarnation: String(marker['life']) };
    await put(db, { ...newReadingItem(db, owner, { at, values: { t: 5 } }, Date.now(), '') });
    await lambda({ Records: await written() });
    // Longer than it takes to read the stream to its end.
    const slow = newDatabase('readable', { tables: db.tables });
    interceptCalls(slow, 'Query', async (input, ask) => (await systemClock.sleep(100), ask(input)));
    await functionOf(slow)({});
    slow.client.destroy();
    const [day] = await readDays(newCall(db), [{ scope: db.keys.scope(sensors), key: 'one', day: at.slice(0, 10) }]);
    expect(day?.kept).toBeDefined();
    await expectExact(db);
  });

  test('a killed call leaves its work to another one, which takes over when its lease ends', async ({ skip, task }) => {
    skip(!turn(task));
    const mortal = newDatabase('readable', { tables: db.tables, giveUpAfterMs: 2_000 });
    const Records = await written();
    let killed = false;
    // It has planned a batch, and dies before it has written all of it.
    mortal.client.middlewareStack.add(
      (next, context) => async (args) => {
        killed ||= context.commandName === 'BatchExecuteStatementCommand';
        return killed ? new Promise<never>(() => undefined) : next(args);
      },
      { step: 'initialize', name: 'kill' },
    );
    const dead = functionOf(mortal)({ Records }, ending(6_000));
    const ended = dead.then(() => (killed = true));
    while (!killed) await systemClock.sleep(10);
    expect(await stateOf(db)).toMatchObject({ plan: expect.anything() as unknown });
    expect(await functionOf(db)({ Records })).toEqual({ batchItemFailures: [] });
    await expectExact(db);
    expect(await dead).toEqual({ batchItemFailures: [{ itemIdentifier: Records[0]?.dynamodb?.SequenceNumber }] });
    await expectExact(db);
    await ended;
    mortal.client.destroy();
  });

  test('a call whose time runs out releases the lease and reports its records, and a later one applies them', async () => {
    const failing = newDatabase('readable', { tables: db.tables });
    const faults = injectFaults(failing, 'BatchExecuteStatement', 'refused');
    const Records = await written();
    const again = [{ itemIdentifier: Records[0]?.dynamodb?.SequenceNumber }];
    expect(await functionOf(failing)({ Records }, ending(2_000))).toEqual({ batchItemFailures: again });
    expect(faults.met).toBeGreaterThan(0);
    expect(await stateOf(db)).toMatchObject({ owner: '', plan: expect.anything() as unknown });
    expect(await lambda({ Records }, ending(60_000))).toEqual({ batchItemFailures: [] });
    await expectExact(db);
    failing.client.destroy();
  });

  test('servers and functions take over from each other, and a call ends although a server keeps the lease', async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const consumer = new Consumer(streamParts(db));
    const running = started(consumer);
    await untilRead(db);
    for (let round = 0; round < 2; round += 1) {
      expect(await lambda({ Records: await written() })).toEqual({ batchItemFailures: [] });
      expect(consumer.status().owner).toBe(true);
      expect(await storedCells(db)).toEqual(await countedCells(db));
    }
    await running.stop();
    expect(await lambda({ Records: await written() })).toEqual({ batchItemFailures: [] });
    await expectExact(db);
    const next = started(new Consumer(streamParts(db)));
    await written();
    await untilRead(db);
    await next.stop();
    await expectExact(db);
  });

  test('records that were applied long before cost one read', async () => {
    await lambda({ Records: await written() });
    const old = (await eventRecords(db)).slice(-5).map((record) => {
      return { ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: Date.now() / 1_000 - 120 } };
    });
    const calls = recordCalls(db);
    expect(await lambda({ Records: old })).toEqual({ batchItemFailures: [] });
    expect(calls.commands.map(({ name }) => name)).toEqual(['GetItem']);
  });
});

test('counts of a function of an earlier release are refused until a recount, which makes them exact', async () => {
  const db = newDatabase();
  const lambda = functionOf(db);
  await ensureTables(db);
  const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  await writeAtRandom(db, collection, createChance(seed), 60);
  await lambda({});
  const { layout } = (await stateOf(db)) ?? {};
  const { derived: TableName } = db.tables;
  const Key = db.keys.streamState('cells');
  const { Item } = await send(newCall(db), 'get', { TableName, Key, ConsistentRead: true });
  const former = { ...Item, layout: `${layout} by records`, pages: null, shards: {} };
  await send(newCall(db), 'put', { TableName, Item: former });
  // It added to blocks apart from what servers had written.
  const addition = {
    UpdateExpression: 'ADD nk :one, xk :x, yk :y',
    ExpressionAttributeValues: { ':one': 1, ':x': 17_000_000, ':y': 52_000_000 },
  };
  await send(newCall(db), 'update', { TableName, Key: db.keys.cell('parks', 'u3'), ...addition });
  await expect(lambda({})).rejects.toThrow('run `cellport recount`');
  await recount(
    { ...streamParts(db), clock: withoutWaiting(systemClock), tables: openRecount(db, 'cells'), checkOnly: false },
    new AbortController().signal,
  );
  await writeAtRandom(db, collection, createChance(seed + 1), 30);
  expect(await lambda({})).toEqual({ batchItemFailures: [] });
  await expectExact(db);
  db.client.destroy();
});

test('a call purges from the CDN what it has applied, one after a failure what is left, and a cold one everything', async () => {
  const db = newDatabase();
  await ensureTables(db);
  const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  let fails = false;
  const cdn = await fakeCloudFront(() => (fails ? [503, 'ServiceUnavailable'] : undefined));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  const settings = { CELLPORT_CDN: 'cloudfront:E4TESTS', AWS_ENDPOINT_URL_CLOUDFRONT: cdn.endpoint };
  const withCdn = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: 'us-east-1', ...settings });
  const backend = () => ({ database: db, streams: createStreamsClient(engine()) });
  const lambda = createHandler(withCdn, backend, { leaseMs: LEASE_MS });
  const paths = () => cdn.asked.flatMap((each) => each.paths);
  expect(await lambda({}, ending(60_000))).toEqual({ batchItemFailures: [] });
  expect(paths()[0]).toBe('#cellport:all');
  const { length } = paths();

  await put(db, newMarkerItem(db, collection, { key: 'one', position: { lng: 13.4, lat: 52.5 } }, NOW));
  const [last] = (await eventRecords(db)).slice(-1);
  const Records = last === undefined ? [] : [last];
  if (runsAll) {
    fails = true;
    const failed = { batchItemFailures: [{ itemIdentifier: last?.dynamodb?.SequenceNumber }] };
    expect(await lambda({ Records }, ending(8_000))).toEqual(failed);
    expect(paths()).toHaveLength(length);
    fails = false;
  }
  expect(await lambda({ Records }, ending(60_000))).toEqual({ batchItemFailures: [] });
  // A record that is read by two calls is purged by both.
  const purged = ['#parks/', '#parks/u', '#parks/u3', '#parks/u33', '#parks/u33d'];
  expect(new Set(paths().slice(length))).toEqual(new Set(purged));
  const { length: purges } = cdn.asked;
  expect(await lambda({ Records }, ending(60_000))).toEqual({ batchItemFailures: [] });
  expect(cdn.asked).toHaveLength(purges);
  cdn.close();
  vi.unstubAllEnvs();
  db.client.destroy();
});
