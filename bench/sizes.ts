import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { measureSize, type Size } from './growth.js';
import { viewsAbout } from './rig/places.js';
import { pointsAroundCities } from './rig/points.js';
import { startRig } from './rig/rig.js';
import { shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';
import { measureFirstLoad, type FirstLoad } from './stream/first-load.js';

const SEED = 7;
const MAPS = 120;
/** Numbers of markers; CELLPORT_SIZES overrides them. The largest take an hour. */
const SIZES = (process.env['CELLPORT_SIZES'] ?? '10000,100000,1000000,3000000').split(',').map(Number);
/** The consumer follows loads of up to this many markers: it folds some 700 a second on DynamoDB Local. */
const MOST_FOLLOWED = 100_000;

interface Measured extends Size {
  readonly filledPerSecond: number;
  readonly heapMb: number;
  readonly followed: FirstLoad | undefined;
}

/** Bytes of live objects. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

async function measure(count: number): Promise<Measured> {
  const rig = await startRig();
  try {
    const views = viewsAbout([...pointsAroundCities(Math.min(count, 10_000), SEED)], MAPS, SEED);
    const begun = performance.now();
    await rig.fill('points', pointsAroundCities(count, SEED));
    const filledPerSecond = (count * 1_000) / (performance.now() - begun);
    const before = heapBytes();
    const size = await measureSize(rig, count, views);
    const heapMb = (heapBytes() - before) / 1e6;
    const isFollowed = count <= MOST_FOLLOWED;
    await rig.close();
    const followed = isFollowed ? await measureFirstLoad([...pointsAroundCities(count, SEED)], SEED) : undefined;
    return { ...size, filledPerSecond, heapMb, followed };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

async function run({ say }: BenchOptions): Promise<Section> {
  const measured: Measured[] = [];
  for (const count of SIZES) {
    say(`${count.toLocaleString('en')} markers`);
    measured.push(await measure(count));
  }
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  return {
    title: 'Scale, measured',
    isDetail: true,
    rows: [],
    text: [
      `${MAPS} maps at zooms 2 to 18 over points around cities ask for \`auto\` a second time, with no pages cached. The lag is the time`,
      'from the last write until counts and pages include it.\n',
      table([
        [
          'markers',
          'calls a map',
          'read units a map',
          'ms p50/p99',
          'written/s',
          'with a consumer',
          'its lag, s',
          'its write units a marker',
          'heap kept, MB',
        ],
        ...measured.map(({ followed, ...size }) => [
          whole(size.markers),
          `${shown(size.queries)}${size.refused > 0 ? ` (${size.refused} refused)` : ''}`,
          shown(size.readUnits),
          `${shown(size.p50)}/${shown(size.p99)}`,
          whole(size.filledPerSecond),
          followed ? whole((size.markers * 1_000) / followed.loadedMs) : '-',
          followed ? shown((followed.foldedMs - followed.loadedMs) / 1_000) : '-',
          followed ? shown(followed.units / size.markers, 2) : '-',
          shown(size.heapMb),
        ]),
      ]),
    ].join('\n'),
  };
}

/** On DynamoDB Local. `scale` simulates sizes that do not fit on one machine. */
export const sizes: Benchmark = { name: 'sizes', hasCounts: false, run };
