import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';

import { pointsAroundCities } from '../../../bench/rig/points.js';
import { Flow } from '../../../bench/scale/flows.js';
import { derivedLine } from '../../../bench/scale/lines.js';
import { missesOf } from '../../../bench/scale/lru.js';
import { planMaps } from '../../../bench/scale/maps.js';
import { Study } from '../../../bench/scale/study.js';
import { vehicleWrites } from '../../../bench/scale/vehicles.js';
import { citiesByPopulation, visitedCities, worldOf } from '../../../bench/scale/world.js';
import { derivedWrites } from '../../../src/capacity/derived-writes.js';
import { Distribution } from '../../../src/capacity/distribution.js';
import { cellRange, center, encode } from '../../../src/geo/geohash.js';
import { randomFrom } from '../../support/random.js';
import { someOf } from '../../support/rounds.js';

const PAGE = { markers: 20, bytes: 900 };
const LAYOUT = { prefixLength: 2, writeShards: 2, entryBytes: 160 };
const cities = citiesByPopulation();

test('the streamed world has the same markers in each cell as a scan of the points finds', () => {
  const world = worldOf(1_000_000, 7, 2_000);
  const counts = new Map<string, number>();
  for (const { position } of pointsAroundCities(2_000, 7)) {
    const cell = encode(position, 5);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  expect(world.stretches).toHaveLength(counts.size);
  for (const [cell, count] of counts) expect(world.within(cellRange(cell))).toBeCloseTo(500 * count);
});

test('all maps are visited: shares add up to one, and the largest city gets twice the share of the second', () => {
  const visited = visitedCities(cities, 7);
  expect(visited.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect((visited[0]?.share ?? 0) / (visited[1]?.share ?? 1)).toBeCloseTo(2);
});

test('a flow over a day equals the reads of all maps of that day', () => {
  const entry = fc.record({
    lng: fc.integer({ min: -180, max: 180 }),
    at: fc.nat({ max: 4 }),
    units: fc.nat({ max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const flow = new Flow(5);
      const expected = new Float64Array(5);
      for (const { lng, at, units } of entries) {
        flow.add(lng, at, units);
        expected[at] = (expected[at] ?? 0) + 3 * units;
      }
      const mean = new Float64Array(5);
      for (let step = 0; step < 96; step++)
        flow.at(step * 900, 3, undefined).forEach((value, at) => (mean[at] = (mean[at] ?? 0) + value / 96));
      expected.forEach((value, at) => expect(mean[at]).toBeCloseTo(value, 6));
    }),
    { numRuns: someOf(50) },
  );
});

test('the modeled cache misses about as often as a real one', () => {
  const kinds = [
    { count: 200, bytes: 10, asked: 0.5, dropped: 0 },
    { count: 50, bytes: 40, asked: 1, dropped: 0.25 },
    { count: 1, bytes: 5_000, asked: 3, dropped: 0 },
  ];
  const capacity = 2_000;
  const random = randomFrom(7);
  const cache = new LRUCache<string, true>({ maxSize: capacity });
  const events = kinds.flatMap((kind, of) =>
    Array.from({ length: kind.count }, (_, n) => ({ name: `${of} ${n}`, of, ...kind })),
  );
  const rates = events.map(({ asked, dropped }) => asked + dropped);
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  const missed = kinds.map(() => ({ of: 0, misses: 0 }));
  for (let n = 0; n < 200_000; n++) {
    let left = random() * total;
    const at = rates.findIndex((rate) => (left -= rate) < 0);
    const event = events[at];
    if (!event) continue;
    if (random() * (event.asked + event.dropped) < event.dropped) {
      cache.delete(event.name);
      continue;
    }
    const tally = missed[event.of]!;
    tally.of += 1;
    if (cache.get(event.name)) continue;
    tally.misses += 1;
    cache.set(event.name, true, { size: event.bytes });
  }
  missesOf(kinds, capacity).forEach((part, of) => {
    const { misses, of: all } = missed[of]!;
    expect(Math.abs(part - misses / all)).toBeLessThan(0.03);
  });
});

test("vehicles in one city write what the consumer's model predicts", () => {
  const world = new Distribution([{ ...cellRange('u3k7x'), markers: 40_000 }]);
  const derived = derivedLine(world, PAGE);
  const writes = vehicleWrites([center('u3k7x')], derived, PAGE, LAYOUT, 300);
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  expect(sum(writes.derived)).toBeCloseTo(derivedWrites(world, 10_000, PAGE));
  // One unit per item; an index entry is deleted and put, on either shard.
  expect([writes.entity, sum(writes.index), writes.index.length]).toEqual([10_000, 20_000, 2]);
});

test('planned maps read all of their parts, and replaying a day gives the same result each time', () => {
  const world = worldOf(1e8, 7, 5_000);
  const visited = visitedCities(cities, 7).slice(0, 12);
  for (const map of planMaps(world, derivedLine(world, PAGE), PAGE, LAYOUT, visited)) {
    expect(map.pages.length + map.blocks.length).toBeGreaterThan(0);
    if (map.index) expect(map.index.areas.reduce((sum, [, part]) => sum + part, 0)).toBeCloseTo(1);
  }
  const bytes = { item: 300, entry: 160, page: PAGE };
  const replayed = () =>
    new Study(world, bytes, cities, visited).days({
      fleet: { servers: 100, caches: 'consumer' },
      source: 'index',
      citiesWithVehicles: 1,
    });
  const [first, second] = replayed();
  expect(replayed()).toEqual([first, second]);
  // A new table throttles 10,000 writes a second until its partitions have been split, and not any more the day after.
  expect(first?.throttled.write).toBeGreaterThan(0);
  expect(second?.throttled.write).toBe(0);
});
