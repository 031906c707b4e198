import { expect, test } from 'vitest';

import { createServerClock, elapsedSince, momentOf, systemClock, wallAt, type Clock } from '../src/clock.js';
import { randomFrom } from './support/random.js';

const NOON = Date.parse('2026-11-28T12:00:00Z');

/** A machine whose clock is ahead of the server's, which both advance by hand. */
function machine(aheadMs: number) {
  const world = { time: NOON, aheadMs, sleptMs: 0 };
  const own: Clock = {
    ...systemClock,
    now: () => world.time - NOON - world.sleptMs,
    wall: () => world.time + world.aheadMs,
  };
  const clock = createServerClock(own);
  /** A request, whose answer is made somewhere on the way. */
  const ask = (thereMs: number, backMs: number) => {
    const began = clock.now();
    world.time += thereMs;
    const date = Math.floor(world.time / 1_000) * 1_000;
    world.time += backMs;
    clock.answered(date, clock.now() - began);
  };
  return { world, clock, ask, error: () => clock.wall() - world.time };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 1_440 * MINUTE;
const APART = [0, 0.4, -0.4, 5, -5, 300, -300, 86_400, -86_400].map((seconds) => seconds * SECOND);

test.each(APART)(
  'a clock that is %i ms ahead is right within a second at once, and soon to a round trip',
  (aheadMs) => {
    const random = randomFrom(20_261_128);
    for (let run = 0; run < 50; run += 1) {
      const { world, clock, ask, error } = machine(aheadMs);
      world.time += Math.floor(random() * SECOND);
      ask(20, 30);
      expect(Math.abs(error())).toBeLessThanOrEqual(SECOND + 50);
      // Never so early that something old would be taken for young, unless it was nearly right before.
      if (Math.abs(aheadMs) > SECOND) expect(error()).toBeGreaterThanOrEqual(0);
      for (let asked = 0; asked < 200; asked += 1) {
        world.time += Math.floor(random() * 300);
        ask(Math.floor(random() * 10), Math.floor(random() * 10));
      }
      expect(Math.abs(error())).toBeLessThanOrEqual(60);
      expect(clock.machineAhead()).toBeGreaterThanOrEqual(aheadMs - 60);
      expect(clock.machineAhead()).toBeLessThanOrEqual(aheadMs + 60);
    }
  },
);

test('a clock that agrees with the answers is left alone', () => {
  const { clock, ask, error, world } = machine(0);
  for (let asked = 0; asked < 500; asked += 1) {
    world.time += 137;
    ask(asked % 7, asked % 11);
    expect(error()).toBe(0);
  }
  expect(clock.machineAhead()).toBe(0);
});

test.each([DAY, -DAY, 5 * SECOND, -5 * SECOND])(
  'a clock that is set by %i ms is right again after one answer',
  (by) => {
    const { world, ask, error } = machine(0);
    ask(5, 5);
    world.aheadMs = by;
    world.time += 700;
    ask(5, 5);
    expect(Math.abs(error())).toBeLessThanOrEqual(SECOND + 10);
    world.aheadMs = 0;
    ask(5, 5);
    expect(Math.abs(error())).toBeLessThanOrEqual(SECOND + 10);
  },
);

test('whatever happens to the clocks of a machine, the time is within the bounds, which one answer makes close', () => {
  const random = randomFrom(29);
  const { world, clock, ask } = machine(DAY);
  expect(clock.bounds()).toMatchObject({ latest: Infinity });
  for (let step = 0; step < 3_000; step += 1) {
    world.time += Math.floor(random() * SECOND);
    if (random() < 0.1) world.aheadMs = Math.floor((random() - 0.5) * DAY);
    else if (random() < 0.4) {
      const took = Math.floor(random() * SECOND);
      ask(took, 3);
      const { earliest, latest } = clock.bounds();
      expect(latest - earliest).toBeLessThanOrEqual(SECOND + took + 3);
      // The machine sleeps, but its clock goes on.
      if (random() < 0.2) {
        world.sleptMs += MINUTE;
        world.time += MINUTE;
        expect(clock.bounds().latest).toBeGreaterThanOrEqual(world.time);
        ask(took, 3);
      }
    }
    const { earliest, latest } = clock.bounds();
    expect(world.time).toBeGreaterThanOrEqual(earliest);
    expect(world.time).toBeLessThanOrEqual(latest);
  }
});

test('without dates the clock is the own one, which is known', () => {
  const { clock, error } = machine(5 * SECOND);
  expect(clock.machineAhead()).toBeUndefined();
  clock.answered(Number.NaN, 10);
  expect(clock.machineAhead()).toBeNull();
  expect(error()).toBe(5 * SECOND);
});

test('time has passed even if the clock is set back or the machine sleeps; a moment keeps its place', () => {
  const { world, clock, ask } = machine(0);
  const before = momentOf(clock);
  world.aheadMs = -DAY;
  world.time += 20 * SECOND;
  expect(elapsedSince(before, clock)).toBe(20 * SECOND);
  world.aheadMs = 0;
  world.time += MINUTE;
  world.sleptMs = MINUTE;
  expect(elapsedSince(before, clock)).toBe(MINUTE + 20 * SECOND);

  const began = clock.now();
  const at = world.time;
  world.aheadMs = DAY;
  ask(5, 5);
  expect(Math.abs(wallAt(began, clock) - at)).toBeLessThanOrEqual(SECOND + 10);
});
