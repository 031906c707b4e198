import { expect, test } from 'vitest';

import { KeyLine, type Stretch } from '../../../bench/scale/key-line.js';
import { PUBLISHED, type Units } from '../../../bench/scale/published.js';
import { SimulatedTable } from '../../../bench/scale/table.js';
import { unitsOf } from '../../../src/model/read-cost.js';

const GB = 2 ** 30;
const GUIDE = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const BLOG =
  'https://aws.amazon.com/blogs/database/part-N-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/';

/** Four stretches of many items under keys whose hashes lie in different quarters, so that a new table has one in each. */
const QUARTERS: readonly Stretch[] = ['a', 'b', 'c', 'd'].map((_, quarter) => ({
  pk: keyOfQuarter(quarter),
  sort: 0,
  bytes: 0,
}));

function keyOfQuarter(quarter: number): string {
  for (let n = 0; ; n++) {
    const line = new KeyLine([{ pk: `key${n}`, sort: 0, bytes: 0 }]);
    // The line's only stretch ends before the first share of hashes that is above its own.
    const isAbove = (share: number) => line.placeOf(share) === 0;
    if (isAbove(quarter / 4) && !isAbove((quarter + 1) / 4)) return `key${n}`;
  }
}

function tableOf(stretches: readonly Stretch[], provisioned?: Units, partitions?: number) {
  const line = new KeyLine(stretches);
  const table = new SimulatedTable(line, { ...(provisioned && { provisioned }), ...(partitions && { partitions }) });
  /**
   * Serves a number of units per second of each stretch for some seconds; returns the units per second served in the
   * last step.
   */
  const serve = (demand: { read?: readonly number[]; write?: readonly number[] }, seconds: number, step = 1): Units => {
    const of = (values: readonly number[] = []) =>
      line.along(Float64Array.from(stretches, (_, index) => values[index] ?? 0));
    const flow = { read: of(demand.read), write: of(demand.write) };
    let served: Units = { read: 0, write: 0 };
    for (let second = 0; second < seconds; second += step) served = table.step(flow, step).served;
    return { read: Math.round(served.read), write: Math.round(served.write) };
  };
  return { table, serve };
}

const ITEM: Stretch = { pk: 'item', sort: 0, bytes: 1_000, isItem: true };
const KEY: Stretch = { pk: 'key', sort: 0, bytes: 0 };

/**
 * Every figure that AWS publishes about the simulated behavior: its text and source, the simulated table's figure, and
 * the published one.
 */
const FIGURES: readonly (readonly [what: string, source: string, simulated: () => unknown, figure: unknown])[] = [
  [
    'a partition serves at most 3,000 read units a second',
    `${GUIDE}/bp-partition-key-design.html`,
    () => tableOf([ITEM]).serve({ read: [5_000] }, 1).read,
    3_000,
  ],
  [
    'a partition serves at most 1,000 write units a second',
    `${GUIDE}/bp-partition-key-design.html`,
    () => tableOf([ITEM]).serve({ write: [5_000] }, 1).write,
    1_000,
  ],
  [
    'an item of 20 KB takes 5 units to read, so it is read consistently 600 times a second',
    `${GUIDE}/bp-partition-key-design.html`,
    () => tableOf([ITEM]).serve({ read: [1_000 * 2 * unitsOf(20 * 1_024)] }, 1).read / 5,
    600,
  ],
  [
    'reads and writes of a partition are limited independently',
    `${GUIDE}/burst-adaptive-capacity.html`,
    () => tableOf([ITEM]).serve({ read: [3_000], write: [1_000] }, 1),
    { read: 3_000, write: 1_000 },
  ],
  [
    '8 KB take 2 units to read consistently, 1 eventually',
    `${GUIDE}/capacity-mode.html`,
    () => [2 * unitsOf(8 * 1_024), unitsOf(8 * 1_024)],
    [2, 1],
  ],
  [
    'burst: 150 read units keep 45,000 when idle for 5 minutes, so 200 are served for 900 seconds, no longer',
    'https://repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals',
    () => {
      const { serve } = tableOf([KEY], { read: 150, write: 1 }, 1);
      serve({}, 300);
      return [serve({ read: [200] }, 900).read, serve({ read: [200] }, 1).read];
    },
    [200, 150],
  ],
  [
    'burst: no more than 300 seconds of unused capacity are kept',
    `${GUIDE}/burst-adaptive-capacity.html`,
    () => {
      const { serve } = tableOf([KEY], { read: 150, write: 1 }, 1);
      serve({}, 3_600);
      return [serve({ read: [200] }, 900).read, serve({ read: [200] }, 1).read];
    },
    [200, 150],
  ],
  [
    'burst does not lift the limit of a partition',
    'https://repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals',
    () => {
      const { serve } = tableOf([ITEM], { read: 10_000, write: 1_000 }, 1);
      serve({}, 300);
      return serve({ read: [10_000] }, 1).read;
    },
    3_000,
  ],
  [
    'adaptive capacity: of 400 write units for 4 partitions one gets 150 while the others use 50 each',
    `${GUIDE}/burst-adaptive-capacity.html`,
    () => tableOf(QUARTERS, { read: 1, write: 400 }, 4).serve({ write: [50, 50, 50, 150] }, 3_600).write,
    300,
  ],
  [
    'adaptive capacity does not exceed the units of the table',
    `${GUIDE}/burst-adaptive-capacity.html`,
    () => tableOf(QUARTERS, { read: 1, write: 400 }, 4).serve({ write: [50, 50, 50, 350] }, 3_600).write,
    400,
  ],
  [
    'a table of 30,000 read and 10,000 write units throttles a hot partition at 3,000 and 1,000',
    `${GUIDE}/warm-throughput-scenarios.html`,
    () => tableOf([ITEM], { read: 30_000, write: 10_000 }).serve({ read: [30_000], write: [10_000] }, 1),
    { read: 3_000, write: 1_000 },
  ],
  [
    'a new table on demand serves 4,000 write units a second',
    `${GUIDE}/on-demand-capacity-mode.html`,
    () => tableOf(QUARTERS).serve({ write: [1_250, 1_250, 1_250, 1_250] }, 1).write,
    4_000,
  ],
  [
    'a new table on demand serves 12,000 read units a second',
    `${GUIDE}/on-demand-capacity-mode.html`,
    () => tableOf(QUARTERS).serve({ read: [4_000, 4_000, 4_000, 4_000] }, 1).read,
    12_000,
  ],
  [
    'or any linear combination of the two',
    `${GUIDE}/on-demand-capacity-mode.html`,
    () =>
      [0.25, 0.5, 0.75].map((part) =>
        tableOf(QUARTERS).serve(
          { read: QUARTERS.map(() => 3_000 * part), write: QUARTERS.map(() => 1_000 * (1 - part)) },
          1,
        ),
      ),
    [
      { read: 3_000, write: 3_000 },
      { read: 6_000, write: 2_000 },
      { read: 9_000, write: 1_000 },
    ],
  ],
  [
    'on demand: after a peak of 50,000 reads a second 100,000 are served at once, and then up to 200,000',
    `${GUIDE}/on-demand-capacity-mode.html`,
    () => {
      const { serve } = tableOf(QUARTERS);
      const each = (total: number) => ({ read: QUARTERS.map(() => total / 4) });
      // Doubling every half hour, as the page advises.
      for (const total of [12_000, 24_000, 48_000, 50_000]) serve(each(total), 2_400, 60);
      const doubled = serve(each(110_000), 60, 60).read;
      serve(each(100_000), 2_400, 60);
      return [doubled, serve(each(210_000), 60, 60).read];
    },
    [100_000, 200_000],
  ],
  [
    'on demand: more than double the peak within 30 minutes is throttled',
    `${GUIDE}/on-demand-capacity-mode.html`,
    () => {
      const { serve } = tableOf(QUARTERS);
      serve({ write: QUARTERS.map(() => 1_000) }, 1_740, 60);
      const early = serve({ write: QUARTERS.map(() => 2_000) }, 60, 60).write;
      serve({ write: QUARTERS.map(() => 1_000) }, 1_800, 60);
      return [early, serve({ write: QUARTERS.map(() => 2_000) }, 60, 60).write];
    },
    [4_000, 8_000],
  ],
  [
    'a partition holds at most 10 GB: 50 GB take 5 partitions, 500 GB 50',
    `${GUIDE}/HowItWorks.Partitions.html`,
    () =>
      [50, 500].map((gb) => {
        const line = new KeyLine([{ pk: 'all', sort: 0, bytes: gb * GB }]);
        const { partitions } = new SimulatedTable(line, { partitions: 1 });
        const least = partitions.every(({ from, to }) => line.bytes.within(from, to) <= PUBLISHED.partition.bytes);
        return least && partitions.length >= gb / 10;
      }),
    [true, true],
  ],
  [
    'a partition under full load is split in two (after ten minutes: our assumption)',
    BLOG.replace('N', '2'),
    () => {
      const { table, serve } = tableOf([KEY], { read: 20_000, write: 1 }, 1);
      const full = { read: [5_000] };
      return [serve(full, 600, 60).read, table.partitions.length, serve(full, 60, 60).read];
    },
    [3_000, 2, 5_000],
  ],
  [
    'partitions are split, never merged',
    BLOG.replace('N', '3'),
    () => {
      const { table, serve } = tableOf([KEY], { read: 20_000, write: 1 }, 1);
      serve({ read: [20_000] }, 7_200, 60);
      const busy = table.partitions.length;
      serve({}, 86_400, 300);
      return table.partitions.length - busy;
    },
    0,
  ],
  [
    'a hot item gets a partition of its own, and still no more than 3,000 read units a second',
    `${GUIDE}/burst-adaptive-capacity.html`,
    () => {
      const stretches = [
        { ...KEY, pk: 'same' },
        { ...ITEM, pk: 'same', sort: 1 },
        { ...KEY, pk: 'same', sort: 2 },
      ];
      const { table, serve } = tableOf(stretches, { read: 20_000, write: 1 }, 1);
      const { read } = serve({ read: [500, 9_000, 500] }, 7_200, 60);
      return [read, table.partitions.some(({ from, to }) => from === 1 && to === 2)];
    },
    [4_000, true],
  ],
  [
    'with local secondary indexes the items of a partition key stay together: 3,000 read units a second',
    BLOG.replace('N', '3'),
    () => {
      const line = new KeyLine([KEY, { ...KEY, sort: 1 }, { ...KEY, pk: 'other' }], false);
      const table = new SimulatedTable(line, { provisioned: { read: 20_000, write: 1 }, partitions: 1 });
      const read = line.along(Float64Array.of(6_000, 6_000, 2_000));
      const write = line.along(new Float64Array(3));
      let served = 0;
      for (let minute = 0; minute < 120; minute++) served = table.step({ read, write }, 60).served.read;
      return [Math.round(served), table.partitions.length];
    },
    [5_000, 2],
  ],
];

test.each(FIGURES)('%s (%s)', (_what, _source, simulated, figure) => {
  expect(simulated()).toEqual(figure);
});
