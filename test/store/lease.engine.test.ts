import { expect, onTestFinished, test } from 'vitest';

import type { Clock } from '../../src/clock.js';
import { LeaseLost, takeLease, tryLease, whileLeased, type LeaseOptions } from '../../src/store/lease.js';
import { World } from '../stream/simulation/world.js';

interface Work {
  readonly version: number;
  readonly owner: string;
  readonly token?: string;
  readonly done: number;
}

/** A stored item and its contenders, with a clock that advances only when all of them wait. */
function world() {
  const time = new World(1);
  const clock: Clock = {
    now: () => time.now,
    wall: () => time.now,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        signal?.addEventListener('abort', wake);
        time.schedule(signal?.aborted === true ? 0 : ms, wake);
      }),
  };
  /** The result of some work, however long it takes. */
  async function finish<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const end = () => void (done = true);
    work.then(end, end);
    await new Promise(setImmediate);
    await time.run(() => done, 1_000_000);
    return work;
  }
  const stored: { item: Work | undefined; puts: number } = { item: undefined, puts: 0 };
  const put = async (next: Work) => {
    stored.puts += 1;
    if ((stored.item?.version ?? 0) !== next.version - 1) return false;
    stored.item = next;
    return true;
  };
  const contender = (self: string, more: Partial<LeaseOptions<Work>> = {}): LeaseOptions<Work> => ({
    clock,
    self,
    leaseMs: 10_000,
    ownerIsGone: () => false,
    store: { load: async () => stored.item, put },
    prepare: (found) => found ?? { version: 0, owner: '', done: 0 },
    ...more,
  });
  return { stored, put, contender, clock, finish };
}

const never = new AbortController().signal;

test('a lease is held by one process at a time, and released when its work ends, for any reason', async () => {
  const { stored, contender } = world();
  for (const fails of [false, true]) {
    const lease = await takeLease(contender('a'), never);
    const work = whileLeased(
      lease,
      async () => {
        expect(await tryLease(contender('b'), {}, never)).toBeUndefined();
        if (fails) throw new Error('work failed');
      },
      never,
      { refresh: (item) => ({ ...item, done: item.done + 1 }) },
    );
    const failure = await work.catch((error: Error) => error.message);
    expect(failure).toBe(fails ? 'work failed' : undefined);
    expect(stored.item).toMatchObject({ owner: '', done: fails ? 2 : 1 });
  }
});

test('a lease that is renewed is not taken over however long it lasts; one that is not renewed is', async () => {
  const { stored, contender, clock, finish } = world();
  const lease = await takeLease(contender('a'), never);
  const begun = clock.now();
  const waiting = takeLease(contender('b'), never);
  await finish(whileLeased(lease, () => clock.sleep(100_000), never));
  expect((await finish(waiting)).current.owner).toBe('b');
  expect(clock.now() - begun).toBeLessThan(102_000);
  // b does not renew its lease.
  await finish(takeLease(contender('c'), never));
  expect(stored.item?.owner).toBe('c');
  expect(clock.now() - begun).toBeGreaterThan(109_000);
});

test('work is aborted, with the new owner’s name, when another process takes the lease by force', async () => {
  const { stored, contender, finish } = world();
  const lease = await takeLease(contender('a'), never);
  const work = whileLeased(
    lease,
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    never,
  );
  await takeLease(contender('b', { force: true }), never);
  const failure = await finish(work).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LeaseLost);
  expect(failure).toMatchObject({ message: 'the lease is now held by b' });
  expect(stored.item?.owner).toBe('b');
});

test('a lost lease is reported even if the work ends without an error', async () => {
  const { contender, finish } = world();
  const lease = await takeLease(contender('a'), never);
  const work = whileLeased(
    lease,
    (signal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    never,
  );
  await takeLease(contender('b', { force: true }), never);
  await expect(finish(work)).rejects.toThrow('the lease is now held by b');
});

test('the result of a write whose response is lost is known', async () => {
  const { stored, put, contender, finish } = world();
  stored.item = { version: 7, owner: '', token: 'another', done: 0 };
  let lost = 0;
  const store = {
    load: async () => stored.item,
    async put(next: Work) {
      const done = await put(next);
      if ((lost += 1) % 2 === 1) throw new Error('the answer is lost');
      return done;
    },
  };
  const lease = await finish(takeLease(contender('a', { store }), never));
  await finish(lease.update((item) => ({ ...item, done: 5 })));
  expect(stored.item).toEqual({ version: 9, owner: 'a', token: 'a/2', done: 5 });
  expect(lease.current).toEqual(stored.item);
  // A write of the same version by another process is not ours.
  stored.item = { version: 10, owner: 'b', token: 'b/1', done: 0 };
  await expect(finish(lease.update((item) => item))).rejects.toThrow(LeaseLost);
});

test('a process that cannot reach the store ends its work without waiting to release the lease', async () => {
  const { stored, put, contender } = world();
  let down = false;
  const store = {
    load: async () => stored.item,
    put: (next: Work) => (down ? Promise.reject(new Error('down')) : put(next)),
  };
  const lease = await takeLease(contender('a', { store }), never);
  await whileLeased(lease, async () => void (down = true), never);
  expect(stored.item?.owner).toBe('a');
});

test('dozens of writes may wait under a lease without a warning that listeners leak', async () => {
  const { contender, clock, finish } = world();
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const lease = await takeLease(contender('a'), never);
  const wait = (signal: AbortSignal) => Promise.all(Array.from({ length: 40 }, () => clock.sleep(10, signal)));
  await finish(whileLeased(lease, wait, new AbortController().signal));
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('a lease whose holder has been silent for its term is not held, even if its clock was set back or its machine slept', async () => {
  const { contender, clock, finish } = world();
  const machine = { aheadMs: 0, sleptMs: 0 };
  const own: Clock = {
    ...clock,
    now: () => clock.now() - machine.sleptMs,
    wall: () => clock.wall() + machine.aheadMs,
  };
  const lease = await takeLease(contender('a', { clock: own }), never);
  machine.aheadMs = -86_400_000;
  expect(lease.holds()).toBe(true);
  await finish(clock.sleep(10_000));
  expect(lease.holds()).toBe(false);
  machine.aheadMs = 0;
  await lease.update((item) => item);
  expect(lease.holds()).toBe(true);
  await finish(clock.sleep(10_000));
  machine.sleptMs = 10_000;
  expect(lease.holds()).toBe(false);
});
