import { expect, test } from 'vitest';

import { awaitRecord } from '../../src/lambda/stream.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { firstState } from '../../src/stream/state.js';

const clock = { now: () => 1_000_000 };
const record = (sequence: string): StreamRecord => {
  return { sequence, at: 1_795_932_600_000, event: 'INSERT', keys: {}, before: undefined, after: undefined };
};
const stateAfter = (shards: Record<string, string>, endAt: number | null = null) => {
  const progress = Object.entries(shards).map(([id, after]) => [id, { after, since: 0 }] as const);
  return { ...firstState('stream', 0), shards: Object.fromEntries(progress), endAt };
};

test('a record is applied once the shard that it was read from is, whatever others have', () => {
  const { onRecord, isApplied } = awaitRecord(record('900'), clock);
  expect(isApplied(stateAfter({ a: '1000' }))).toBe(false);
  onRecord(record('899'), 'a');
  onRecord(record('900'), 'b');
  expect(isApplied(stateAfter({ a: '1000', b: '899' }))).toBe(false);
  // As numbers: sequence numbers have any length.
  expect(isApplied(stateAfter({ a: '1000', b: '1100' }))).toBe(true);
});

test('a record that another process had read is applied once the stream was read to its end since, as is everything else', () => {
  for (const awaited of [record('900'), undefined]) {
    const { isApplied } = awaitRecord(awaited, clock);
    expect(isApplied(stateAfter({}), undefined)).toBe(false);
    // It may not have appeared for other readers yet.
    expect(isApplied(stateAfter({}), clock.now())).toBe(false);
    expect(isApplied(stateAfter({}), clock.now() + 1_000)).toBe(true);
  }
});

test('a record is applied if everything was, long after it was written', () => {
  const { isApplied } = awaitRecord(record('900'), clock);
  expect(isApplied(stateAfter({}, record('900').at + 60_000))).toBe(false);
  expect(isApplied(stateAfter({}, record('900').at + 120_000))).toBe(true);
  expect(awaitRecord(undefined, clock).isApplied(stateAfter({}, 2e12))).toBe(false);
  expect(awaitRecord({ sequence: '900', at: 0 }, clock).isApplied(stateAfter({}, 2e12))).toBe(false);
});
