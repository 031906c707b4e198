import { expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { applyBatch } from '../../src/stream/apply.js';
import type { BlockName, Clock } from '../../src/stream/ports.js';
import { takeOwnership } from '../../src/stream/shared-state.js';
import { firstState } from '../../src/stream/state.js';
import { DerivedModel } from './simulation/derived-model.js';

const { signal } = new AbortController();

/** A process whose sleeps take no time but their own, on a machine that can be made to sleep. */
function machine() {
  let wall = 1e12;
  const clock: Clock = {
    // Does not know of the machine's sleep.
    now: () => 0,
    wall: () => wall,
    sleep: (ms) => Promise.resolve().then(() => void (wall += ms)),
    random: () => 0,
  };
  return { clock, sleep: (ms: number) => void (wall += ms) };
}

const changes = new Map([['parks', new Map([['u3', new Map([['k', { count: 1, sumLng: 2, sumLat: 3 }]])]])]]);

test('a process that slept in the middle of a batch writes no block before its next write of the state is stored', async () => {
  const { clock, sleep } = machine();
  const derived = new DerivedModel();
  const port = {
    load: () => Promise.resolve(derived.state),
    put: (next: Parameters<DerivedModel['putState']>[0]) => Promise.resolve(derived.putState(next)),
    setAside: () => Promise.resolve(),
  };
  const first = () => Promise.resolve(firstState('stream', clock.wall()));
  const lease = { port, clock, self: 'a', leaseMs: 10_000, ownerIsGone: () => false, first, onLook: () => undefined };
  const shared = await takeOwnership(lease, signal);

  let reads = 0;
  const writtenAfter: number[] = [];
  const cells = {
    read: async (names: readonly BlockName[]) => {
      reads += 1;
      if (reads === 1) sleep(25 * 3_600_000);
      // The heartbeat comes while it is trying.
      if (reads === 4) await shared.update((state) => state);
      return names.map((name) => derived.read(name));
    },
    write: (writes: readonly Parameters<DerivedModel['write']>[0][]) => {
      writtenAfter.push(reads);
      return Promise.resolve(writes.map((write) => derived.write(write)));
    },
  };
  const applying = { port: cells, clock, signal, log: silentLog, holds: () => shared.holds() };
  expect(await applyBatch(applying, 1, changes)).toEqual({ blocks: 1, suspects: [] });
  expect(writtenAfter).toEqual([4]);
});
