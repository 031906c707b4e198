import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { StreamRecord } from '../../src/stream/change.js';
import { StreamFailure, type StreamPort } from '../../src/stream/ports.js';
import { startOf } from '../../src/stream/source/record-batches.js';
import { sharedStream } from '../../src/stream/source/shared-stream.js';
import { randomFrom } from '../support/random.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const clock = { now: () => Date.now() };
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A shard that is written at random; some answers are empty although records follow, and some calls fail. */
function writtenShard(seed: number, faults: number) {
  const random = randomFrom(seed);
  const written: { readonly sequence: string; readonly at: number }[] = [];
  let calls = 0;
  const port: StreamPort = {
    identify: () => Promise.resolve('stream'),
    listShards: () => Promise.resolve({ shards: [{ id: 'shard', parent: undefined }], more: false }),
    openShard: (_stream, _shard, start) =>
      Promise.resolve(
        String(start.type === 'after' ? written.findIndex((one) => one.sequence === start.sequence) + 1 : 0),
      ),
    async readRecords(iterator) {
      calls += 1;
      const from = Number(iterator);
      const found = random() < faults ? [] : written.slice(from, from + 3);
      const isFailing = random() < faults;
      await sleep(random() * 30);
      if (isFailing) throw new Error('throttled');
      const records = found.map(({ sequence, at }) => ({ sequence, at }) as StreamRecord);
      return { records, next: String(from + found.length) };
    },
  };
  return {
    port,
    random,
    written,
    calls: () => calls,
    write: () => written.push({ sequence: String(1_000 + written.length), at: Date.now() }),
  };
}

/** Reads until it is aborted, twice a second, and at once where there may be more; returns the sequence numbers. */
async function read(
  port: StreamPort,
  signal: AbortSignal,
  pauseMs: () => number,
  onAnswer: (last: number, begunAt: number) => void,
) {
  const found: string[] = [];
  let iterator: string | undefined;
  while (!signal.aborted) {
    try {
      const after = found.at(-1);
      iterator ??= await port.openShard('stream', 'shard', startOf({ id: 'shard', after, iterator }));
      const { records, next, begunAt = NaN } = await port.readRecords(iterator);
      found.push(...records.map(({ sequence }) => sequence));
      iterator = next;
      onAnswer(found.length, begunAt);
      if (records.length > 0) continue;
    } catch {
      iterator = undefined;
    }
    await sleep(pauseMs());
  }
  return found;
}

test.each([1, 2, 3])(
  'several readers each get every record once and in order, whatever fails (seed %i)',
  async (seed) => {
    const { port, random, written, write } = writtenShard(seed, 0.2);
    const stream = sharedStream(port, clock);
    const stopping = new AbortController();
    const readers = Array.from({ length: 4 }, () =>
      read(
        stream,
        stopping.signal,
        () => random() * 800,
        () => undefined,
      ),
    );
    for (let at = 0; at < 400; at++) {
      if (random() < 0.5) write();
      await vi.advanceTimersByTimeAsync(random() * 200);
    }
    await vi.advanceTimersByTimeAsync(20_000);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(2_000);
    for (const found of await Promise.all(readers)) expect(found).toEqual(written.map(({ sequence }) => sequence));
  },
);

test('readers at one record read as one, and no answer claims to be newer than it is', async () => {
  const { port, random, written, calls, write } = writtenShard(7, 0);
  const stream = sharedStream(port, clock);
  const stopping = new AbortController();
  const faults: string[] = [];
  const readers = Array.from({ length: 4 }, async (_, index) => {
    await sleep(index * 100);
    let last = 0;
    return read(
      stream,
      stopping.signal,
      () => 500,
      (count, begunAt) => {
        // An answer without records has reached the end of the shard.
        if (count === last && written.slice(count).some(({ at }) => at < begunAt)) faults.push('claims to be newer');
        last = count;
      },
    );
  });
  for (let at = 0; at < 100; at++) {
    if (random() < 0.2) write();
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(faults).toEqual([]);
  // Each alone would need one for every half second, and one more for each record.
  expect(calls()).toBeLessThan(2 * (100 + written.length));
  expect(calls()).toBeGreaterThan(90);
  stopping.abort();
  await vi.advanceTimersByTimeAsync(2_000);
  for (const found of await Promise.all(readers)) expect(found).toHaveLength(written.length);
});

test('an answer that fails is not given to others, who would give up', async () => {
  let calls = 0;
  const port = {
    openShard: () => Promise.resolve('iterator'),
    readRecords: () =>
      ++calls === 1 ? Promise.reject(new StreamFailure('expired')) : Promise.resolve({ records: [] }),
  } as unknown as StreamPort;
  const stream = sharedStream(port, clock);
  const open = () => stream.openShard('stream', 'shard', { type: 'oldest' });
  const [one, other] = [await open(), await open()];
  await expect(stream.readRecords(one)).rejects.toThrow('expired');
  expect(await stream.readRecords(other)).toMatchObject({ records: [] });
  expect(calls).toBe(2);
});

test('no reader gets an answer twice, since several empty ones tell that there is no more', async () => {
  let calls = 0;
  const port = {
    openShard: () => Promise.resolve('0'),
    readRecords: () => Promise.resolve({ records: [], next: String(++calls) }),
  } as unknown as StreamPort;
  const stream = sharedStream(port, clock);
  const readers = [0, 1].map(() => stream.openShard('stream', 'shard', { type: 'after', sequence: '7' }));
  const seen: number[] = [];
  for (const opening of readers) {
    let iterator = await opening;
    for (let at = 0; at < 3; at++) {
      iterator = (await stream.readRecords(iterator)).next ?? '';
      seen.push(calls);
    }
  }
  expect(seen).toEqual([1, 2, 3, 3, 4, 5]);
});
