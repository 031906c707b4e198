import { Counter, Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';

import type { HotKey, HotKeys } from '../../../src/http/metrics.js';
import { PARTITION_LIMITS } from '../../../src/model/dynamodb-limits.js';
import { countedBy, mergedMetrics, snapshotOf, type Snapshot } from '../../../src/server/workers/metrics.js';

const WEIGHT = PARTITION_LIMITS.readUnits / PARTITION_LIMITS.writeUnits;

const hot = (key: string, readUnits: number, writeUnits: number): HotKey => ({
  table: 't',
  index: null,
  key,
  names: key,
  bounds: null,
  readUnits,
  writeUnits,
  share: 0.5,
});

function snapshot(seconds: number, keys: readonly HotKey[], requests: number, behind: number): Promise<Snapshot> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'requests', help: 'Requests.', labelNames: ['code'], registers }).inc({ code: '' }, requests);
  new Gauge({ name: 'behind', help: 'Lag.', aggregator: 'max', registers }).set(behind);
  const sum = (of: (key: HotKey) => number) => keys.reduce((total, key) => total + of(key), 0);
  const units = { readUnits: sum((key) => key.readUnits), writeUnits: sum((key) => key.writeUnits) };
  const hotKeys: HotKeys = { seconds, ...units, missedAtMost: 0.1, keys };
  return snapshotOf({ hotKeys: () => hotKeys, registry: () => registry });
}

test('the metrics of several processes are added up, each hot key with all that it takes', async () => {
  const all = await Promise.all([
    snapshot(60, [hot('a', 10, 0), hot('b', 2, 0)], 3, 0.5),
    snapshot(30, [hot('b', 4, 1), hot('a', 0, 0)], 4, 2),
  ]);
  const metrics = mergedMetrics(async () => all);
  const { keys, ...sums } = await metrics.hotKeys();
  expect(sums).toMatchObject({ seconds: 60, readUnits: 16, writeUnits: 1 });
  expect(sums.missedAtMost).toBeCloseTo(0.1);
  const weight = 16 + WEIGHT;
  expect(keys).toEqual([
    { ...hot('a', 10, 0), share: 10 / weight },
    { ...hot('b', 6, 1), share: (6 + WEIGHT) / weight },
  ]);
  const text = await (await metrics.registry()).metrics();
  expect(text).toContain('requests{code=""} 7\n');
  expect(text).toContain('behind 2\n');
});

test('what an ended process has counted stays in the sums, without its gauges', async () => {
  const before = await countedBy([await countedBy([]), await snapshot(60, [hot('a', 10, 0)], 3, 9)]);
  const all = [await countedBy([before, await snapshot(60, [], 2, 8)]), await snapshot(30, [hot('a', 2, 0)], 4, 2)];
  const metrics = mergedMetrics(async () => all);
  expect((await metrics.hotKeys()).keys).toEqual([{ ...hot('a', 2, 0), share: 1 }]);
  const text = await (await metrics.registry()).metrics();
  expect(text).toContain('requests{code=""} 9\n');
  expect(text).toContain('behind 2\n');
});
