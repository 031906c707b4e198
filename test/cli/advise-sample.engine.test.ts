import { expect, test } from 'vitest';

import { fromCollection } from '../../src/cli/advise/from-collection.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { newCall } from '../../src/store/request/meter.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { NOW } from '../map/fixture.js';
import { streamParts, untilRead } from '../stream/support.js';
import { testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });

test.each([1, 16])('advice on a small live collection with %i write shards', async (writeShards) => {
  const stop = new AbortController();
  const running = new Consumer(streamParts(db)).run(stop.signal);
  const key = `sharded-${writeShards}`;
  const collection = await createCollection(db, { key, name: key, prefixLength: 2, writeShards }, NOW, newCall());
  for (const [n, lng] of [-100, 2, 17, 140].entries())
    await createMarker(db, collection, { key: `k${n}`, position: { lng, lat: 48 } }, NOW, newCall());
  await untilRead(db);
  stop.abort();
  await running;
  const { distribution, sample } = await fromCollection(db, key, new AbortController().signal);
  expect(distribution.markers).toBe(4);
  expect(sample.length).toBeGreaterThan(0);
});

test('advice on a live collection with one marker at the edge of its cell', async () => {
  const stop = new AbortController();
  const running = new Consumer(streamParts(db)).run(stop.signal);
  const key = 'edge';
  const collection = await createCollection(db, { key, name: key }, NOW, newCall());
  // The south-west corner of a cell of length 5: every place that is sampled comes after it.
  await createMarker(db, collection, { key: 'k', position: { lng: 0.001, lat: 45.001 } }, NOW, newCall());
  await untilRead(db);
  stop.abort();
  await running;
  const { sample } = await fromCollection(db, key, new AbortController().signal);
  expect(sample.length).toBe(1);
});
