import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEngine, type Engine } from '../../src/engine/start.js';
import { createDatabase } from '../../src/store/create-database.js';
import { cityMarkers, type BenchMarker } from '../rig/points.js';
import { serveCities } from '../rig/serve-cities.js';
import type { Row } from '../section.js';
import { pan } from './clients.js';
import { startEventSource } from './event-source.js';
import { CLIENTS, nameOf, rowsOf, SECONDS, textOf, type Fleet, type Run } from './killed-report.js';
import { startRedis } from './redis.js';
import { Seen } from './requests.js';
import { Servers } from './servers.js';
import { Vehicles } from './vehicles.js';

const KILL_EVERY_MS = 20_000;
const SETTLES_WITHIN_MS = 10_000;
const SMALLEST = 5_000;
const TABLE = 'cellport';

const FLEETS: readonly Fleet[] = [
  { servers: 1, redis: false, sticky: false, lambda: false },
  { servers: 2, redis: false, sticky: false, lambda: false },
  { servers: 2, redis: true, sticky: false, lambda: false },
  { servers: 4, redis: false, sticky: false, lambda: false },
  { servers: 4, redis: true, sticky: false, lambda: false },
  { servers: 4, redis: true, sticky: true, lambda: false },
  { servers: 2, redis: false, sticky: false, lambda: true },
];

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
    for (const fleet of FLEETS) {
      if (fleet.redis && redis === undefined) continue;
      const stopEvents = fleet.lambda ? await startEventSource(database, engine) : undefined;
      say(`${nameOf(fleet)}: ${SECONDS} s`);
      runs.push(await measure(engine, fleet, redis?.url, { cities, vehicles }));
      await stopEvents?.();
    }
  } finally {
    database.client.destroy();
    redis?.stop();
    await engine.close();
  }
  return { rows: rowsOf(runs), text: textOf(runs) };
}
