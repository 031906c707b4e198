import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { startEngine } from '../src/engine/start.js';
import { EXPENSIVE } from './attacks/expensive.js';
import { post } from './http/load.js';
import { serveCities, type Served } from './rig/serve-cities.js';
import { shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const HEALTH_MS = 250;
const ROUNDS = 3;

interface Stall {
  readonly name: string;
  readonly status: number;
  readonly ms: number;
  /** Maximum time in ms that another client waited for /healthz meanwhile. */
  readonly waitMs: number;
}

async function measure({ url }: Served): Promise<Stall[]> {
  const other = new Worker(new URL('attacks/health.mjs', import.meta.url), { workerData: url });
  const waits = async () => {
    other.postMessage('waits');
    const [list] = (await once(other, 'message')) as [number[]];
    return list;
  };
  const agent = new Agent();
  const stalls: Stall[] = [];
  try {
    for (const { name, query, variables } of EXPENSIVE) {
      const rounds: Stall[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await waits();
        const sent = performance.now();
        const { status } = await post(agent, `${url}/graphql`, JSON.stringify({ query, variables }));
        const ms = performance.now() - sent;
        // The read in progress belongs to it.
        await sleep(100);
        rounds.push({ name, status, ms, waitMs: Math.max(0, ...(await waits())) });
      }
      stalls.push(rounds.reduce((most, each) => (each.waitMs > most.waitMs ? each : most)));
    }
  } finally {
    await other.terminate();
    agent.destroy();
  }
  return stalls;
}

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'ignore' });
  const engine = await startEngine({ dataDir: null });
  try {
    say('loading the cities');
    const served = await serveCities(engine);
    say(`${EXPENSIVE.length} expensive requests`);
    const stalls = await measure(served).finally(() => served.child.kill('SIGTERM'));
    await once(served.child, 'exit');
    for (const { name, status, ms, waitMs } of stalls) {
      say(`${name}: ${status} in ${shown(ms, 0)} ms, longest wait ${shown(waitMs, 0)} ms`);
    }
    const worst = stalls.reduce((most, each) => (each.waitMs > most.waitMs ? each : most));
    return {
      title: `Stalls: ${EXPENSIVE.length} expensive requests over 49,025 cities`,
      rows: [
        {
          what: 'longest wait of `/healthz`',
          bar: `at most ${HEALTH_MS} ms`,
          measured: `${shown(worst.waitMs, 0)} ms`,
          against: worst.name,
          holds: worst.waitMs <= HEALTH_MS,
        },
      ],
      isDetail: true,
      text: `The worst of ${ROUNDS} rounds of \`bench/attacks/expensive.ts\`.`,
    };
  } finally {
    await engine.close();
  }
}

export const stalls: Benchmark = { name: 'stalls', hasCounts: false, run };
