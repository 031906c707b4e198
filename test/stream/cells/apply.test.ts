import { expect, test } from 'vitest';

import type { Clock } from '../../../src/clock.js';
import { silentLog } from '../../../src/log.js';
import type { BlockName } from '../../../src/store/cell/blocks.js';
import { applyToCells } from '../../../src/stream/cells/apply.js';
import { CellMemory } from '../../../src/stream/cells/memory.js';
import { takeOwnership } from '../../../src/stream/consume/owners.js';
import { firstState } from '../../../src/stream/state.js';
import { DerivedModel } from '../simulation/derived-model.js';

const { signal } = new AbortController();

/** A process with a simulated clock, on a machine that can be suspended. */
function machine() {
  let wall = 1e12;
  const clock: Clock = {
    // Does not notice that the machine was suspended.
    now: () => 0,
    wall: () => wall,
    sleep: (ms) => Promise.resolve().then(() => void (wall += ms)),
    random: () => 0,
  };
  return { clock, sleep: (ms: number) => void (wall += ms) };
}

const changes = new Map([['parks', new Map([['u3', new Map([['k', { count: 1, sumLng: 2, sumLat: 3 }]])]])]]);

test('a process that was suspended during a batch writes no block before it renews its lease', async () => {
  const { clock, sleep } = machine();
  const derived = new DerivedModel();
  const state = {
    load: () => Promise.resolve(derived.state),
    put: (next: Parameters<DerivedModel['putState']>[0]) => Promise.resolve(derived.putState(next)),
    putDeadLetters: () => Promise.resolve(),
  };
  const first = () => Promise.resolve(firstState('stream', clock.wall()));
  const owning = { state, clock, self: 'a', leaseMs: 10_000, ownerIsGone: () => false, first };
  const lease = await takeOwnership(owning, signal);

  let reads = 0;
  const writtenAfter: number[] = [];
  const cells = {
    read: async (names: readonly BlockName[]) => {
      reads += 1;
      if (reads === 1) sleep(25 * 3_600_000);
      // The heartbeat happens while it is trying.
      if (reads === 4) await lease.update((current) => current);
      return names.map((name) => derived.read(name));
    },
    write: (writes: readonly Parameters<DerivedModel['write']>[0][]) => {
      writtenAfter.push(reads);
      return Promise.resolve(writes.map((write) => derived.write(write)));
    },
  };
  const applying = { port: cells, clock, signal, log: silentLog, holds: () => lease.holds() };
  expect(await applyToCells(applying, 1, changes)).toEqual({ blocks: 1, created: 1, suspects: [] });
  expect(writtenAfter).toEqual([4]);
});

test('a block is not read again before it is rewritten, unless another process has written it since', async () => {
  const { clock } = machine();
  const derived = new DerivedModel();
  const read: string[][] = [];
  const port = {
    read: (names: readonly BlockName[]) => {
      read.push(names.map(({ parent }) => parent));
      return Promise.resolve(names.map((name) => derived.read(name)));
    },
    write: (writes: readonly Parameters<DerivedModel['write']>[0][]) =>
      Promise.resolve(writes.map((write) => derived.write(write))),
  };
  const memory = new CellMemory();
  const apply = (batch: number, ...parents: string[]) => {
    read.length = 0;
    const deltas = new Map([['k', { count: 1, sumLng: 2, sumLat: 3 }]]);
    const added = new Map([['parks', new Map(parents.map((parent) => [parent, deltas]))]]);
    return applyToCells({ port, clock, signal, log: silentLog, holds: () => true, memory }, batch, added);
  };
  await apply(1, 'u', 'u3');
  expect(read).toEqual([['u', 'u3']]);
  await apply(2, 'u', 'u3', 'g7');
  expect(read).toEqual([['g7']]);

  const other = new Map([['z', { count: 9, sumLng: 0, sumLat: 0 }]]);
  const found = derived.read({ scope: 'parks', parent: 'u3' });
  const children = new Map([...found.children, ...other]);
  derived.write({ scope: 'parks', parent: 'u3', found, next: { batch: 3, children } });
  expect(await apply(4, 'u', 'u3')).toMatchObject({ blocks: 2 });
  expect(read).toEqual([['u3']]);
  expect(derived.read({ scope: 'parks', parent: 'u3' })).toEqual({
    batch: 4,
    children: new Map([
      ['k', { count: 3, sumLng: 6, sumLat: 9 }],
      ['z', { count: 9, sumLng: 0, sumLat: 0 }],
    ]),
  });
});

test('the first failed write already logs a warning', async () => {
  const { clock } = machine();
  const derived = new DerivedModel();
  const warned: unknown[] = [];
  let writes = 0;
  const port = {
    read: (names: readonly BlockName[]) => Promise.resolve(names.map((name) => derived.read(name))),
    write: (blocks: readonly Parameters<DerivedModel['write']>[0][]) => {
      writes += 1;
      return writes === 1
        ? Promise.reject(new Error('throttled'))
        : Promise.resolve(blocks.map((block) => derived.write(block)));
    },
  };
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) };
  expect(await applyToCells({ port, clock, signal, log, holds: () => true }, 1, changes)).toMatchObject({ blocks: 1 });
  expect(warned).toMatchObject([{ attempt: 0, err: { message: 'throttled' } }]);
});

test('the block memory evicts the least recently written blocks', () => {
  const memory = new CellMemory(2_000);
  const block = (batch: number) => ({ batch, children: new Map([['k', { count: batch, sumLng: 2, sumLat: 3 }]]) });
  for (const batch of [1, 2, 3, 4, 5, 6]) memory.put({ scope: 'parks', parent: `u${batch}` }, block(batch));
  expect(memory.take({ scope: 'parks', parent: 'u1' })).toBeUndefined();
  expect(memory.take({ scope: 'parks', parent: 'u6' })).toEqual(block(6));
  expect(memory.take({ scope: 'parks', parent: 'u6' })).toBeUndefined();
});
