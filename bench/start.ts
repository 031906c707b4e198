import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const ROWS = 3_000;
const POLL_MS = 50;
const GIVE_UP_AFTER_MS = 600_000;
const WORLD = `{ found: collection(key: "cities") { count countsExact }
  viewport(bounds: { west: -180, south: -85, east: 180, north: 85 }, zoom: 2) { clusters(collection: "cities") { count } } }`;

interface Answer {
  readonly found: { readonly count: number; readonly countsExact: boolean };
  readonly viewport: { readonly clusters: readonly unknown[] | null };
}

interface Place {
  readonly folder: string;
  readonly port: number;
}

const settings = ({ folder, port }: Place) => ({ ...process.env, CELLPORT_DATA_DIR: folder, PORT: String(port) }); // oxlint-disable-line node/no-process-env

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Seconds until `done` returns true. */
async function until(began: number, done: () => Promise<boolean>): Promise<number> {
  while (!(await done().catch(() => false))) {
    if (performance.now() - began > GIVE_UP_AFTER_MS) throw new Error('timed out waiting for the server');
    await sleep(POLL_MS);
  }
  return (performance.now() - began) / 1_000;
}

async function ask({ port }: Place): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: WORLD });
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body });
  return ((await response.json()) as { readonly data: Answer }).data;
}

const answers =
  ({ port }: Place) =>
  async () =>
    (await fetch(`http://127.0.0.1:${port}/`)).ok;

async function loaded({ port }: Place): Promise<{ readonly cities: number; readonly of: number | null }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return ((await response.json()) as { readonly load: { readonly cities: number; readonly of: number | null } }).load;
}

function start(place: Place, output: string[]): ChildProcess {
  const child = spawn(process.execPath, ['scripts/start.mjs'], { env: settings(place) });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => output.push(text.toString()));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Duration of a command in seconds. */
async function command(place: Place, args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ['dist/cli/main.js', ...args], { env: settings(place), stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`cellport ${args.join(' ')} exited with code ${code}`);
  return (performance.now() - began) / 1_000;
}

async function writeRows(path: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => `k${at},${(at % 360) - 180},${(at % 170) - 85},Place ${at}`);
  await writeFile(path, ['key,lng,lat,name', ...rows].join('\n'));
}

/** Imports and exports while a server runs on the folder, like a user; `suffix` makes the collections new. */
async function files(place: Place, suffix: string): Promise<{ readonly imported: number; readonly exported: number }> {
  const path = join(place.folder, 'rows.csv');
  const out = join(place.folder, 'out.geojson');
  await writeRows(path, ROWS);
  const imported = await command(place, ['import', path, '--collection', `many${suffix}`]);
  await writeRows(path, 2);
  await command(place, ['import', path, '--collection', `few${suffix}`]);
  const exported = await command(place, ['export', '--collection', `few${suffix}`, '--out', out]);
  const { features } = JSON.parse(await readFile(out, 'utf8')) as { readonly features: readonly unknown[] };
  if (features.length !== 2) throw new Error(`${features.length} markers exported`);
  return { imported, exported };
}

const row = (what: string, seconds: number, most: number): Row => ({
  what,
  bar: `under ${most} s`,
  measured: `${shown(seconds, 1)} s`,
  against: '',
  holds: seconds < most,
});

async function run({ say }: BenchOptions): Promise<Section> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { stdio: 'ignore' });
  const place = { folder: await mkdtemp(join(tmpdir(), 'cellport-start-')), port: await freePort() };
  const output: string[] = [];
  let child: ChildProcess | undefined;
  try {
    let began = performance.now();
    child = start(place, output);
    const answered = await until(began, answers(place));
    say(`the page answers after ${shown(answered, 1)} s`);
    const drawn = await until(began, async () => ((await ask(place)).viewport.clusters?.length ?? 0) > 0);
    say(`the first clusters are there after ${shown(drawn, 1)} s`);
    const exact = await until(began, async () => {
      const { cities, of } = await loaded(place);
      if (cities !== of) return sleep(POLL_MS * 10, false);
      const { found } = await ask(place);
      return found.countsExact && found.count === of;
    });
    say(`all cities are counted after ${shown(exact, 1)} s`);
    await until(began, async () => /the demo is complete/.test(output.join('')));
    const { imported, exported } = await files(place, '');
    await stop(child);
    const warnings = output.join('').match(/"level":|WARN|ERROR|\n +at /g)?.length ?? 0;
    began = performance.now();
    child = start(place, output);
    const again = await until(began, answers(place));
    const cold = await files(place, '-cold');
    return {
      title: 'The first start',
      rows: [
        row('`npm start` on a built tree until the page answers', answered, 12),
        row('until the first clusters', drawn, 12),
        row('until all 49,025 cities are counted exactly', exact, 60),
        {
          what: 'warnings and traces on the terminal',
          bar: 'none',
          measured: String(warnings),
          against: '',
          holds: warnings === 0,
        },
        row('second start until the page answers', again, 6),
        row(`import of ${ROWS} rows`, imported, 4),
        row('export of 2 markers', exported, 2),
      ],
      isDetail: true,
      text: `With the embedded database on disk. Right after a restart: import ${shown(cold.imported, 1)} s, export ${shown(cold.exported, 1)} s.`,
    };
  } finally {
    if (child !== undefined && child.exitCode === null) await stop(child);
    await rm(place.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}

export const starting: Benchmark = { name: 'start', hasCounts: false, run };
