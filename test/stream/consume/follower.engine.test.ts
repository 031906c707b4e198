import { expect, test } from 'vitest';

import { newCall } from '../../../src/store/database.js';
import { send } from '../../../src/store/request/send.js';
import type { StreamRecord } from '../../../src/stream/change.js';
import { followStream, readWholeStream } from '../../../src/stream/consume/follower.js';
import { until } from '../../live/support.js';
import { testDatabase } from '../../support/test-database.js';
import { markerItem, streamParts } from '../support.js';

const db = await testDatabase('readable', { stream: true });
const put = (key: string) =>
  send(newCall(db), 'put', { TableName: db.tables.entities, Item: markerItem(db, 'parks', key, 1, 1) });

test('a follower reads everything written after its first onEnd, and nothing older', async () => {
  await put('old');
  const seen: string[] = [];
  const stop = new AbortController();
  let ends = 0;
  const following = followStream(
    { ...streamParts(db), onRecord: ({ keys }) => seen.push(String(keys['pk']?.['S'])) },
    { onEnd: () => (ends += 1) > 0, onLoss: (reason) => expect(reason).toBe('') },
    stop.signal,
  );
  await until(() => ends > 0);
  const expected = Array.from({ length: 50 }, (_, n) => `marker::parks::m${n}`);
  for (let n = 0; n < 50; n += 1) await put(`m${n}`);
  await until(() => seen.length >= 50);
  expect(seen).toEqual(expected);
  stop.abort();
  await following;
});

test('a follower ends when onEnd returns false', async () => {
  let ends = 0;
  await followStream(
    { ...streamParts(db), onRecord: () => undefined },
    { onEnd: () => (ends += 1) < 3, onLoss: () => undefined },
    new AbortController().signal,
  );
  expect(ends).toBe(3);
});

test('the whole stream can be read at any time, with the time since which it is complete', async () => {
  const seen: string[] = [];
  const options = {
    ...streamParts(db),
    onRecord: ({ keys }: StreamRecord) => void seen.push(String(keys['pk']?.['S'])),
  };
  const from = await readWholeStream(options, 60_000, new AbortController().signal);
  expect(seen).toEqual(['marker::parks::old', ...Array.from({ length: 50 }, (_, n) => `marker::parks::m${n}`)]);
  // Since the stream was enabled, which was less than a day ago.
  expect(from).toBeGreaterThan(Date.now() - 600_000);
  expect(from).toBeLessThan(Date.now());
  // Not within zero time.
  expect(await readWholeStream(options, 0, new AbortController().signal)).toBeUndefined();
});
