import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import type { Point } from '../../src/geo/bounds.js';
import { encode } from '../../src/geo/geohash.js';
import type { LoadReadiness } from '../../src/http/health.js';
import { openCities } from '../../src/ingest/markers/cities.js';
import { isInvalid } from '../../src/ingest/read/row.js';
import { ensureMonthTable, monthsAhead } from '../../src/store/table/month-tables.js';
import { startServer } from '../http/live-server.js';
import { postQuery } from '../support/post-query.js';
import { startStallingProxy } from '../support/proxy.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { runCli, runCliHere, type RunningCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, newDatabase } from '../support/test-database.js';

const PAGE = join(import.meta.dirname, '../../dist/page/index.html');
/**
 * Three windows of at most 2,000 rows. An import saves its progress after each of them, and writes two concurrently.
 */
const ROWS = 4_050;
const runs: RunningCli[] = [];
const folder = temporaryFolder();
afterAll(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.map(({ ended }) => ended));
});

function start(data: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCli {
  const run = runCli(args, { CELLPORT_DATA_DIR: join(folder, data), PORT: '0', ...env });
  runs.push(run);
  return run;
}

async function ask<T>(url: string, query: string): Promise<T> {
  const { data, errors } = (await (await postQuery(url, query)).json()) as { data: T; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

async function countOf(url: string, collection: string): Promise<number> {
  const { found } = await ask<{ found: { count: number } }>(
    url,
    `{ found: collection(key: "${collection}") { count } }`,
  );
  return found.count;
}

/** Waits until the port of a data folder's engine is closed. */
async function engineGone(data: string): Promise<void> {
  const { java } = JSON.parse(await readFile(join(folder, data, 'keeper.json'), 'utf8')) as { java: { pid: number } };
  for (;;) {
    try {
      process.kill(java.pid, 0);
    } catch {
      return;
    }
    await sleep(100);
  }
}

/** Tests of servers in processes of their own. */
const turn = inTurn(2);

describe('cellport serve', () => {
  it.runIf(runsAll)(
    'serves requests, stops with its engine on SIGTERM, and loses no acknowledged write on kill -9',
    async () => {
      const first = start('serve', ['serve']);
      const url = await first.serving();
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: true, reasons: [] });
      const front = await fetch(`${url}/`, { redirect: 'manual' });
      // The map if it has been built (`npm run build`), else GraphiQL.
      if (existsSync(PAGE)) expect(await front.text()).toContain('<title>Cellport');
      else expect(front.headers.get('location')).toBe('/graphiql/');
      await ask(url, 'mutation { createCollection(input: { key: "parks", name: "Parks" }) { id } }');
      const marker = (key: number) =>
        `createMarker(input: { collection: "parks", key: "${key}", position: { lng: ${key}, lat: 2 } }) { id }`;
      for (let key = 0; key < 20; key += 1) await ask(url, `mutation { ${marker(key)} }`);
      first.child.kill('SIGKILL');
      await first.ended;

      const second = start('serve', ['serve']);
      const again = await second.serving();
      await vi.waitFor(async () => expect(await countOf(again, 'parks')).toBe(20), { timeout: 30_000 });
      second.child.kill('SIGTERM');
      expect(await second.ended).toBe(0);
      await engineGone('serve');
    },
  );

  it('fails at once if its port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const { code, output } = await runCliHere(['serve'], { PORT: String(port) });
    expect(code).toBe(1);
    expect(output).toContain(`port ${port} on 127.0.0.1 is in use; set PORT to another`);
    await new Promise((resolve) => other.close(resolve));
  });
});

describe('cellport serve --demo', () => {
  const cities = 1_200;
  const world = 'bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 2';

  /** Largest cities per cell, counted one by one. */
  async function counted(precision: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for await (const rows of openCities(cities).rows.scan()) {
      for (const { content } of rows) {
        if (isInvalid(content)) throw new Error(content.reason);
        const cell = encode(content.position as Point, precision);
        counts[cell] = (counts[cell] ?? 0) + 1;
      }
    }
    return counts;
  }

  it.runIf(turn())(
    'answers during the load, resumes after kill -9, ends with exact cells, and logs no warnings',
    async () => {
      const settings = { ...engineSettings(), CELLPORT_TABLE: 'demo' };
      // Half of the cities, then the load stalls. The consumer, which writes other tables, goes on.
      let batches = 0;
      const isLoad = (asked: string, body: string) => asked === 'BatchWriteItem' && body.includes('"demo":');
      const proxy = await startStallingProxy((asked, body) => isLoad(asked, body) && (batches += 1) > cities / 50);
      onTestFinished(proxy.close);
      const first = start('demo', ['serve', '--demo', String(cities)], {
        ...settings,
        AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
      });
      const url = await first.serving();
      const load = async (of = url) => {
        const response = await fetch(`${of}/readyz`);
        return { status: response.status, ...((await response.json()) as { load: LoadReadiness }).load };
      };
      expect(await load()).toMatchObject({ status: 200, state: 'loading' });
      // The first cells exist before the load is complete.
      await vi.waitFor(async () => expect(await countOf(url, 'cities')).toBeGreaterThan(0), { timeout: 60_000 });
      expect(await load()).toMatchObject({ status: 200, state: 'loading', counted: false });
      first.child.kill('SIGKILL');
      await first.ended;

      const second = start('demo', ['serve', '--demo', String(cities)], settings);
      const again = await second.serving();
      await second.said(/Cities +1,200 loaded and counted in .*: http/);
      expect(await load(again)).toMatchObject({ cities, of: cities, counted: true });
      const { found, viewport } = await ask<{
        found: { count: number; countsExact: boolean };
        viewport: { cells: readonly { geohash: string; count: number }[] };
      }>(
        again,
        `{ found: collection(key: "cities") { count countsExact }
           viewport(${world}) { cells(collection: "cities", precision: 3) { geohash count } } }`,
      );
      expect(found).toEqual({ count: cities, countsExact: true });
      expect(Object.fromEntries(viewport.cells.map(({ geohash, count }) => [geohash, count]))).toEqual(
        await counted(3),
      );
      const isShown = async () => {
        const shown = await ask<{ viewport: { plan: object } }>(
          again,
          `{ viewport(${world}) { plan(collection: "cities") { source requests readUnits ranges { pk from to } } } }`,
        );
        const view = ['--bounds', '-180,-90,180,90', '--zoom', '3', '--json'];
        const { output } = await runCliHere(['plan', '--live', ...view], settings);
        const { markers, ...plan } = JSON.parse(output) as { markers: object[] };
        expect({ ...plan, ranges: markers }).toMatchObject({ ...shown.viewport.plan, source: 'PAGES' });
      };
      await vi.waitFor(isShown, { timeout: 60_000, interval: 500 });
      second.child.kill('SIGTERM');
      expect(await second.ended).toBe(0);
      for (const run of [first, second]) expect(run.output()).not.toMatch(/"level":|WARN|ERROR|\n +at /);
    },
  );
});

describe('cellport import', () => {
  it.runIf(runsAll)(
    'loads a file, reports its rows, changes nothing when repeated, resumes after an interruption, and updates the counts',
    async () => {
      const path = join(folder, 'places.csv');
      const lines = Array.from(
        { length: ROWS },
        (_, at) => `k${at},${(at % 360) - 180},${(at % 170) - 85},Place ${at}`,
      );
      await writeFile(path, ['id,lng,lat,name', ...lines, 'bad,1,91,Nowhere', 'k1,1,1,Again'].join('\n'));
      const args = ['import', path, '--collection', 'places'];

      // In memory, where writes take a quarter of the time.
      const settings = { ...engineSettings(), CELLPORT_TABLE: 'imported', CELLPORT_DATA_DIR: join(folder, 'import') };
      const state = join(folder, 'import', 'imports');
      const hasProgress = () => {
        const name = existsSync(state) ? readdirSync(state).find((each) => each.endsWith('.json')) : undefined;
        return name !== undefined && !readFileSync(join(state, name), 'utf8').includes('"written":0');
      };
      // The third window starts once the progress of the first one is saved, and is never written.
      const proxy = await startStallingProxy((asked) => asked === 'BatchWriteItem' && hasProgress());
      onTestFinished(proxy.close);
      const first = start('import', args, { ...settings, AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
      await Promise.race([proxy.stalled, first.ended]);
      first.child.kill('SIGINT');
      expect(await first.ended).toBe(1);
      expect(first.output()).toMatch(/run the same command again to resume/);

      const second = await runCliHere(args, settings);
      expect(second).toMatchObject({ code: 0, output: expect.stringMatching(/resumed after [\d,]+ rows/) as unknown });
      expect(second.output).toMatch(/4,052 rows in .*0 updated.*2 rejected/);
      const rejects = (await readFile(`${path}.rejects.ndjson`, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { line: number });
      expect(rejects.map(({ line }) => line)).toEqual([ROWS + 2, ROWS + 3]);

      expect(second.output).toMatch(/counts and clusters include all rows\nto view it, run `cellport serve`/);

      const tables = { entities: 'imported', derived: 'imported-derived' };
      const server = await startServer(newDatabase('readable', { tables }));
      onTestFinished(() => server.close());
      const third = await runCliHere(args, { ...settings, PORT: new URL(server.url).port });
      expect(third).toMatchObject({ code: 0 });
      expect(third.output).toMatch(/0 created, 0 updated, 4,050 unchanged, 2 rejected/);
      expect(third.output).toMatch(/the running server updates counts.*\nview it: http/);

      expect(await countOf(server.url, 'places')).toBe(ROWS);
    },
  );

  it('commands create, describe and delete the tables', async () => {
    const run = (...args: string[]) => runCliHere(['table', ...args], engineSettings());
    expect(await run('describe')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/MISSING[^]*table create/) as unknown,
    });
    expect(await run('create')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/cellport: created[^]*cellport-derived: created/) as unknown,
    });
    const [month = ''] = monthsAhead(Date.now());
    const tables = { entities: 'cellport', derived: 'cellport-derived' };
    await ensureMonthTable(newDatabase('readable', { tables }), month, Date.now());
    expect(await run('describe')).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /ACTIVE[^]*geoA, geoB[^]*cellport-readings-\d{4}-\d\d [^]*ACTIVE[^]*NEW_AND_OLD_IMAGES[^]*by ttl/,
      ) as unknown,
    });
    expect(await run('delete', '--yes')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/cellport: deleted/) as unknown,
    });
  });

  it.runIf(turn())(
    'a promise that nobody waits for ends a server in order, with its reason and exit code 1',
    async () => {
      const preload = encodeURIComponent(`process.on('SIGUSR2', () => Promise.reject(new Error('nobody_waits')))`);
      const env = {
        ...engineSettings(),
        CELLPORT_TABLE: 'failing',
        NODE_OPTIONS: `--import=data:text/javascript,${preload}`,
      };
      const run = start('failing', ['serve'], env);
      const url = await run.serving();
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      run.child.kill('SIGUSR2');
      expect(await run.ended).toBe(1);
      expect(run.output()).toMatch(/nobody_waits[^]*nothing has handled[^]*stopping\ncellport: Error: nobody_waits/);
    },
  );
});
