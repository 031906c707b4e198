import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { settingsOf } from '../test/support/engine-settings.js';
import { fillPlaces, LARGE, MARKERS, question } from './http.js';
import { lightLoad } from './http/load.js';
import { startMeasured, waitForOutput } from './http/processes.js';
import { openFreshTables } from './rig/fresh-tables.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const ROUNDS = 3;
const CONNECTIONS = 16;
const WARM_UP_MS = 5_000;
const ROUND_MS = 6_000;
const MEGABYTE = 1024 ** 2;

/** What a server does while it is loaded, and what that takes. */
interface Measured {
  readonly perSecond: number;
  /** CPU of all its processes, and of the load generator, for an answer. */
  readonly cpuMs: number;
  readonly loadMs: number;
  /** Memory of all its processes. */
  readonly megabytes: number;
}

/** The value of a metric, summed over the processes of a server. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function measured(url: string): Promise<Measured> {
  const body = question(MARKERS, LARGE);
  // Cached pages of a worker that has just started are dropped once, when its consumer has the lease.
  await lightLoad(`${url}/graphql`, body, CONNECTIONS, WARM_UP_MS);
  const cpu = () => metric(url, 'process_cpu_seconds_total');
  const [before, own] = [await cpu(), process.cpuUsage()];
  const { answers, seconds } = await lightLoad(`${url}/graphql`, body, CONNECTIONS, ROUND_MS);
  const { user, system } = process.cpuUsage(own);
  return {
    perSecond: answers / seconds,
    cpuMs: (1_000 * ((await cpu()) - before)) / answers,
    loadMs: (user + system) / 1_000 / answers,
    megabytes: (await metric(url, 'process_resident_memory_bytes')) / MEGABYTE,
  };
}

async function withWorkers<T>(
  count: number,
  env: Readonly<Record<string, string>>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = startMeasured(['dist/cli/main.js', 'serve', '--workers', String(count)], env);
  try {
    const [, url = ''] = await waitForOutput(server, /Serving\s+(http:\S+)/);
    return await work(url);
  } finally {
    await server.stop();
  }
}

async function measure(env: Readonly<Record<string, string>>, { say }: BenchOptions): Promise<Section> {
  const rounds: { readonly one: Measured; readonly two: Measured; readonly ratio: number }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const one = await withWorkers(1, env, measured);
    const two = await withWorkers(2, env, measured);
    const ratio = two.perSecond / one.perSecond;
    rounds.push({ one, two, ratio });
    say(`round ${round}: ${one.perSecond.toFixed(0)}/s and ${two.perSecond.toFixed(0)}/s, ${ratio.toFixed(2)} times`);
  }
  const [, middle] = rounds.toSorted((a, b) => a.ratio - b.ratio);
  if (middle === undefined) throw new Error('no rounds');
  const { one, two, ratio } = middle;
  const of = ({ perSecond, cpuMs, megabytes }: Measured) =>
    `${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(1)} ms of CPU each, ${megabytes.toFixed(0)} MB`;
  const spread = rounds.map((round) => round.ratio.toFixed(2)).join(', ');
  return {
    title: 'Workers: one server on two cores',
    rows: [
      {
        what: '1,000 cached markers with 8 fields, 2 workers over one',
        bar: 'at least 1.6 times',
        measured: `${ratio.toFixed(2)} times: ${of(two)}`,
        against: `one: ${of(one)}`,
        holds: ratio >= 1.6,
      },
    ],
    text: `${CONNECTIONS} connections; the rounds gave ${spread} times. The load generator shares the cores, and took ${two.loadMs.toFixed(1)} ms an answer. One process uses the second core, too, for collecting garbage.`,
    isDetail: true,
  };
}

export const workers: Benchmark = {
  name: 'workers',
  hasCounts: false,
  async run(options) {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: root });
    const { engine, database, close } = await openFreshTables({ table: 'bench-workers' });
    const env = { ...settingsOf(engine), CELLPORT_ENGINE: 'aws', CELLPORT_TABLE: database.tables.entities, PORT: '0' };
    try {
      await withWorkers(1, env, async (url) => {
        await fillPlaces(database);
        const count = question('count(collection: "places")', LARGE);
        const counted = async () => {
          const headers = { 'content-type': 'application/json' };
          const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: count });
          const { data } = (await answer.json()) as { data?: { viewport: { count: number } } };
          return data?.viewport.count;
        };
        while ((await counted()) !== LARGE.markers) await sleep(200);
      });
      return await measure(env, options);
    } finally {
      await close();
    }
  },
};
