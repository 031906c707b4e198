import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { getOperationAST } from 'graphql';

import { errorFormatter } from '../src/graphql/error-format.js';
import { documentReader } from '../src/graphql/execution/documents.js';
import { variableErrors } from '../src/graphql/execution/variables.js';
import { buildSchema } from '../src/graphql/schema.js';
import { silentLog } from '../src/log.js';
import { DEFAULT_LIMITS } from '../src/model/limits.js';
import { ATTACKS, type Attack } from '../test/graphql/attacks/documents.js';
import { mutatedBody } from '../test/graphql/attacks/mutations.js';
import { randomFrom } from '../test/support/random.js';
import { post } from './http/load.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const VERDICT_MS = 50;
/** For a quick run, which shares its machine, as in CI. */
const VERDICT_MS_WHEN_BUSY = 150;
const HEALTH_MS = 250;
const ROUNDS = 5;
const CONNECTIONS = 8;
const SEED = 7;
/** CELLPORT_RUNS overrides this, for a shorter run. */
const MUTATIONS = Number(process.env['CELLPORT_RUNS'] ?? 100_000);

/** CPU time of the verdict on a request: the minimum of several rounds, because the first ones compile. */
function verdictMs({ query, operationName, variables = '{}' }: Attack): number {
  const schema = buildSchema();
  const format = errorFormatter(silentLog);
  const values = JSON.parse(variables) as Record<string, unknown>;
  const times = Array.from({ length: ROUNDS }, () => {
    const read = documentReader({ schema, limits: DEFAULT_LIMITS, introspection: true, format });
    const before = process.cpuUsage();
    const { document } = read(query);
    const operation = document && getOperationAST(document, operationName);
    if (operation) variableErrors(schema, operation, values, { hideSuggestions: false }).map(format);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

interface Storm {
  /** How long another client waited for /healthz, in ms. */
  readonly waits: readonly number[];
  readonly statuses: ReadonlyMap<number, number>;
}

/** Sends mutations of the attacks over several connections while another client reads /healthz. */
async function storm(mutations: number): Promise<Storm> {
  const server = fork(fileURLToPath(new URL('attacks/server.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
  const [url] = (await once(server, 'message')) as [string];
  const other = new Worker(new URL('attacks/health.mjs', import.meta.url), { workerData: url });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const random = randomFrom(SEED);
  const statuses = new Map<number, number>();
  let left = mutations;
  const one = async () => {
    while (left-- > 0) {
      // The server closes a connection after a body that is too large.
      const { status } = await post(agent, `${url}/graphql`, mutatedBody(random)).catch(() => ({ status: 0 }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
    other.postMessage('waits');
    const [waits] = (await once(other, 'message')) as [number[]];
    return { waits, statuses };
  } finally {
    await other.terminate();
    agent.destroy();
    server.kill('SIGKILL');
  }
}

async function run({ quick, say }: BenchOptions): Promise<Section> {
  const verdicts = ATTACKS.map((attack) => ({ name: attack.name, ms: verdictMs(attack) }));
  const worst = verdicts.reduce((most, each) => (each.ms > most.ms ? each : most));
  const most = quick ? VERDICT_MS_WHEN_BUSY : VERDICT_MS;
  const mutations = quick ? 1_000 : MUTATIONS;
  say(`${mutations} mutations of ${ATTACKS.length} attacks`);
  const { waits, statuses } = await storm(mutations);
  const longest = Math.max(...waits);
  const failed = statuses.get(500) ?? 0;
  return {
    title: `Attacks: ${ATTACKS.length} documents and ${mutations.toLocaleString('en')} mutations of them`,
    rows: [
      {
        what: 'CPU to check the worst document',
        bar: `at most ${most} ms`,
        measured: `${shown(worst.ms)} ms`,
        against: worst.name,
        holds: worst.ms <= most,
      },
      {
        what: 'longest wait of `/healthz`',
        bar: `at most ${HEALTH_MS} ms`,
        measured: `${shown(longest, 0)} ms`,
        against: `${waits.length} reads, p99 ${shown(quantile(waits, 0.99), 0)} ms`,
        // A quick run shares its machine, as in CI.
        holds: quick ? undefined : longest <= HEALTH_MS,
      },
      {
        what: 'internal errors',
        bar: 'none',
        measured: String(failed),
        against: [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
        holds: failed === 0,
      },
    ],
    isDetail: true,
    text: `${CONNECTIONS} connections, seed ${SEED}.`,
  };
}

export const attacks: Benchmark = { name: 'attacks', hasCounts: true, run };
