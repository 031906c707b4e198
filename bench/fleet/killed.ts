import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';

import { type Engine, startEngine } from '../../src/engine/start.js';
import { type Database, createDatabase } from '../../src/store/database.js';
import { type BenchMarker, cityMarkers } from '../rig/points.js';
import { serveCities } from '../rig/serve-cities.js';
import { mean, quantile, shown, table } from '../rig/statistics.js';
import type { Row } from '../section.js';
import { startEventSource } from './event-source.js';
import { LAYOUT } from '../../src/stream/change.js';
import { Servers } from './servers.js';
import { Seen, Vehicles, pan } from './traffic.js';

/** CELLPORT_SECONDS shortens each run. */
const SECONDS = Number(process.env['CELLPORT_SECONDS'] ?? 50);
const CLIENTS = 8;
const KILL_EVERY_MS = 20_000;
const SETTLES_WITHIN_MS = 10_000;
const SMALLEST = 5_000;
const TABLE = 'cellport';

interface Fleet {
  readonly servers: number;
  readonly redis: boolean;
  readonly sticky: boolean;
  /** Whether a Lambda keeps the cells instead of one of the servers. */
  readonly lambda: boolean;
}

const FLEETS: readonly Fleet[] = [
  { servers: 1, redis: false, sticky: false, lambda: false },
  { servers: 2, redis: false, sticky: false, lambda: false },
  { servers: 2, redis: true, sticky: false, lambda: false },
  { servers: 4, redis: false, sticky: false, lambda: false },
  { servers: 4, redis: true, sticky: false, lambda: false },
  { servers: 4, redis: true, sticky: true, lambda: false },
  // Last: the cells are then kept in another way.
  { servers: 2, redis: false, sticky: false, lambda: true },
];

interface Run {
  readonly fleet: Fleet;
  readonly kills: number;
  readonly seen: Seen;
  /** What servers answered that differs from the writes, after writers have rested. */
  readonly differences: readonly string[];
}

const nameOf = ({ servers, redis, sticky, lambda }: Fleet) =>
  [
    `${servers} server${servers === 1 ? '' : 's'}`,
    ...(redis ? ['Redis'] : []),
    ...(sticky ? ['sticky'] : []),
    ...(lambda ? ['a Lambda keeps the cells'] : []),
  ].join(', ');

/** A Redis on a free port; undefined where there is none. */
async function startRedis(): Promise<{ readonly url: string; stop(): void } | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: 'ignore',
  });
  await sleep(500);
  return { url: `redis://127.0.0.1:${port}`, stop: () => redis.kill() };
}

/** Hands the cells of the stopped servers over to the Lambda handler, as docs/stream.md says. */
const handOver = (database: Database) =>
  database.client.send(
    new UpdateCommand({
      TableName: database.tables.derived,
      Key: { pk: 'stream::cells', sk: 'state' },
      UpdateExpression: 'SET #layout = :layout',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#layout': 'layout' },
      ExpressionAttributeValues: { ':layout': `${LAYOUT} by records` },
    }),
  );

async function measure(
  engine: Engine,
  fleet: Fleet,
  redisUrl: string | undefined,
  { cities, vehicles }: { readonly cities: readonly BenchMarker[]; readonly vehicles: Vehicles },
): Promise<Run> {
  const servers = await Servers.start(engine, fleet.servers, {
    ...(fleet.redis && redisUrl !== undefined ? { CELLPORT_REDIS_URL: redisUrl } : {}),
    ...(fleet.lambda ? { CELLPORT_CONSUMER: 'off' } : {}),
    CELLPORT_LOG: 'silent',
  });
  try {
    const seen = new Seen();
    const end = AbortSignal.timeout(SECONDS * 1_000);
    const { sticky } = fleet;
    const traffic = [
      vehicles.move(servers, seen, end),
      ...Array.from({ length: CLIENTS }, (_, client) => pan(servers, seen, cities, { client, sticky, signal: end })),
    ];
    let kills = 0;
    // One server alone would leave nobody to answer.
    if (fleet.servers > 1) {
      await sleep(KILL_EVERY_MS / 2);
      for (; !end.aborted; kills++) {
        await servers.replace(kills % fleet.servers);
        await sleep(KILL_EVERY_MS, undefined, { signal: end }).catch(() => undefined);
      }
    }
    await Promise.all(traffic);
    await vehicles.settle(servers.url(0));
    const differences: string[] = [];
    for (let n = 0; n < servers.count; n++) {
      const differs = await vehicles.differs(servers.url(n), SETTLES_WITHIN_MS);
      if (differs !== undefined) differences.push(`server ${n}: ${differs}`);
    }
    return { fleet, kills, seen, differences };
  } finally {
    await servers.stop();
  }
}

/** Fleets of real servers on one DynamoDB Local, of which one is killed every 20 s. */
export async function killedFleets(say: (line: string) => void): Promise<{ rows: Row[]; text: string }> {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'ignore' });
  const engine = await startEngine({ dataDir: null });
  const tables = { entities: TABLE, derived: `${TABLE}-derived` };
  const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
  const redis = await startRedis();
  const runs: Run[] = [];
  try {
    say('loading the cities');
    const loader = await serveCities(engine);
    const vehicles = await Vehicles.create(loader.url);
    loader.child.kill('SIGTERM');
    await once(loader.child, 'exit');
    const cities = cityMarkers().filter(({ properties }) => Number(properties?.['population']) >= SMALLEST);
    let events: (() => Promise<void>) | undefined;
    for (const fleet of FLEETS) {
      if (fleet.redis && redis === undefined) continue;
      if (fleet.lambda && events === undefined) {
        await handOver(database);
        events = await startEventSource(database, engine);
      }
      say(`${nameOf(fleet)}: ${SECONDS} s`);
      runs.push(await measure(engine, fleet, redis?.url, { cities, vehicles }));
    }
    await events?.();
  } finally {
    database.client.destroy();
    redis?.stop();
    await engine.close();
  }
  return { rows: rowsOf(runs), text: textOf(runs) };
}

function rowsOf(runs: readonly Run[]): Row[] {
  const kills = runs.reduce((sum, run) => sum + run.kills, 0);
  const failed = runs.flatMap(({ seen }) => seen.failed);
  const wrong = runs.flatMap(({ seen, differences }) => [...seen.wrongCounts, ...differences]);
  const requests = runs.reduce((sum, { seen }) => sum + seen.requests, 0);
  const retried = runs.reduce((sum, { seen }) => sum + seen.retried, 0);
  return [
    {
      what: `requests that failed twice, in ${kills} kills of a server`,
      bar: 'none',
      measured: [`${failed.length}`, ...new Set(failed)].slice(0, 3).join(': '),
      against: `${requests.toLocaleString('en')} requests, ${retried} retried`,
      holds: failed.length === 0,
    },
    {
      what: 'counts and, once writers rest, markers that differ from a linear scan',
      bar: 'none',
      measured: [`${wrong.length}`, ...new Set(wrong)].slice(0, 3).join(': '),
      against: '',
      holds: wrong.length === 0,
    },
  ];
}

const textOf = (runs: readonly Run[]): string =>
  [
    `Kills: for ${SECONDS} s, ${CLIENTS} clients pan and a writer moves one of 500 vehicles, five times a second each; every 20 s, a server is`,
    'killed and restarted. Failed requests go to the next once. Least to most by server:\n',
    table([
      [
        'fleet',
        'ms p50/p99',
        'read units a map',
        '% from pages alone',
        'a write seen by its server, s p50/p99',
        'by another',
      ],
      ...runs.map(({ fleet, seen }) => [
        nameOf(fleet),
        `${shown(quantile(seen.ms, 0.5), 0)}/${shown(quantile(seen.ms, 0.99), 0)}`,
        spread(seen.costs, (costs) => mean(costs.map(({ readUnits }) => readUnits))),
        fromPages(seen),
        latency(seen.own),
        fleet.servers > 1 ? latency(seen.other) : '',
      ]),
    ]),
  ].join('\n');

function fromPages({ costs }: Seen): string {
  const share = (some: Seen['costs'][number]) => {
    const sources = some.flatMap(({ markersFrom }) => markersFrom ?? []);
    return (100 * sources.filter((source) => source === 'PAGES').length) / Math.max(1, sources.length);
  };
  return spread(costs, share, 0);
}

/** The least and the greatest figure of the servers. */
function spread<T>(servers: readonly T[], figure: (of: T) => number, digits = 1): string {
  const figures = servers.map(figure);
  return [...new Set([Math.min(...figures), Math.max(...figures)].map((each) => shown(each, digits)))].join('–');
}

const latency = (ms: readonly number[]) =>
  `${shown(quantile(ms, 0.5) / 1_000, 2)}/${shown(quantile(ms, 0.99) / 1_000, 2)}`;
