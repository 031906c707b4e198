import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { readConfig } from '../../src/config.js';
import { createHandler, type StreamEvent } from '../../src/lambda/stream.js';
import type { Collection } from '../../src/model/collection.js';
import { countDeadLetters } from '../../src/store/cell/dead-letters.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { createCollection } from '../../src/store/collection/collections.js';
import type { Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { newCall } from '../../src/store/request/meter.js';
import { send } from '../../src/store/request/send.js';
import { ensureTables } from '../../src/store/table/tables.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { readWholeStream } from '../../src/stream/consume/follower.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { recount } from '../../src/stream/recount/recount.js';
import { createChance } from '../stream/simulation/world.js';
import {
  countedCells,
  countedPlaces,
  started,
  storedCells,
  storedPlaces,
  streamParts,
  untilRead,
  withoutWaiting,
} from '../stream/support.js';
import { injectFaults } from '../support/faults.js';
import { variants } from '../support/rounds.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const config = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: 'us-east-1' });

// A process has one handler; those of many tests would pile up until Node warns.
const others = process.listeners('exit');
afterEach(() => {
  for (const listener of process.listeners('exit')) if (!others.includes(listener)) process.off('exit', listener);
});

type EventRecord = StreamEvent['Records'][number];

/** Records of the stream in the form in which an event source mapping delivers them. */
async function eventRecords(db: Database): Promise<EventRecord[]> {
  const { Table } = await db.client.send(new DescribeTableCommand({ TableName: db.tables.entities }));
  const records: StreamRecord[] = [];
  await readWholeStream(
    { ...streamParts(db), onRecord: (record) => records.push(record) },
    60_000,
    new AbortController().signal,
  );
  const event = records.map(({ sequence, event: eventName, at, keys, before, after }) => ({
    eventID: `id-${sequence}`,
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    eventSourceARN: Table?.LatestStreamArn ?? '',
    dynamodb: {
      ApproximateCreationDateTime: at / 1_000,
      Keys: keys,
      ...(before === undefined ? {} : { OldImage: before }),
      ...(after === undefined ? {} : { NewImage: after }),
      SequenceNumber: sequence,
      SizeBytes: 100,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
  }));
  // A Lambda event is JSON on the way.
  return JSON.parse(JSON.stringify(event)) as EventRecord[];
}

/** Writes markers at random, some of them many times, and some items that are not markers. */
async function writeAtRandom(db: Database, collection: Collection, seed: number, writes: number): Promise<void> {
  const chance = createChance(seed);
  const put = (item: Record<string, unknown>) =>
    send(db, 'put', { TableName: db.tables.entities, Item: item }, newCall());
  for (let n = 0; n < writes; n += 1) {
    const key = `m${chance.integer(1, 25)}`;
    const { pk, sk } = db.keys.marker(db.keys.scope(collection), key);
    const what = chance.next();
    if (what < 0.2) await send(db, 'delete', { TableName: db.tables.entities, Key: { pk, sk } }, newCall());
    else if (what < 0.25) await put({ pk, sk: 'reading::2026-11-21T10:00:00.000Z', values: {} });
    else if (what < 0.3) await put({ pk, sk, lng: 'nowhere' });
    else {
      const near = chance.happens(0.5);
      const lng = near ? 16.9 + chance.next() / 10 : chance.pick([180, -180, chance.next() * 360 - 180]);
      const lat = near ? 52.4 + chance.next() / 10 : chance.next() * 180 - 90;
      const place = chance.pick([[], ['Poznań'], ['Poznań', 'A', '1'], ['Poznań', 'A', '2'], ['Berlin', 'A']]);
      await put({ ...newMarkerItem(db, collection, { key, position: { lng, lat }, place }, NOW) });
    }
  }
}

const pkOf = ({ dynamodb }: EventRecord) => String(dynamodb?.Keys?.['pk']?.['S']);

/** The records split into this many shards: those of one item in one shard, in order. */
function sharded(records: readonly EventRecord[], shards: number): EventRecord[][] {
  const all: EventRecord[][] = Array.from({ length: shards }, () => []);
  for (const record of records) {
    const hash = Array.from(pkOf(record), (character) => character.charCodeAt(0)).reduce((sum, code) => sum + code, 0);
    all[hash % shards]?.push(record);
  }
  return all;
}

describe.each(variants(['readable', 'compact'] as const))('with %s keys', async (style) => {
  const db = await testDatabase(style, { stream: true });

  test('cells are exact when batches are delivered twice, in part, split differently, and concurrently from several shards', async () => {
    const collection = await createCollection(db, { key: 'parks', name: 'Parks', code: 'Pa' }, NOW, newCall());
    const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
    await writeAtRandom(db, collection, seed, 150);
    const records = await eventRecords(db);
    expect(records.length).toBeGreaterThan(100);
    // Each shard may be handled by another instance, and each retry, too.
    const handlers = Array.from({ length: 3 }, () => createHandler(config, () => db));
    const chance = createChance(seed);
    injectFaults(db, 'TransactWriteItems', ['answer lost', 'throttled', 'answer lost', 'answer lost', 'throttled']);
    await Promise.all(
      sharded(records, 4).map(async (shard) => {
        for (let done = 0; done < shard.length;) {
          const batch = shard.slice(done, done + chance.integer(1, 60));
          // The first half, like a bisected batch after a failure, or all of it, like after a lost response.
          if (chance.happens(0.3)) await chance.pick(handlers)({ Records: batch.slice(0, batch.length >> 1) });
          if (chance.happens(0.3)) await chance.pick(handlers)({ Records: batch });
          const { batchItemFailures } = await chance.pick(handlers)({ Records: batch });
          expect(batchItemFailures).toEqual([]);
          // Sometimes it restarts further back.
          done = chance.happens(0.2) ? Math.max(0, done - 10) : done + batch.length;
        }
      }),
    );
    const counted = await countedCells(db);
    expect(Object.keys(counted).length).toBeGreaterThan(20);
    const places = await countedPlaces(db);
    expect(Object.keys(places).length).toBeGreaterThan(3);
    expect({ seed, cells: await storedCells(db) }).toEqual({ seed, cells: counted });
    expect({ seed, places: await storedPlaces(db) }).toEqual({ seed, places });
    // Everything again, oldest first, as if the mapping had lost its progress.
    await createHandler(config, () => db)({ Records: records });
    expect({ seed, cells: await storedCells(db) }).toEqual({ seed, cells: counted });
    expect({ seed, places: await storedPlaces(db) }).toEqual({ seed, places });
    expect(await countDeadLetters(db, 'cells', newCall())).toBeGreaterThan(0);
  });
});

describe('a batch that fails in part', async () => {
  const db = await testDatabase('readable', { stream: true });

  test('reports the record from which to redeliver, and counts earlier records once', async () => {
    const collection = await createCollection(db, { key: 'parks', name: 'Parks' }, NOW, newCall());
    // Far apart, so that each has its own blocks and several transactions are needed.
    for (let n = 0; n < 60; n += 1) {
      const item = newMarkerItem(
        db,
        collection,
        { key: `m${n}`, position: { lng: n * 5 - 150, lat: (n % 9) * 15 - 60 } },
        NOW,
      );
      await send(db, 'put', { TableName: db.tables.entities, Item: item }, newCall());
    }
    const records = await eventRecords(db);
    let transactions = 0;
    const failing = createHandler(config, () => ({
      ...db,
      client: new Proxy(db.client, {
        get(client, name) {
          if (name !== 'send') return Reflect.get(client, name) as unknown;
          return (command: { input: { TransactItems?: unknown[] } }, ...rest: []) => {
            // The third transaction and all later ones fail.
            if (command.input.TransactItems !== undefined && (transactions += 1) > 2) throw new Error('for a test');
            return client.send(command as never, ...rest);
          };
        },
      }),
    }));
    const { batchItemFailures } = await failing({ Records: records }, { getRemainingTimeInMillis: () => 3_000 });
    const from = records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === batchItemFailures[0]?.itemIdentifier);
    expect(batchItemFailures).toHaveLength(1);
    expect(from).toBeGreaterThan(1);
    expect(await storedCells(db)).not.toEqual(await countedCells(db));

    const handle = createHandler(config, () => db);
    expect(await handle({ Records: records.slice(from) })).toEqual({ batchItemFailures: [] });
    expect(await storedCells(db)).toEqual(await countedCells(db));
  });
});

describe('the owner of the cells', async () => {
  test('is a server or a Lambda function: neither writes to the cells of the other', async () => {
    const ofLambda = newDatabase();
    await ensureTables(ofLambda);
    const handle = createHandler(config, () => ofLambda);
    expect(await handle({ Records: [] })).toEqual({ batchItemFailures: [] });
    const running = new Consumer(streamParts(ofLambda)).run(new AbortController().signal);
    await expect(running).rejects.toThrow('CELLPORT_CONSUMER=off');

    const ofServer = newDatabase();
    await ensureTables(ofServer);
    const stop = new AbortController();
    const consumer = new Consumer({ ...streamParts(ofServer), onOwnership: (owner) => owner && stop.abort() });
    await consumer.run(stop.signal);
    await expect(createHandler(config, () => ofServer)({ Records: [] })).rejects.toMatchObject({ name: 'OtherFormat' });
    ofLambda.client.destroy();
    ofServer.client.destroy();
  });
});

test('records of a new stream leave a gap, and those of the former stream do not', async () => {
  const db = newDatabase();
  await ensureTables(db);
  const handle = createHandler(config, () => db);
  const from = (enabled: string) => handle({ Records: [{ ...record, eventSourceARN: `${table}/stream/${enabled}` }] });
  const table = 'arn:aws:dynamodb:us-east-1:1:table/places';
  const record = { eventName: 'MODIFY', dynamodb: { SequenceNumber: '1', Keys: { pk: { S: 'a' }, sk: { S: 'b' } } } };
  const gap = async () => (await loadStreamState(db, 'cells', newCall()))?.gap ?? undefined;
  await from('2026-11-21T10:00:00.000');
  await from('2026-11-21T10:00:00.000');
  expect(await gap()).toBeUndefined();
  await from('2026-11-21T12:00:00.000');
  const reason = 'the stream of 2026-11-21T10:00:00.000 was replaced by that of 2026-11-21T12:00:00.000';
  expect(await gap()).toMatchObject({ reason });
  await from('2026-11-21T10:00:00.000');
  expect(await loadStreamState(db, 'cells', newCall())).toMatchObject({
    gap: { reason },
    stream: `${table}/stream/2026-11-21T12:00:00.000`,
  });
  db.client.destroy();
});

test('cells are handed over from a server to a Lambda function and back by changing one attribute, and stay exact', async () => {
  const db = newDatabase();
  await ensureTables(db);
  const collection = await createCollection(db, { key: 'parks', name: 'Parks' }, NOW, newCall());
  const layout = async (change: (layout: string) => string) => {
    const before = await loadStreamState(db, 'cells', newCall());
    await send(
      db,
      'update',
      {
        TableName: db.tables.derived,
        Key: db.keys.streamState('cells'),
        UpdateExpression: 'SET layout = :layout',
        ExpressionAttributeValues: { ':layout': change(before?.layout ?? '') },
      },
      newCall(),
    );
  };
  const consume = async (work: () => Promise<unknown>) => {
    const running = started(new Consumer(streamParts(db)));
    await work();
    await running.stop();
  };

  await writeAtRandom(db, collection, 1, 60);
  await consume(() => untilRead(db));
  expect(await storedCells(db)).toEqual(await countedCells(db));

  const before = await eventRecords(db);
  await layout((name) => `${name} by records`);
  await writeAtRandom(db, collection, 2, 60);
  // LATEST: only later writes.
  const handle = createHandler(config, () => db);
  expect(await handle({ Records: (await eventRecords(db)).slice(before.length) })).toEqual({ batchItemFailures: [] });
  expect(await storedCells(db)).toEqual(await countedCells(db));

  await layout((name) => name.replace(' by records', ''));
  await recount(
    { ...streamParts(db), clock: withoutWaiting(systemClock), tables: openRecount(db, 'cells'), checkOnly: false },
    new AbortController().signal,
  );
  await writeAtRandom(db, collection, 3, 60);
  await consume(() => untilRead(db));
  expect(await storedCells(db)).toEqual(await countedCells(db));
  expect((await loadStreamState(db, 'cells', newCall()))?.gap).toBeNull();
  db.client.destroy();
});

test('sequence numbers of any length sort as numbers', async () => {
  const { comparable } = await import('../../src/store/cell/apply-records.js');
  const aNumber = fc.bigInt({ min: 0n, max: 10n ** 40n - 1n });
  fc.assert(
    fc.property(aNumber, aNumber, (a, b) => {
      expect(comparable(String(a)) < comparable(String(b))).toBe(a < b);
    }),
  );
});
