import { expect, test, vi } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { noConsumer } from '../../../src/server/consumer.js';
import { aging } from '../../../src/server/workers/worker.js';

test('what the primary process has told is as old as it was told, whenever it arrives', () => {
  let [now, wall] = [5_000, 1_000_000];
  const clocks = [
    vi.spyOn(systemClock, 'now').mockImplementation(() => now),
    vi.spyOn(systemClock, 'wall').mockImplementation(() => wall),
  ];
  const status = { ...noConsumer().status(), behindMs: 100 };
  const late = aging(status, wall - 25_000);
  const soon = aging(status, wall);
  expect([late.behindMs, soon.behindMs]).toEqual([25_100, 100]);
  now += 3_000;
  wall += 3_000;
  expect([late.behindMs, soon.behindMs]).toEqual([28_100, 3_100]);
  // Somebody sets the clock of the machine back.
  wall -= 3_600_000;
  expect([late.behindMs, soon.behindMs]).toEqual([3_100, 3_100]);
  expect(aging({ ...status, behindMs: undefined }, wall).behindMs).toBeUndefined();
  for (const clock of clocks) clock.mockRestore();
});
