import { expect, test } from 'vitest';

import { MarkerCounts } from '../../src/access/marker-counts.js';

const START = 1_000_000;

function countsAt() {
  const time = { now: START };
  return { time, counts: new MarkerCounts(() => time.now) };
}

test('own writes count at once and only once, whichever of them the stored count has', () => {
  const { counts } = countsAt();
  expect(counts.of('parks', 100, START)).toBe(100);
  counts.changed('parks', 10);
  counts.changed('parks', -4);
  for (const stored of [100, 103, 110, 106, 96]) expect(counts.of('parks', stored, START)).toBe(106);
});

test('what others write counts as soon as the stored count cannot be explained by own writes', () => {
  const { counts } = countsAt();
  expect(counts.of('parks', 100, START)).toBe(100);
  counts.changed('parks', 10);
  expect(counts.of('parks', 130, START)).toBe(130);
  expect(counts.of('parks', 80, START)).toBe(90);
});

test('own writes are forgotten once the stored count is sure to have them, and no sooner', () => {
  const { time, counts } = countsAt();
  expect(counts.of('parks', 100, START)).toBe(100);
  counts.changed('parks', 10);
  // The consumer stands still.
  time.now += 60_000;
  expect(counts.of('parks', 100, START)).toBe(110);
  // It has caught up, and others have deleted what there was.
  expect(counts.of('parks', 50, time.now)).toBe(50);
});

test('writes of one second take the memory of one, and those of other collections are their own', () => {
  const { time, counts } = countsAt();
  for (const scope of ['parks', 'shops']) expect(counts.of(scope, 0, START)).toBe(0);
  for (let n = 0; n < 3_000; n++) {
    counts.changed('parks', n % 3 === 2 ? -1 : 1);
    time.now += 1;
  }
  expect(counts.of('parks', 0, START)).toBe(1_000);
  expect(counts.of('shops', 0, START)).toBe(0);
  // It may be that none of the deletions, or none of the creations, is counted yet.
  expect(counts.of('parks', 3_001, START)).toBe(2_001);
});
