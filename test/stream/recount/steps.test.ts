import { expect, test } from 'vitest';

import { createKeyspace } from '../../../src/keys/keyspace.js';
import { HeldMarkers } from '../../../src/stream/recount/held-markers.js';
import { counting } from '../../../src/stream/recount/scan.js';
import { markerRecord } from '../../live/records.js';

test('markers of one town are read and counted in steps, between which a server answers requests', async () => {
  const keys = createKeyspace('readable');
  const held = new HeldMarkers(keys);
  for (let n = 0; n < 5_000; n += 1) {
    const { after } = markerRecord(keys, { sequence: String(n), key: `m${n}`, after: [10 + n / 1e6, 50] });
    if (after) held.add('parks', after);
  }
  let turns = 0;
  let next = setImmediate(function look() {
    turns += 1;
    next = setImmediate(look);
  });
  const { partitions, count } = counting(held.take(), () => undefined);
  for await (const { entries } of partitions) expect(entries).toHaveLength(5_000);
  clearImmediate(next);
  expect(count()).toBe(5_000);
  expect(turns).toBeGreaterThan(8);
});
