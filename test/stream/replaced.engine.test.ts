import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { recountDerived, startConsumer } from '../../src/server/consumer.js';
import { keepExact } from '../../src/server/exact-counts.js';
import { newCall } from '../../src/store/database.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { followStream } from '../../src/stream/consume/follower.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { until } from '../live/support.js';
import { recordCalls } from '../support/record-calls.js';
import { engine, testDatabase } from '../support/test-database.js';
import { countedCells, markerItem, storedCells, streamParts } from './support.js';

const db = await testDatabase('readable', { stream: true });
const calls = recordCalls(db);

const put = (...keys: readonly string[]) =>
  putInBulk(
    newCall(db),
    db.tables.entities,
    keys.map((key) => markerItem(db, 'parks', key, 16.9, 52.4)),
  );

async function switchStream(on: boolean): Promise<void> {
  await db.client.send(
    new UpdateTableCommand({
      TableName: db.tables.entities,
      StreamSpecification: {
        StreamEnabled: on,
        ...(on ? { StreamViewType: 'NEW_AND_OLD_IMAGES' } : {}),
      },
    }),
  );
}

test('disabling and enabling the stream leaves a gap at once; a recount counts the markers in between, and counts are never reported as exact before', async () => {
  const backend = { database: db, streams: createStreamsClient(engine()) };
  const cells = startConsumer(backend, silentLog);
  const exact = keepExact(
    () => cells.status(),
    (signal) => recountDerived(backend, silentLog, false, signal),
    silentLog,
  );
  await put('before');
  await until(() => cells.status().countsExact && (cells.status().behindMs ?? Infinity) < 1_000);

  await switchStream(false);
  const off = performance.now();
  const inexact = { seen: false, repaired: false };
  // Exact at a time after the stream was disabled, before a recount.
  let wrong = 0;
  const watching = setInterval(() => {
    const { countsExact, behindMs = Infinity } = cells.status();
    if (!countsExact) inexact.seen = true;
    else if (inexact.seen) inexact.repaired = true;
    else if (performance.now() - behindMs > off) wrong += 1;
  }, 5);
  await put('between 1', 'between 2');
  await until(() => inexact.seen);
  expect(cells.status().gap?.reason).toMatch(/was disabled/);
  await switchStream(true);
  await put('after');
  await until(() => inexact.repaired);
  clearInterval(watching);
  await put('later');
  await cells.caughtUp(new AbortController().signal);

  expect(wrong).toBe(0);
  expect(cells.status()).toMatchObject({ countsExact: true, gap: null });
  expect(await storedCells(db)).toEqual(await countedCells(db));
  expect((await storedCells(db))['parks/u']).toMatch(/^5 /);
  await exact.stop();
  await cells.stop();
});

test('a follower reports a loss when the stream is disabled and enabled, and continues with the new one', async () => {
  const seen = new Set<string>();
  const losses: string[] = [];
  const stop = new AbortController();
  let ends = 0;
  const following = followStream(
    { ...streamParts(db), onRecord: ({ keys }) => seen.add(String(keys['pk']?.['S'])) },
    { onEnd: () => (ends += 1) > 0, onLoss: (reason) => losses.push(reason) },
    stop.signal,
  );
  await until(() => ends > 0);
  await switchStream(false);
  await switchStream(true);
  await until(() => losses.length > 0);
  ends = 0;
  await until(() => ends > 0);
  await put('followed');
  await until(() => seen.has('marker::parks::followed'));
  expect(losses).toEqual([expect.stringMatching(/the stream .* was (disabled|replaced by .*)$/)]);
  stop.abort();
  await following;
});

test('the stream is identified once in ten seconds while its shards do not end', async () => {
  const before = calls.commands.length;
  const cells = startConsumer({ database: db, streams: createStreamsClient(engine()) }, silentLog);
  await until(() => cells.status().owner);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const described = calls.commands.slice(before).filter(({ name }) => name === 'DescribeTable');
  await cells.stop();
  // At the start, and with the first listing.
  expect(described).toHaveLength(2);
});
