import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { silentLog } from '../../src/log.js';
import { startConsumer, storedReport } from '../../src/server/consumer.js';
import { createServices } from '../../src/server/services.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { startServer } from '../http/live-server.js';
import { until } from '../live/support.js';
import { postQuery } from '../support/post-query.js';
import { rounds, runsAll, variants } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';
import { engine, engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** Seven servers that are asked more often keep a core busy. */
const EVERY_MS = 300;
const APART = [5, -5, 300, -300, 86_400, -86_400].map((seconds) => seconds * SECOND);
const MAP = `{ viewport(bounds: { west: -10, south: 40, east: 10, north: 60 }, zoom: 5) {
  markers(collection: "parks", first: 100) { nodes { key } }
} }`;

const db = await testDatabase('readable', { stream: true });
const parks = await testCollection(db, { key: 'parks', name: 'Parks' });
const markers = Array.from({ length: 20 }, (_, at) => ({ key: `k${at}`, position: { lng: at / 4, lat: 45 + at / 4 } }));
await createMarkers(newCall(db), parks, markers, new Date().toISOString());

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanup.splice(0).toReversed()) await end();
});

/** A server on a machine whose clock is ahead. `consumer`: whether it may maintain the pages. */
async function serverOn(machine: { aheadMs: number }, { consumer = false } = {}) {
  const clock = { ...systemClock, wall: () => Date.now() + machine.aheadMs };
  const database = createDatabase({ ...engine(), tables: db.tables, keyStyle: 'readable', clock });
  const streams = createStreamsClient(engine(), database.clock);
  const backend = { database, streams };
  let dead = false;
  // A killed process sends nothing more, not even that it has stopped.
  for (const { middlewareStack } of [database.client, streams] as const) {
    const add = middlewareStack.add.bind(middlewareStack) as (middleware: unknown, options: object) => void;
    add((next: (args: object) => object) => (args: object) => (dead ? new Promise(() => undefined) : next(args)), {
      step: 'initialize',
      name: 'dead',
    });
  }
  const cells = consumer ? startConsumer(backend, silentLog) : undefined;
  const caches = createServices(backend.database, {
    consumerStatus: () => cells?.status(),
    storedReport: () => storedReport(backend.database),
  });
  const server = await startServer(database, {
    pageServices: caches.pageServices,
    trust: caches.trust,
    status: () => cells?.status(),
    now: caches.now,
  });
  cleanup.push(async () => {
    await server.close();
    if (dead) void cells?.stop();
    else await cells?.stop();
    database.client.destroy();
    streams.destroy();
  });
  return {
    database,
    cells,
    kill: () => {
      dead = true;
    },
    /** What a map was read from, by how many Query calls. */
    async map() {
      const { data, errors, extensions } = await server.ask(MAP, {}, { 'x-cellport-cost': '1' });
      expect(errors).toEqual([]);
      expect(data.viewport.markers.nodes).toHaveLength(markers.length);
      return extensions?.['cost'] as { readonly markersFrom: string; readonly queries: number };
    },
  };
}
type Server = Awaited<ReturnType<typeof serverOn>>;

const reads = (server: Server, source: 'PAGES' | 'INDEX') =>
  until(async () => (await server.map()).markersFrom === source, EVERY_MS);

const seed = Number(process.env['CELLPORT_SEED'] ?? Date.now());
// Another one in each run, if not both.
const owners = [5 * SECOND, -DAY, 5 * SECOND].slice(seed % 2).slice(0, rounds('ownersOfOtherClocks'));

test.each(owners)(
  'servers read the pages of an owner whose clock is %i ms ahead, whatever their own clocks say, until it is killed, and those of the next owner',
  async (aheadMs) => {
    const owner = await serverOn({ aheadMs }, { consumer: true });
    await until(() => owner.cells?.status().owner === true);
    const others = await Promise.all(variants(APART, 3).map((apart) => serverOn({ aheadMs: apart })));
    for (const server of [owner, ...others]) await reads(server, 'PAGES');

    owner.kill();
    await Promise.all(others.map((server) => reads(server, 'INDEX')));
    const next = await serverOn({ aheadMs: -aheadMs }, { consumer: true });
    await until(() => next.cells?.status().owner === true);
    await Promise.all([next, ...others].map((server) => reads(server, 'PAGES')));
    expect(next.cells?.status().countsExact).toBe(true);
  },
);

test('an owner and a reader whose clocks are set during work go on with pages, without a gap or a loss', async () => {
  const machine = { aheadMs: 0 };
  const owner = await serverOn(machine, { consumer: true });
  const other = { aheadMs: 0 };
  const reader = await serverOn(other);
  await until(() => owner.cells?.status().owner === true);
  for (const aheadMs of variants([DAY, 0, -DAY, 5 * SECOND, -5 * SECOND, 40 * DAY], 3)) {
    machine.aheadMs = aheadMs;
    // Longer than the owner writes nothing, so that what it writes is of this time.
    await sleep(1_500);
    await reads(reader, 'PAGES');
    other.aheadMs = -aheadMs;
    await reads(reader, 'PAGES');
    await reads(owner, 'PAGES');
    expect(owner.cells?.status()).toMatchObject({ owner: true, countsExact: true, gap: null });
  }
});

test('whatever a machine says, what a server stores has the time of DynamoDB', async () => {
  const server = await serverOn({ aheadMs: 40 * DAY });
  const before = Date.now();
  await server.map();
  const createdAt = Date.parse(new Date(server.database.clock.wall()).toISOString());
  expect(Math.abs(createdAt - before)).toBeLessThan(60 * SECOND);
});

/** Processes on one machine whose clocks differ. */
const processes: RunningCli[] = [];
afterAll(async () => {
  for (const { child, ended } of processes) {
    child.kill('SIGTERM');
    await ended;
  }
});

test.runIf(runsAll)(
  '`serve` says that the clock of its machine differs, in /readyz and in the log, with both times, and reads pages',
  async () => {
    const settings = {
      ...engineSettings(),
      CELLPORT_TABLE: `clocks-${randomUUID()}`,
      PORT: '0',
      CELLPORT_SEARCH_MB: '0',
    };
    const start = async (aheadMs: number) => {
      const shift = `const now = Date.now; Date.now = () => now() + ${aheadMs};`;
      const cli = runCli(['serve'], {
        ...settings,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}`,
      });
      processes.push(cli);
      return { cli, url: await cli.serving() };
    };
    const ask = async (url: string, query: string) => {
      const response = await postQuery(url, query, { headers: { 'x-cellport-cost': '1' } });
      return (await response.json()) as { errors?: unknown; extensions?: { cost: { markersFrom: string } } };
    };
    const { url } = await start(5 * SECOND);
    await ask(url, 'mutation { createCollection(input: { key: "parks", name: "Parks" }) { key } }');
    const position = '{ lng: 1, lat: 50 }';
    await ask(
      url,
      `mutation { createMarker(input: { collection: "parks", key: "a", position: ${position} }) { key } }`,
    );
    const other = await start(-DAY);
    await until(async () => (await ask(other.url, MAP)).extensions?.cost.markersFrom === 'PAGES', EVERY_MS);
    await other.cli.said(/this machine's clock says \d{4}-\S+Z, DynamoDB's \d{4}-\S+Z: .*set the machine's \(NTP\)/);
    const { clock, ready } = (await (await fetch(`${other.url}/readyz`)).json()) as {
      ready: boolean;
      clock: { aheadMs: number; warning: string };
    };
    expect(ready).toBe(true);
    expect(Math.round(clock.aheadMs / DAY)).toBe(-1);
    expect(clock.warning).toContain('this machine');
  },
);
