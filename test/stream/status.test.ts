import { expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';
import { silentLog } from '../../src/log.js';
import type { PublishedItems } from '../../src/store/page/recent-writes.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { runsAll } from '../support/rounds.js';
import { DerivedModel } from './simulation/derived-model.js';
import { Process, type Ports } from './simulation/process.js';
import { TableModel } from './simulation/table-model.js';
import { World } from './simulation/world.js';

const keys = createKeyspace('readable');
const image = (lng: number, lat: number) => ({ lng: { N: String(lng) }, lat: { N: String(lat) } });
const NO_FAULTS = { refused: 0, answerLost: 0, slowestMs: 5, skewMs: 0 };

function fleet() {
  const world = new World(1);
  const table = new TableModel(world);
  table.faulty = false;
  const derived = new DerivedModel();
  const start = (
    name: string,
    change: (ports: Ports) => Partial<ConstructorParameters<typeof Consumer>[0]> = () => ({}),
  ) => {
    const process = new Process(world, NO_FAULTS, name);
    const ports = process.ports(table, derived);
    const clock = process.clock();
    const consumer = new Consumer({
      ...ports,
      pages: undefined,
      days: undefined,
      clock,
      keys,
      log: silentLog,
      self: name,
      since: () => Promise.resolve(0),
      ...change(ports),
    });
    const running = consumer.run(process.stop.signal);
    return { process, consumer, running, clock };
  };
  const put = (key: string, lng: number, lat: number) => {
    const { pk, sk } = keys.marker('parks', key);
    table.write(pk, sk, image(lng, lat));
  };
  return { world, table, derived, start, put };
}

test('a server beside the owner does not say that counts include a write before they do', async () => {
  const { world, derived, start, put } = fleet();
  let throttled = false;
  // While DynamoDB throttles, no block can be written.
  const slow = (ports: Ports) => ({
    cells: {
      ...ports.cells,
      write: async (...args: Parameters<Ports['cells']['write']>) => {
        if (throttled) throw new Error('throttled');
        return ports.cells.write(...args);
      },
    },
  });
  const owner = start('owner', slow);
  await world.run(() => owner.consumer.status().behindMs === 0, 5_000);
  const other = start('other');
  await world.run(() => false, 10_000);
  throttled = true;
  put('m1', 10, 50);
  const written = world.now;
  let worst = 0;
  await world.run(() => {
    const { behindMs, owner: owns } = other.consumer.status();
    // `caughtUp` of this write resolves once completeAt >= when it is in the stream.
    if (!owns && behindMs !== undefined) worst = Math.max(worst, world.now - behindMs - written);
    return false;
  }, 8_000);
  expect(derived.blocks.size).toBe(0);
  expect(worst).toBeLessThanOrEqual(0);
});

test('a server beside an owner whose batches are always late knows how late', async () => {
  const { world, start, put } = fleet();
  const owner = start('owner', (ports) => ({
    cells: {
      ...ports.cells,
      async write(...args: Parameters<Ports['cells']['write']>) {
        await owner.clock.sleep(4_000);
        return ports.cells.write(...args);
      },
    },
  }));
  await world.run(() => owner.consumer.status().behindMs === 0, 5_000);
  const other = start('other');
  let n = 0;
  const late: number[] = [];
  await world.run(() => {
    if (world.now > 500 * n) put(`m${(n += 1)}`, n % 90, 50);
    const [{ behindMs: own = Infinity }, { behindMs, owner: owns }] = [
      owner.consumer.status(),
      other.consumer.status(),
    ];
    expect(owns).toBe(false);
    if (world.now > 20_000) late.push((behindMs ?? Infinity) - own);
    return false;
  }, 60_000);
  owner.process.kill();
  other.process.kill();
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late)).toBeLessThan(12_000);
});

test('an owner whose machine has slept does not say that it has read everything', async () => {
  const { world, start, put } = fleet();
  // A machine that sleeps: its monotonic clock (CLOCK_MONOTONIC) and its timers stand still, its wall clock goes on.
  let slept = 0;
  const owner = start('owner');
  // The options were spread already, so the clock is changed in place.
  const { clock } = owner;
  const awake = clock.now.bind(clock);
  Object.assign(clock, { now: () => awake() - slept });
  await world.run(() => owner.consumer.status().behindMs === 0, 5_000);
  const other = start('other');
  await world.run(() => false, 3_000);
  const pausedAt = world.now;
  owner.process.pauseFor(300_000);
  await world.run(() => other.consumer.status().owner, 60_000);
  put('m1', 10, 50);
  await world.run(() => world.now > 290_000, 400_000);
  // It wakes.
  slept = world.now - pausedAt;
  const { owner: owns, behindMs } = owner.consumer.status();
  owner.process.kill();
  other.process.kill();
  expect(owns && behindMs !== undefined && behindMs < 2_000).toBe(false);
});

test('an owner that reads more slowly than records arrive does not say that it has read everything', async () => {
  const { world, table, derived, start, put } = fleet();
  const owner = start('owner');
  await world.run(() => owner.consumer.status().behindMs === 0, 20_000);
  // A read of the simulated stream gives six records at most, and takes five milliseconds on average.
  let writes = 0;
  const write = () => {
    for (let n = 0; n < 10; n++) put(`m${n}`, n, 50 + ((writes % 7) + 1) / 10);
    writes += 1;
    if (writes < 1_000) world.schedule(10, write);
  };
  write();
  const late: number[] = [];
  let wasBehind = 0;
  while (writes < 1_000 || (derived.state?.records ?? 0) < table.history.length) {
    await world.run(() => false, 100);
    const { behindMs = Infinity } = owner.consumer.status();
    const next = table.writtenAt[derived.state?.records ?? 0] ?? Infinity;
    wasBehind = Math.max(wasBehind, world.now - next);
    late.push(world.now - behindMs - next);
  }
  owner.process.kill();
  expect(wasBehind).toBeGreaterThan(5_000);
  // What it says is right to within the second that a record names, and another one.
  expect(Math.max(...late)).toBeLessThan(2_100);
});

/** Each moves 200 times. */
const MOVING = runsAll ? 40 : 10;

test('counts below zero are reported as a gap also while markers keep moving; their names do not accumulate', async () => {
  const { world, derived, start, put } = fleet();
  const reads: number[] = [];
  const watched = (ports: Ports) => ({
    cells: {
      ...ports.cells,
      read: (names: Parameters<Ports['cells']['read']>[0], consistent: boolean) => {
        reads.push(names.length);
        return ports.cells.read(names, consistent);
      },
    },
  });
  for (let n = 0; n < MOVING; n++) put(`m${n}`, n, 50);
  const owner = start('owner');
  await world.run(() => owner.consumer.status().behindMs === 0 && (derived.state?.records ?? 0) >= MOVING, 20_000);
  owner.process.kill();
  // The counts are lost, so each marker that moves is subtracted from where it was never counted.
  derived.blocks.clear();
  const next = start('next', watched);
  await world.run(() => next.consumer.status().owner, 60_000);
  let moves = 0;
  const move = () => {
    for (let n = 0; n < MOVING; n++) put(`m${n}`, n, 50 + ((moves % 7) + 1) / 10);
    moves += 1;
    if (moves < 200) world.schedule(500, move);
  };
  move();
  await world.run(() => next.consumer.status().gap !== null, 95_000);
  const { gap, countsExact } = next.consumer.status();
  await world.run(() => moves >= 200, 100_000);
  await world.run(() => false, 2_000);
  reads.length = 0;
  // At rest, those that are remembered are read again, 20 at a time.
  await world.run(() => false, 200_000);
  const remembered = reads.reduce((sum, names) => sum + names, 0);
  next.process.stop.abort();
  expect({ gap: gap === null, countsExact }).toEqual({ gap: false, countsExact: false });
  expect(remembered).toBeLessThanOrEqual(25 * MOVING);
});

test('a state tells where what was published is for a minute after pages include it', async () => {
  const { world, derived, start, put } = fleet();
  const owner = start('owner', ({ pages, cells }) => ({
    pages,
    cells: {
      ...cells,
      async write(...args: Parameters<Ports['cells']['write']>) {
        await owner.clock.sleep(2_000);
        return cells.write(...args);
      },
    },
  }));
  await world.run(() => owner.consumer.status().behindMs === 0, 5_000);
  let n = 0;
  await world.run(() => {
    if (world.now > 500 * n) put(`m${(n += 1)}`, n % 90, 50);
    return false;
  }, 20_000);
  const counted = derived.recent.reduce((items, { sums }) => items + sums.length, 0);
  const listed = JSON.parse(derived.state?.published?.items ?? '') as PublishedItems;
  expect(Object.keys(listed)).toEqual(['parks']);
  expect(counted).toBeGreaterThan(listed['parks']?.length ?? Infinity);
  await world.run(() => false, 10_000);
  const { endAt = 0 } = derived.state?.published ?? {};
  await world.run(() => (derived.state?.endAt ?? 0) >= endAt + 59_000, 100_000);
  expect(derived.state?.published).toBeTruthy();
  await world.run(() => (derived.state?.endAt ?? 0) >= endAt + 62_000, 10_000);
  expect(derived.state?.published).toBeNull();
  owner.process.kill();
});
