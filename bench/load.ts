import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

import { startEngine } from '../src/engine/start.js';
import { type BenchMarker, cityMarkers } from './rig/points.js';
import { type Served, serveCities } from './rig/serve-cities.js';
import { mean, quantile, shown, table } from './rig/statistics.js';
import { walker } from './rig/walker.js';
import type { BenchOptions, Benchmark, Section } from './section.js';

const CONNECTIONS = 64;
/** CELLPORT_SECONDS shortens a run. */
const SECONDS = Number(process.env['CELLPORT_SECONDS'] ?? 300);
/** Throughput without caches before pages were introduced, and the factor by which it must have grown. */
const BEFORE_PAGES = 34;
const TIMES = 2.5;
const HEAP_MB = 512;
const SEED = 11;
/** One response in this many reports its cost. */
const COST_EVERY = 10;
const QUERY = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    auto(collection: "cities", limit: 300) {
      mode total markers { id name category position { lng lat } } clusters { position { lng lat } count }
    }
  }
}`;

const residentMb = ({ pid }: ChildProcess) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

interface Cost {
  readonly queries: number;
  readonly readUnits: number;
}

interface Run {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failures: number;
  /** Number of requests answered with 503 and Retry-After, which these clients send again at once. */
  readonly refused: number;
  /** Mean cost of a viewport in each sixth of the run. */
  readonly costs: readonly Cost[];
  /** Resident memory in each sixth of the run. */
  readonly memory: readonly number[];
}

async function walk({ child, url }: Served, cities: readonly BenchMarker[]): Promise<Run> {
  const parts = 6;
  const begun = performance.now();
  const seen: Cost[][] = Array.from({ length: parts }, () => []);
  const part = () => Math.min(parts - 1, Math.floor(((performance.now() - begun) / 1000 / SECONDS) * parts));
  let clients = 0;
  let failures = 0;
  const running = autocannon({
    url: `${url}/graphql`,
    method: 'POST',
    connections: CONNECTIONS,
    duration: SECONDS,
    excludeErrorStats: true,
    headers: { 'content-type': 'application/json' },
    setupClient(client) {
      const next = walker(cities, SEED + clients++);
      let sent = 0;
      const go = () => {
        const cost = sent++ % COST_EVERY === 0 ? { 'x-cellport-cost': '1' } : {};
        const { bounds, zoom } = next();
        const body = JSON.stringify({ query: QUERY, variables: { bounds, zoom } });
        client.setHeadersAndBody({ 'content-type': 'application/json', ...cost }, body);
      };
      go();
      client.on('body', (body: Buffer) => {
        const text = body.toString();
        if (text.startsWith('{"errors"') || text.includes('"errors":[')) failures++;
        else if (text.includes('"extensions"')) {
          seen[part()]?.push((JSON.parse(text) as { extensions: { cost: Cost } }).extensions.cost);
        }
      });
      client.on('response', go);
    },
  });
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(residentMb(child)), (SECONDS * 1000) / parts);
  const result = await running;
  clearInterval(watch);
  const refused = result.statusCodeStats?.['503']?.count ?? 0;
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failures: failures + result.errors - refused,
    refused,
    costs: seen.map((costs) => ({
      queries: mean(costs.map(({ queries }) => queries)),
      readUnits: mean(costs.map(({ readUnits }) => readUnits)),
    })),
    memory,
  };
}

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'ignore' });
  const cities = cityMarkers().filter(({ properties }) => Number(properties?.['population']) >= 5_000);
  const runs: { readonly name: string; readonly run: Run }[] = [];
  for (const [name, cacheMb] of [
    ['caches of 64 MB', 64],
    ['no caches', 0],
  ] as const) {
    const engine = await startEngine({ dataDir: null });
    try {
      say(`${name}: loading the cities`);
      const served = await serveCities(engine, {
        // Without a limit, V8 lets garbage grow to gigabytes if memory is available, which would hide a leak.
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
        CELLPORT_CACHE_MB: String(cacheMb),
      });
      say(`${name}: ${CONNECTIONS} clients for ${SECONDS} s`);
      try {
        runs.push({ name, run: await walk(served, cities) });
      } finally {
        served.child.kill('SIGTERM');
        await once(served.child, 'exit');
      }
    } finally {
      await engine.close();
    }
  }
  const cached = runs[0]?.run;
  const uncached = runs[1]?.run.perSecond ?? 0;
  const last = cached?.memory.at(-1) ?? 0;
  const settled = quantile(cached?.memory.slice(1, 3) ?? [], 0.5);
  return {
    title: `Load: ${CONNECTIONS} clients panning over ${cities.length.toLocaleString('en')} cities`,
    rows: [
      {
        what: 'requests that failed',
        bar: 'none',
        measured: runs.map(({ run: { failures } }) => failures).join(' and '),
        against: '',
        holds: runs.every(({ run: { failures } }) => failures === 0),
      },
      {
        what: 'requests a second without caches',
        bar: `at least ${TIMES} times those before pages`,
        measured: shown(uncached, 0),
        against: `${BEFORE_PAGES}; ${shown(uncached / BEFORE_PAGES)} times`,
        holds: uncached >= TIMES * BEFORE_PAGES,
      },
      {
        what: 'resident memory at the end, relative to that after a third',
        bar: 'flat: at most 1.2',
        measured: shown(last / Math.max(1, settled), 2),
        against: `${Math.round(last)} MB`,
        holds: last <= 1.2 * settled,
      },
    ],
    text: [
      `For ${SECONDS} s, each client pans (four steps in five), zooms or jumps to another city, and requests \`auto\` with at most 300`,
      `markers as soon as it has its response. The heap has ${HEAP_MB} MB. The first sixth begins with empty caches.\n`,
      table([
        [
          '',
          'answers/s',
          'refused/s',
          'p50 ms',
          'p99 ms',
          'Query calls per viewport, by sixths',
          'read units, by sixths',
          'MB, by sixths',
        ],
        ...runs.map(({ name, run: { perSecond, refused, p50, p99, costs, memory } }) => [
          name,
          shown(perSecond, 0),
          shown(refused / SECONDS, 0),
          shown(p50, 0),
          shown(p99, 0),
          costs.map(({ queries }) => shown(queries)).join(' '),
          costs.map(({ readUnits }) => shown(readUnits)).join(' '),
          memory.map((each) => shown(each, 0)).join(' '),
        ]),
      ]),
    ].join('\n'),
  };
}

export const load: Benchmark = { name: 'load', hasCounts: false, run };
