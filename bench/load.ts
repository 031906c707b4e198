import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { startEngine } from '../src/engine/start.js';
import { PARTS, walkOver, type Walks } from './load/clients.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { serveCities } from './rig/serve-cities.js';
import { quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const CLIENTS = 64;
/** CELLPORT_SECONDS shortens a run. */
const SECONDS = Number(process.env['CELLPORT_SECONDS'] ?? 300);
/**
 * Throughput without caches before pages were introduced, and the factor by which it must have grown. Measured with
 * commit f19e1c8 on the machine of the recorded figures; one nearly twice as fast gave 34.
 */
const BEFORE_PAGES = 22;
const TIMES = 2.5;
const HEAP_MB = 512;

interface Run extends Walks {
  /** Resident memory in each part of the run. */
  readonly memory: readonly number[];
}

const residentMb = ({ pid }: ChildProcess) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

async function measure(cities: readonly BenchMarker[], cacheMb: number, say: BenchOptions['say']): Promise<Run> {
  const engine = await startEngine({ dataDir: null });
  try {
    say(`caches of ${cacheMb} MB: loading the cities`);
    const { child, url } = await serveCities(engine, {
      // Without a limit, V8 lets garbage grow to gigabytes if memory is available, which would hide a leak.
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      CELLPORT_CACHE_MB: String(cacheMb),
    });
    say(`caches of ${cacheMb} MB: ${CLIENTS} clients for ${SECONDS} s`);
    const memory: number[] = [];
    const watch = setInterval(() => memory.push(residentMb(child)), (SECONDS * 1000) / PARTS);
    try {
      return { ...(await walkOver(cities, url, CLIENTS, SECONDS)), memory };
    } finally {
      clearInterval(watch);
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  } finally {
    await engine.close();
  }
}

const rowOf = (name: string, { perSecond, refusedPerSecond, p50, p99, costs }: Run) => [
  name,
  shown(perSecond, 0),
  shown(refusedPerSecond, 0),
  shown(p50, 0),
  shown(p99, 0),
  costs.map(({ queries }) => shown(queries)).join(' '),
];

function barsOf(cached: Run, uncached: Run): Row[] {
  const last = cached.memory.at(-1) ?? 0;
  const settled = quantile(cached.memory.slice(1, 3), 0.5);
  return [
    {
      what: 'maps that failed',
      bar: 'none',
      measured: `${cached.failed} and ${uncached.failed}`,
      against: '',
      holds: cached.failed + uncached.failed === 0,
    },
    {
      what: 'maps a second without caches',
      bar: `at least ${TIMES} times`,
      measured: shown(uncached.perSecond, 0),
      against: `before pages: ${BEFORE_PAGES}; ${shown(uncached.perSecond / BEFORE_PAGES)} times`,
      holds: uncached.perSecond >= TIMES * BEFORE_PAGES,
    },
    {
      what: 'resident memory at the end, relative to after a third',
      bar: 'at most 1.2',
      measured: shown(last / Math.max(1, settled), 2),
      against: `${Math.round(last)} MB`,
      holds: last <= 1.2 * settled,
    },
  ];
}

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'ignore' });
  const cities = cityMarkers().filter(({ properties }) => Number(properties?.['population']) >= 5_000);
  const cached = await measure(cities, 64, say);
  const uncached = await measure(cities, 0, say);
  const head = ['', 'maps/s', 'refused/s', 'p50 ms', 'p99 ms', 'Query calls a map, by sixths'];
  return {
    title: `Load: ${CLIENTS} clients panning over ${cities.length.toLocaleString('en')} cities`,
    rows: barsOf(cached, uncached),
    text: `For ${SECONDS} s, each client asks for \`auto\` with up to 300 markers. Caches are empty at first, and the heap has ${HEAP_MB} MB. Waiting as Retry-After says counts as time of a map.`,
    details: table([head, rowOf('caches of 64 MB', cached), rowOf('no caches', uncached)]),
    isDetail: true,
  };
}

export const load: Benchmark = { name: 'load', hasCounts: false, run };
