import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { reachedBy, type Followed } from '../../src/stream/consume/follower.js';
import type { StreamPort } from '../../src/stream/ports.js';
import { Shards } from '../../src/stream/source/shards.js';
import { firstState } from '../../src/stream/state.js';

const record = { sequence: '1', event: 'INSERT', at: 0, keys: {}, before: undefined, after: undefined };

/**
 * Whether a shard that was opened may have more at once after each of some answers, by their numbers of records, which
 * were made `at` a time and read at `wall`.
 */
async function mayHaveMore(answers: readonly number[], at = 0, wall = 1): Promise<boolean[]> {
  const port = {
    identify: () => Promise.resolve('stream'),
    listShards: () => Promise.resolve({ shards: [{ id: 'shard', parent: undefined }], more: false }),
  } as unknown as StreamPort;
  const source = { port, stream: 'stream', clock: systemClock, signal: new AbortController().signal };
  const shards = new Shards(source, firstState('stream', 0), false);
  await shards.refresh();
  return answers.map((count) => {
    const shard = shards.readable()[0]!;
    shards.opening(shard);
    const records: StreamRecord[] = Array.from({ length: count }, () => ({ ...record, at }));
    return shards.advance(shard, { records, next: 'iterator' }, wall, shard.iterator === undefined);
  });
}

test.each<[string, readonly number[], readonly boolean[]]>([
  ['the end is where several answers are empty', [0, 0, 0], [true, true, false]],
  ['so it is after records', [0, 7, 7, 0, 0, 0], [true, true, true, true, true, false]],
  ['at the end, a short answer has all there is', [0, 0, 0, 99, 1], [true, true, false, false, false]],
  ['a full one does not, but a short one after it', [0, 0, 0, 100, 1_000, 99], [true, true, false, true, true, false]],
])('%s', async (_, answers, expected) => {
  expect(await mayHaveMore(answers)).toEqual(expected);
});

test('at the end, a short answer of old records has not all there is, unless their times are full minutes', async () => {
  expect(await mayHaveMore([0, 0, 0, 7], 61_000, 64_000)).toEqual([true, true, false, true]);
  expect(await mayHaveMore([0, 0, 0, 7], 62_000, 64_000)).toEqual([true, true, false, false]);
  expect(await mayHaveMore([0, 0, 0, 7], 60_000, 119_000)).toEqual([true, true, false, false]);
});

const state = {
  ...firstState('stream', 0),
  shards: { a: { after: '100', since: 0 }, b: { after: '9', since: 0 } },
  endAt: 50_000,
};
const end = (endAt: number, read: Record<string, string>, since = 10_000): Followed => {
  return { since, endAt, read: new Map(Object.entries(read)) };
};

test('a state has everything up to the last end by which a follower had read nothing that it lacks', () => {
  expect(reachedBy(state, [])).toBe(50_000);
  const ends = [end(60_000, {}), end(61_000, { a: '99' }), end(62_000, { a: '100', b: '9' })];
  expect(reachedBy(state, ends)).toBe(62_000);
  // As numbers: sequence numbers have any length.
  expect(reachedBy(state, [...ends, end(63_000, { a: '100', b: '10' })])).toBe(62_000);
  expect(reachedBy(state, [...ends, end(63_000, { c: '1' })])).toBe(62_000);
  expect(reachedBy(state, [end(40_000, {})])).toBe(50_000);
});

test('a follower tells nothing about a state that was complete before it began, or never', () => {
  expect(reachedBy(state, [end(60_000, {}, 49_000)])).toBe(50_000);
  expect(reachedBy({ ...state, endAt: null }, [end(60_000, {})])).toBeNull();
});
