import { expect, test } from 'vitest';

import { reachedBy, type Followed } from '../../../src/stream/consume/follower.js';
import { firstState } from '../../../src/stream/state.js';

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
