import { expect, test } from 'vitest';

import { followsTogether, type Followed } from '../../../src/server/sources/follow.js';

/** Asks twice a second whether to follow `b`, which is free; `siblings` tells who follows the others of its table. */
function asking(siblings: Record<string, ReturnType<Followed['follower']>>) {
  const clock = { at: 0, now: () => clock.at };
  const others = () =>
    Object.entries(siblings).map(([key, follower]) => ({ collection: { key }, follower: () => follower }) as Followed);
  const mayFollow = followsTogether(clock, 'b', others);
  return {
    clock,
    /** After how many milliseconds it is followed. */
    followedAfter: () => {
      const began = clock.at;
      for (; !mayFollow(); clock.at += 500) expect(clock.at).toBeLessThan(began + 60_000);
      return clock.at - began;
    },
  };
}

test.each([
  ['it is the only one', {}, 0],
  ['this process follows another one', { a: 'this', c: 'other' }, 0],
  ['nobody follows any, and it is the first', { c: undefined }, 0],
  ['nobody follows any, and it is not the first', { a: undefined }, 10_000],
  ['another process follows one', { c: 'other' }, 10_000],
] as const)('a free source of a table: %s', (_, siblings, after) => {
  expect(asking(siblings).followedAfter()).toBe(after);
});

test('a source that others have followed meanwhile is left to them again', () => {
  const { clock, followedAfter } = asking({ a: 'other' });
  expect(followedAfter()).toBe(10_000);
  clock.at += 15_000;
  expect(followedAfter()).toBe(10_000);
});
