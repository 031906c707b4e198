import { afterAll, expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { receiveLive, type Receiver } from '../../src/server/live.js';
import type { RecordBatch, StreamPort } from '../../src/stream/ports.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engine, testDatabase } from '../support/test-database.js';
import { markerRecord } from './records.js';
import { until } from './support.js';

const db = await testDatabase();
const streams = createStreamsClient(engine());
afterAll(() => streams.destroy());

const recordOf = (sequence: number) =>
  markerRecord(db.keys, { sequence: String(sequence), key: 'one', before: [sequence, 1], after: [sequence + 1, 1] });

/** A receiver of a stream whose answers the test gives, beside a consumer. */
function receive() {
  const answers: ((batch: RecordBatch) => void)[] = [];
  const port: StreamPort = {
    identify: async () => 'stream',
    listShards: async () => ({ shards: [{ id: 'shard', parent: undefined }], more: false }),
    openShard: async () => 'iterator',
    readRecords: () => new Promise((resolve) => answers.push(resolve)),
  };
  const told: string[] = [];
  const receiver: Receiver = {
    take: ({ sequence }) => void told.push(sequence),
    connected: () => void told.push('connected'),
    disconnected: () => void told.push('disconnected'),
  };
  const live = receiveLive({ database: db, streams }, undefined, silentLog, {
    take: () => undefined,
    connected: () => undefined,
    disconnected: () => undefined,
    isHeard: () => false,
    missed: () => undefined,
  });
  const { follow, feed, close } = live.receive('scope', port, receiver, () => true);
  const answer = (...sequences: number[]) => answers.shift()?.({ records: sequences.map(recordOf), next: 'iterator' });
  follow();
  return {
    told,
    feed,
    /** Gives empty answers until something is told. */
    untilTold: async (what: string) => {
      await until(() => {
        answer();
        return told.includes(what);
      }, 5);
    },
    answer: async (...sequences: number[]) => {
      await until(() => answers.length > 0, 5);
      answer(...sequences);
    },
    close: async () => {
      const stopped = Promise.all([close(), live.close()]);
      const answering = setInterval(answer, 5);
      await stopped;
      clearInterval(answering);
    },
  };
}

test('when the consumer is ahead of the follower that it replaces, all changes are told, in order', async () => {
  const { told, feed, untilTold, answer, close } = receive();
  await untilTold('connected');
  await answer(1);
  feed.onOwnership(true);
  feed.onRecord(recordOf(3));
  feed.onRecord(recordOf(4));
  await answer(2, 3);
  await untilTold('4');
  feed.onRecord(recordOf(5));
  expect(told.filter((one) => one !== 'connected')).toEqual(['1', '2', '3', '3', '4', '5']);
  await close();
});

test('a consumer that is far ahead of the follower ends subscriptions, which can begin again afterwards', async () => {
  const { told, feed, untilTold, answer, close } = receive();
  await untilTold('connected');
  told.length = 0;
  feed.onOwnership(true);
  for (let sequence = 10; sequence < 20_100; sequence += 1) feed.onRecord(recordOf(sequence));
  expect(told).toEqual(['disconnected']);
  await answer(2);
  await untilTold('20099');
  expect(told.slice(0, 3)).toEqual(['disconnected', '2', 'connected']);
  feed.onRecord(recordOf(30_000));
  expect(told.at(-1)).toBe('30000');
  await close();
});
