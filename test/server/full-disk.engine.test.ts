import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';

import { postQuery } from '../support/post-query.js';
import { runsAll } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';

const disk = mkdtempSync(join(tmpdir(), 'cellport-disk-'));
const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', disk]).status === 0;
const isMounted = runsAll && mount('size=20m');
if (runsAll && !isMounted) console.warn('NOT TESTED: what a full disk does, because this user may not mount a tmpfs');

const data = join(disk, 'data');
const filler = join(disk, 'filler');
const runs: RunningCli[] = [];
const TEXT = 'x'.repeat(1_000);
const FULL = /the disk is full: \d+ KB left for the data folder, and writes need 8192 KB/;

function start(...args: readonly string[]): RunningCli {
  const run = runCli(args, { CELLPORT_DATA_DIR: data, PORT: '0', CELLPORT_LOG: 'error' });
  runs.push(run);
  return run;
}

const serving = () => start('serve').serving();

/** What another program writes to the disk: everything that fits. */
function fillDisk(): void {
  const file = openSync(filler, 'a');
  for (const bytes of [65_536, 4_096, 1]) {
    try {
      while (writeSync(file, Buffer.alloc(bytes, 1)) === bytes);
    } catch {
      // No more of this size.
    }
  }
  closeSync(file);
}

interface Answer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Each marker that `createMarkers` refuses has a failure of its own. */
const failuresOf = ({ data: found, errors = [] }: Answer) => [
  ...errors,
  ...((found?.['createMarkers'] as { readonly failures: readonly { readonly message: string }[] } | undefined)
    ?.failures ?? []),
];

const ask = async (url: string, query: string, variables: object = {}) =>
  (await (await postQuery(url, query, { variables })).json()) as Answer;

/** What the clients were told. */
const told = { markers: [] as string[], readings: [] as string[], refusals: [] as string[] };

const instant = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const markerNamed = (key: string) => ({ key, position: { lng: 16.9, lat: 52.4 }, properties: { text: TEXT } });
const CREATE = `mutation ($markers: [MarkerInput!]!) {
  createMarkers(collection: "full", markers: $markers) { markers { id } failures { message } } }`;
const UPSERT =
  'mutation ($markers: [MarkerInput!]!) { upsertMarkers(collection: "full", markers: $markers) { created } }';
const RECORD = `mutation ($readings: [ReadingInput!]!) {
  recordReadings(marker: "marker::full::sensor", readings: $readings) }`;

/** Writes until it is stopped, as three kinds of clients, and keeps what they were told. */
function write(url: string, signal: AbortSignal): Promise<unknown> {
  const client = async (name: string, once: (turn: number) => Promise<Answer>, acknowledge: (turn: number) => void) => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const answer = await once(turn).catch((error: unknown) => ({ errors: [{ message: String(error) }] }));
      const [failure] = failuresOf(answer);
      if (failure === undefined) acknowledge(turn);
      else if (!signal.aborted) told.refusals.push(`${name}: ${failure.message}`);
      if (failure !== undefined) await sleep(50);
    }
  };
  const keys = (name: string, turn: number) => Array.from({ length: 20 }, (_, index) => `${name}-${turn}-${index}`);
  const markers = (name: string, query: string) =>
    client(
      name,
      (turn) => ask(url, query, { markers: keys(name, turn).map(markerNamed) }),
      (turn) => told.markers.push(...keys(name, turn)),
    );
  const instants = (turn: number) => Array.from({ length: 50 }, (_, index) => instant(turn * 50 + index));
  return Promise.all([
    markers('create', CREATE),
    markers('upsert', UPSERT),
    client(
      'record',
      (turn) => ask(url, RECORD, { readings: instants(turn).map((at) => ({ at, values: { level: turn } })) }),
      (turn) => told.readings.push(...instants(turn)),
    ),
  ]);
}

/** What was acknowledged and is not there. */
async function lost(url: string): Promise<string[]> {
  const missing: string[] = [];
  for (let first = 0; first < told.markers.length; first += 1_000) {
    const keys = told.markers.slice(first, first + 1_000);
    const ids = keys.map((key) => `marker::full::${key}`);
    const { data: found } = await ask(url, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    const nodes = (found?.['nodes'] ?? []) as readonly unknown[];
    missing.push(...keys.filter((_, index) => (nodes[index] ?? null) === null));
  }
  const { data: found } = await ask(url, '{ marker(id: "marker::full::sensor") { readings(last: 5000) { at } } }');
  const sensor = found?.['marker'] as { readonly readings: readonly { readonly at: string }[] } | undefined;
  const stored = new Set(sensor?.readings.map(({ at }) => new Date(at).toISOString()));
  return [...missing, ...told.readings.slice(-5_000).filter((at) => !stored.has(at))];
}

const kill = (pid: number) => process.kill(pid, 'SIGKILL');

afterAll(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.map(({ ended }) => ended));
  const unmount = () => execFileSync('umount', [disk], { stdio: 'ignore' });
  if (isMounted) await vi.waitFor(unmount, { timeout: 30_000, interval: 200 });
  rmdirSync(disk);
});

test.runIf(isMounted)(
  'on a full disk no acknowledged write is lost, reads go on, and writes resume by themselves',
  async () => {
    let url = await serving();
    await ask(url, 'mutation { createCollection(input: { key: "full", name: "Full" }) { key } }');
    await ask(url, UPSERT, { markers: [markerNamed('sensor')] });
    const rows = Array.from(
      { length: 300 },
      (_, n) => `{"key":"import-${n}","lng":16.9,"lat":52.4,"text":"${TEXT}"}\n`,
    );
    const file = join(tmpdir(), `cellport-full-${process.pid}.ndjson`);
    onTestFinished(() => rmSync(file));
    writeFileSync(file, rows.join(''));

    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const writing = write(url, stop.signal);
    /** Waits until each kind of client has been refused, and looks for what was acknowledged. */
    const refused = async () => {
      told.refusals.splice(0);
      const kinds = () => new Set(told.refusals.map((line) => line.split(':')[0])).size;
      await vi.waitFor(() => expect(kinds()).toBe(3), { timeout: 120_000 });
      expect(told.refusals.filter((line) => !FULL.test(line))).toEqual([]);
      expect(await lost(url)).toEqual([]);
    };
    await refused();
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringMatching(FULL)]);

    mount('remount,size=40m');
    const before = told.markers.length;
    const imported = start('import', file, '--collection', 'full');
    await vi.waitFor(() => expect(told.markers.length).toBeGreaterThan(before), { timeout: 60_000 });
    fillDisk();
    await refused();
    stop.abort();
    await writing;

    const { java } = JSON.parse(readFileSync(join(data, 'keeper.json'), 'utf8')) as { java: { pid: number } };
    kill(Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(java.pid)], { encoding: 'utf8' })));
    kill(java.pid);
    runs[0]?.child.kill('SIGKILL');
    await runs[0]?.ended;
    url = await serving();
    expect(await lost(url)).toEqual([]);

    rmSync(filler);
    mount('remount,size=80m');
    if ((await imported.ended) !== 0) expect(imported.output()).toMatch(/ENOSPC.*repeat the command|the disk is full/);
    const resumed = start('import', file, '--collection', 'full');
    expect([await resumed.ended, resumed.output()]).toEqual([0, expect.any(String)]);
    told.markers.push(...rows.map((_, n) => `import-${n}`));
    expect(await lost(url)).toEqual([]);
  },
);
