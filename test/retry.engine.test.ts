import { describe, expect, test } from 'vitest';

import { pause, retry } from '../src/retry.js';

/** A clock that counts the pauses without waiting. */
function recordedClock(random = 0.5) {
  const slept: number[] = [];
  return { slept, random: () => random, sleep: (ms: number) => Promise.resolve(void slept.push(ms)) };
}

const failing = (times: number) => {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error(`call ${calls} failed`);
    return calls;
  };
};

describe('retry', () => {
  test('returns the result of the first successful call, without a pause if the first call succeeds', async () => {
    const clock = recordedClock();
    expect(await retry(failing(0), { attempts: 3, clock })).toBe(1);
    expect(clock.slept).toEqual([]);
    expect(await retry(failing(2), { attempts: 3, clock })).toBe(3);
    expect(clock.slept).toHaveLength(2);
  });

  test('throws the last failure when attempts run out', async () => {
    await expect(retry(failing(3), { attempts: 3, clock: recordedClock() })).rejects.toThrow('call 3 failed');
  });

  test('throws at once an error that is not retryable', async () => {
    const clock = recordedClock();
    await expect(retry(failing(1), { attempts: 3, clock, retryable: () => false })).rejects.toThrow('call 1 failed');
    expect(clock.slept).toEqual([]);
  });

  test('reports each failure that it retries, and no other', async () => {
    const reported: string[] = [];
    const onRetry = (error: unknown, attempt: number) => void reported.push(`${attempt}: ${String(error)}`);
    await retry(failing(2), { attempts: 2, clock: recordedClock(), onRetry }).catch(() => undefined);
    expect(reported).toEqual(['0: Error: call 1 failed']);
  });

  test('does not retry after its signal is aborted, and throws the failure', async () => {
    const stop = new AbortController();
    const work = () => {
      stop.abort(new Error('stopped'));
      return Promise.reject(new Error('failed'));
    };
    await expect(retry(work, { attempts: 9, clock: recordedClock(), signal: stop.signal })).rejects.toThrow('failed');
  });
});

describe('the pauses between retries', () => {
  test('are random up to a bound that doubles, never above the longest', async () => {
    const clock = recordedClock(0.75);
    for (const retries of [0, 1, 2, 3, 4]) await pause(retries, { firstMs: 100, longestMs: 1_000, clock });
    expect(clock.slept).toEqual([75, 150, 300, 600, 750]);
  });

  test('are as long as the failure asks for, if it does', async () => {
    const clock = recordedClock(0.75);
    const retryAfterMs = (error: unknown) => (String(error).includes('call 1') ? 3_000 : undefined);
    await retry(failing(2), { attempts: 3, firstMs: 100, clock, retryAfterMs });
    expect(clock.slept).toEqual([3_000, 150]);
  });

  test('may be zero', async () => {
    const clock = recordedClock(0);
    await pause(5, { clock });
    expect(clock.slept).toEqual([0]);
  });

  test('end at once when the signal is aborted, with its reason', async () => {
    const stop = new AbortController();
    const pausing = pause(100, { firstMs: 60_000, longestMs: 60_000, signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(pausing).rejects.toThrow('stopped');
    await expect(pause(0, { signal: stop.signal })).rejects.toThrow('stopped');
  });
});
