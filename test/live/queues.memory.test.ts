import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { RecentEvents } from '../../src/live/history.js';
import { Queue } from '../../src/live/queue.js';
import { collectGarbage } from '../support/heap.js';

/** How many objects are still in memory. */
async function kept(refs: readonly WeakRef<object>[]): Promise<number> {
  await setImmediate();
  collectGarbage();
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

test('a queue whose reader is always one value behind keeps only what waits', async () => {
  const queue = new Queue<object>(() => undefined);
  const refs: WeakRef<object>[] = [];
  const push = () => {
    const value = {};
    refs.push(new WeakRef(value));
    queue.push(value, 1_000);
  };
  push();
  for (let n = 0; n < 1_000; n++) {
    push();
    await queue.next();
  }
  expect(await kept(refs)).toBeLessThan(5);
});

test('a buffer of recent events does not keep evicted ones, also if each is large', async () => {
  const recent = new RecentEvents(1024 * 1024);
  const refs: WeakRef<object>[] = [];
  for (let n = 0; n < 500; n++) {
    const image = { m: { S: 'x'.repeat(300_000) } };
    refs.push(new WeakRef(image));
    const event = { type: 'marker', scope: 's', key: 'k', at: n, sequence: `${n}`, image } as const;
    recent.add({
      ...event,
      before: undefined,
      after: undefined,
      createdAt: undefined,
      former: undefined,
      formerAt: undefined,
    });
  }
  expect(await kept(refs)).toBeLessThan(10);
  expect(recent.since(0)).not.toEqual([]);
});
