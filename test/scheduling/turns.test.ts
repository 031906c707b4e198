import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { AnswerWriter } from '../../src/graphql/execution/json-text.js';
import { Scheduler } from '../../src/scheduling/scheduler.js';

const scheduler = new Scheduler(systemClock);
const { afterTurns, takeTurn } = scheduler;

/** Blocks the thread for some milliseconds. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Counts the turns of the event loop during some work. */
async function roundsDuring(something: Promise<unknown>): Promise<number> {
  let rounds = 0;
  let next = setImmediate(function count() {
    rounds += 1;
    next = setImmediate(count);
  });
  await something;
  clearImmediate(next);
  return rounds;
}

describe('steps that resume together', () => {
  test('let everything else run every few milliseconds, however short each of them is', async () => {
    const steps = Array.from({ length: 100 }, async () => {
      await takeTurn();
      work(3);
    });
    expect(await roundsDuring(Promise.all(steps))).toBeGreaterThanOrEqual(20);
  });

  test('share a round with the answers that are written', async () => {
    const answer = { data: { nodes: Array.from({ length: 2_000 }, (_, index) => ({ key: String(index) })) } };
    const writer = new AnswerWriter(scheduler, 1e9);
    const written = Array.from({ length: 200 }, async () => (await writer.write(answer)).length);
    expect(await roundsDuring(Promise.all(written))).toBeGreaterThanOrEqual(5);
    expect(new Set(await Promise.all(written))).toEqual(new Set([JSON.stringify(answer).length]));
  });

  test('are followed by the reads that they request, all at once', async () => {
    const asked: number[] = [];
    let read: number[] | undefined;
    const steps = Array.from({ length: 100 }, async (_, index) => {
      await takeTurn();
      work(1);
      if (asked.push(index) === 1) {
        afterTurns(() => {
          read = [...asked];
        });
      }
    });
    await Promise.all(steps);
    await takeTurn();
    expect(read).toHaveLength(100);
  });

  test('end with the reason of their signal', async () => {
    const stop = new AbortController();
    const step = takeTurn(stop.signal);
    stop.abort(new Error('too late'));
    await expect(step).rejects.toThrow('too late');
    await expect(takeTurn(stop.signal)).rejects.toThrow('too late');
  });
});
