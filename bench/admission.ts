import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { settingsOf } from '../test/support/engine-settings.js';
import { fillPlaces, LARGE, MARKERS, question } from './http.js';
import type { BareOrder } from './http/bare.js';
import { LightClient, lightLoad } from './http/load.js';
import { startMeasured, waitForOutput } from './http/processes.js';
import { openFreshTables } from './rig/fresh-tables.js';
import { quantile, sum } from './rig/statistics.js';
import type { Benchmark, Row } from './section.js';

const root = fileURLToPath(new URL('../', import.meta.url));

const CONNECTIONS = 8;
/** Clients that send one request after the other; 64 are never refused. */
const CLIENTS = [1, 6, 24, 64, 200];
const FEW = 64;
/** People wait for a second, and then for the answer. */
const LONGEST_MS = 1_500;
const CLIENTS_MS = 5_000;
const WARM_UP_MS = 5_000;
const WARM_UP_ROUNDS = 4;
const ROUND_MS = 10_000;
/** A median of three, because a pause of the machine ruins one. */
const ROUNDS = 3;

/** The outcome of requests sent at a fixed rate, without waiting for responses. */
interface Round {
  readonly goodput: number;
  readonly accepted: readonly number[];
  readonly refused: readonly number[];
  readonly health: readonly number[];
  /** Of an idle process that answers at once: what clients wait for a core, and for themselves. */
  readonly floor: readonly number[];
}

interface Urls {
  readonly graphql: string;
  readonly floor: string;
}

/** Sends requests at a fixed rate for some time, and polls /healthz and the floor ten times a second. */
async function sendAtRate({ graphql: url, floor: floorUrl }: Urls, body: string, perSecond: number): Promise<Round> {
  const client = new LightClient(url, body);
  const accepted: number[] = [];
  const refused: number[] = [];
  const health: number[] = [];
  const floor: number[] = [];
  const sent: Promise<void>[] = [];
  async function timed(send: () => Promise<number>, of: (status: number) => number[]): Promise<void> {
    const began = performance.now();
    const status = await send();
    of(status).push(performance.now() - began);
  }
  const began = performance.now();
  let healthDue = 0;
  for (let number = 0; performance.now() - began < ROUND_MS;) {
    const elapsed = performance.now() - began;
    for (; number < (elapsed / 1_000) * perSecond; number += 1) {
      sent.push(
        timed(
          () => client.send(),
          (status) => (status === 200 ? accepted : refused),
        ),
      );
    }
    if (elapsed >= healthDue) {
      healthDue += 100;
      const statusOf = async (polled: URL) => (await fetch(polled)).status;
      sent.push(
        timed(
          () => statusOf(new URL('/healthz', url)),
          () => health,
        ),
      );
      sent.push(
        timed(
          () => statusOf(new URL('/0', floorUrl)),
          () => floor,
        ),
      );
    }
    await sleep(2);
  }
  await Promise.all(sent);
  client.close();
  return { goodput: accepted.length / (ROUND_MS / 1_000), accepted, refused, health, floor };
}

/** Clients that each send a request as soon as the previous one was answered or refused. */
async function sendInTurn(url: string, body: string, clients: number): Promise<Round> {
  const client = new LightClient(url, body);
  const accepted: number[] = [];
  const refused: number[] = [];
  const until = performance.now() + CLIENTS_MS;
  const one = async (): Promise<void> => {
    for (let began = performance.now(); began < until; began = performance.now()) {
      const status = await client.send();
      (status === 200 ? accepted : refused).push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  client.close();
  return { goodput: accepted.length / (CLIENTS_MS / 1_000), accepted, refused, health: [], floor: [] };
}

const median = (rounds: readonly Round[], of: (round: Round) => number) => quantile(rounds.map(of), 0.5);
const shareRefused = (rounds: readonly Pick<Round, 'accepted' | 'refused'>[]) => {
  const refused = sum(rounds.map((round) => round.refused.length));
  return (100 * refused) / (refused + sum(rounds.map((round) => round.accepted.length)));
};
const ms = (value: number) => `${value.toFixed(0)} ms`;

/** Clients that send one request after the other, on a server that has just started or that has run for a while. */
async function measureClients(url: string, body: string, when: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const clients of CLIENTS) {
    const { goodput, accepted, refused } = await sendInTurn(url, body, clients);
    const few = clients <= FEW;
    rows.push({
      what: `${clients} clients, ${when}`,
      bar: few ? 'none refused' : '',
      measured: `${shareRefused([{ accepted, refused }]).toFixed(0)}% refused`,
      against: `${goodput.toFixed(0)}/s, p99 ${ms(quantile(accepted, 0.99))}`,
      holds: few ? refused.length === 0 : undefined,
    });
  }
  return rows;
}

async function measure(urls: Urls, say: (line: string) => void): Promise<Row[]> {
  const { graphql: url } = urls;
  const body = question(MARKERS, LARGE);
  say('clients of a server that has just started');
  const cold = await measureClients(url, body, 'just started');
  // Until compiled code has reached full speed: the p99 of a half-idle server would not be a valid bar for a busy one.
  const rounds: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    const { answers, seconds } = await lightLoad(url, body, CONNECTIONS, WARM_UP_MS);
    rounds.push(answers / seconds);
  }
  const capacity = Math.max(...rounds);
  say(`capacity ${capacity.toFixed(0)} viewports/s`);
  const ones: Round[] = [];
  const threes: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ones.push(await sendAtRate(urls, body, capacity));
    threes.push(await sendAtRate(urls, body, 3 * capacity));
  }
  say('clients of a warm server');
  const warm = await measureClients(url, body, 'warm');
  const one = median(ones, ({ goodput }) => goodput);
  const three = median(threes, ({ goodput }) => goodput);
  const best = Math.max(capacity, one, three);
  const accepted = (share: number) => (round: Round) => quantile(round.accepted, share);
  const refused = (share: number) => (round: Round) => quantile(round.refused, share);
  const [p99One, p99Three] = [median(ones, accepted(0.99)), median(threes, accepted(0.99))];
  const [refusedHalf, refusedP99] = [median(threes, refused(0.5)), median(threes, refused(0.99))];
  const p99Of = (of: 'health' | 'floor') => ms(median(threes, (round) => quantile(round[of], 0.99)));
  return [
    {
      what: 'answered at three times capacity',
      bar: 'at least 80% of the best',
      measured: `${three.toFixed(0)}/s, ${((100 * three) / best).toFixed(0)}%`,
      against: `at it ${one.toFixed(0)}/s, ${CONNECTIONS} connections ${capacity.toFixed(0)}/s`,
      holds: three >= 0.8 * best,
    },
    {
      what: 'p99 of those answered',
      bar: `at most ${ms(LONGEST_MS)}`,
      measured: ms(p99Three),
      against: `at capacity ${ms(p99One)}`,
      holds: p99Three <= LONGEST_MS,
    },
    {
      what: 'refused in',
      bar: 'under 20 ms',
      measured: `p50 ${ms(refusedHalf)}, p99 ${ms(refusedP99)}`,
      against: `${shareRefused(threes).toFixed(0)}% of all`,
      holds: refusedP99 < 20,
    },
    { what: '/healthz p99', bar: '', measured: p99Of('health'), against: `an idle process: ${p99Of('floor')}` },
    ...cold,
    ...warm,
  ];
}

export const admission: Benchmark = {
  name: 'admission',
  hasCounts: false,
  async run({ say }) {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: root });
    const { engine, database, close } = await openFreshTables({ table: 'bench-admission' });
    const server = startMeasured(['dist/cli/main.js', 'serve'], {
      ...settingsOf(engine),
      CELLPORT_ENGINE: 'aws',
      CELLPORT_TABLE: database.tables.entities,
      PORT: '0',
    });
    const bare = startMeasured(['--import', 'tsx', 'bench/http/bare.ts'], settingsOf(engine));
    try {
      const [, url = ''] = await waitForOutput(server, /Serving\s+(http:\S+)/);
      await fillPlaces(database);
      // By now it listens for messages.
      const { port } = await bare.ask<{ port: number }>({ do: 'serve', data: [{}] } satisfies BareOrder);
      const rows = await measure({ graphql: `${url}/graphql`, floor: `http://127.0.0.1:${port}` }, say);
      const text = `Viewports of 1,000 markers with 8 fields, at a fixed rate for ${ROUND_MS / 1_000} s; medians of ${ROUNDS}.`;
      return { title: 'More work than the server can do', rows, text, isDetail: true };
    } finally {
      await Promise.all([server.stop(), bare.stop()]);
      await close();
    }
  },
};
