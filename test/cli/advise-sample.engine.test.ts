import { expect, test } from 'vitest';

import { fromCollection } from '../../src/cli/advise/from-collection.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, createMarkers } from '../../src/store/marker/markers.js';
import { NOW } from '../map/fixture.js';
import { whileConsuming } from '../stream/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });

test.each([1, 16])('advice on a small live collection with %i write shards', async (writeShards) => {
  const key = `sharded-${writeShards}`;
  const collection = await testCollection(db, { key, name: key, prefixLength: 2, writeShards }, NOW);
  const markers = [-100, 2, 17, 140].map((lng, n) => ({ key: `k${n}`, position: { lng, lat: 48 } }));
  await whileConsuming(db, () => createMarkers(newCall(db), collection, markers, NOW));
  const { distribution, sample } = await fromCollection(newCall(db), key);
  expect(distribution.markers).toBe(4);
  expect(sample.length).toBeGreaterThan(0);
});

test('advice on a live collection with one marker at the edge of its cell', async () => {
  const key = 'edge';
  const collection = await testCollection(db, { key, name: key }, NOW);
  // The south-west corner of a cell of length 5: every place that is sampled comes after it.
  const marker = { key: 'k', position: { lng: 0.001, lat: 45.001 } };
  await whileConsuming(db, () => createMarker(newCall(db), collection, marker, NOW));
  const { sample } = await fromCollection(newCall(db), key);
  expect(sample.length).toBe(1);
});
