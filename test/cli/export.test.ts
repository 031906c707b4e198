import { createServer, request, type Server } from 'node:http';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runCli as runHere } from '../../src/cli/program.js';
import { readMarkers } from '../../src/ingest/export/read-markers.js';
import { silentLog } from '../../src/log.js';
import { findOccupied, keepCells } from '../../src/server/cells.js';
import { loadStreamState, putStreamState } from '../../src/store/cell/stream-state.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { createMarker, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/marker/marker-changes.js';
import { newCall } from '../../src/store/request/meter.js';
import { createStreamsClient } from '../../src/stream/dynamodb.js';
import { recordCalls } from '../support/record-calls.js';
import { runCli } from '../support/run-cli.js';
import { engine, engineSettings, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const database = await testDatabase('readable', { stream: true });
const calls = recordCalls(database);
const { endpoint } = engine();

let folder = '';
let proxy: Server | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellport-export-'));
  const collection = await createCollection(
    database,
    { key: 'places', name: 'Places', prefixLength: 0 },
    NOW,
    newCall(),
  );
  const items = Array.from({ length: 700 }, (_, index) =>
    newMarkerItem(
      database,
      collection,
      { key: `k${index}`, position: { lng: (index % 360) - 180, lat: (index % 170) - 85 }, properties: { index } },
      NOW,
    ),
  );
  await putMarkersInBulk(database, items, newCall());
});
afterAll(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await rm(folder, { recursive: true });
});

const settings = (at = endpoint) => ({
  CELLPORT_DATA_DIR: join(folder, 'data'),
  CELLPORT_TABLE: database.tables.entities,
  ...engineSettings(),
  AWS_ENDPOINT_URL_DYNAMODB: at,
});

const start = (args: readonly string[], at = endpoint, env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { ...settings(at), ...env });

async function outcome(...args: string[]) {
  const run = start(args);
  const out: string[] = [];
  run.child.stdout?.on('data', (piece: string) => out.push(piece));
  return { code: await run.ended, output: run.output(), out: out.join('') };
}

/** A proxy of the engine that passes some batches of markers on and never answers the next one. */
async function stallingAfter(batches: number): Promise<{ url: string; stalled: Promise<void> }> {
  let seen = 0;
  let stall = (): void => undefined;
  const stalled = new Promise<void>((resolve) => (stall = resolve));
  proxy = createServer((asked, answer) => {
    if (String(asked.headers['x-amz-target']).endsWith('BatchGetItem') && (seen += 1) > batches) return stall();
    const { hostname, port } = new URL(endpoint);
    const onward = request({ hostname, port, path: asked.url, method: asked.method, headers: asked.headers }, (got) => {
      answer.writeHead(got.statusCode ?? 500, got.headers);
      got.pipe(answer);
    });
    asked.pipe(onward);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy?.once('listening', resolve));
  return { url: `http://127.0.0.1:${(proxy.address() as { port: number }).port}`, stalled };
}

describe('cellport export', () => {
  test('writes a collection to standard output in a form that import accepts', async () => {
    const { code, output, out } = await outcome('export', '--collection', 'places', '--format', 'csv');
    expect({ code, output: output.slice(-400) }).toMatchObject({ code: 0 });
    const lines = out.trim().split('\n');
    expect(lines[0]).toBe('key,lng,lat,name,category,place,properties');
    expect(lines).toHaveLength(701);
    expect(output).toContain('700 markers of places');
    await writeFile(join(folder, 'again.csv.gz'), gzipSync(out));
    const again = await outcome('import', join(folder, 'again.csv.gz'), '--collection', 'places');
    expect(again.output).toMatch(/0 created, 0 updated, 700 unchanged, 0 rejected/);
    expect(again.output).toMatch(/to see it, run `cellport serve` and open http:\S+\/#at=0\/\S+&on=places/);
    await rm(join(folder, 'again.csv.gz'));
  });

  test('writes the rows in a bounding box to a file, in the format of its extension', async () => {
    const path = join(folder, 'box.geojson.gz');
    const args = ['--collection', 'places', '--bounds', '170,-90,-170,90', '--out', path];
    expect(await outcome('export', ...args)).toMatchObject({ code: 0, out: '' });
    const { features } = JSON.parse(gunzipSync(await readFile(path)).toString()) as {
      features: { geometry: { coordinates: [number, number] } }[];
    };
    const inside = Array.from({ length: 700 }, (_, index) => (index % 360) - 180).filter((lng) => Math.abs(lng) >= 170);
    const byValue = (a: number, b: number) => a - b;
    expect(features.map(({ geometry }) => geometry.coordinates[0]).toSorted(byValue)).toEqual(inside.toSorted(byValue));
    await rm(path);
  });

  test('reports errors before it reads anything', async () => {
    for (const [name, value] of Object.entries(settings())) vi.stubEnv(name, value);
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const wrong: [args: string[], code: number, message: RegExp][] = [
      [['--out', 'places.txt'], 2, /\.geojson.*--format/],
      [['--format', 'csv', '--bounds', '0,10,1,5'], 2, /--bounds.south/],
      [['--format', 'csv', '--zones'], 2, /geojson or ndjson for zones/],
      [['--format', 'csv', '--out', folder], 2, /a file, not a folder/],
      [['--collection', 'nowhere'], 1, /no collection nowhere; there are: places/],
    ];
    for (const [args, code, message] of wrong) {
      expect(await runHere(['export', '--collection', 'places', ...args])).toBe(code);
      expect(said.mock.lastCall?.[0]).toMatch(message);
    }
    expect((await readdir(folder)).filter((name) => name !== 'data')).toEqual([]);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  test('uses the cells to export a collection with too many partitions to query each', async () => {
    const input = { key: 'spread', name: 'Spread', prefixLength: 5 };
    const spread = await createCollection(database, input, NOW, newCall());
    const items = Array.from({ length: 40 }, (_, index) =>
      newMarkerItem(database, spread, { key: `k${index}`, position: { lng: index * 4, lat: index } }, NOW),
    );
    await putMarkersInBulk(database, items, newCall());
    const { code, out } = await outcome('export', '--collection', 'spread', '--format', 'ndjson');
    expect(code).toBe(0);
    const keys = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(keys.toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => `k${index}`).toSorted());
  });

  test('queries only partitions that have markers, also those that the cells do not have yet, if these are exact', async () => {
    const thin = await createCollection(
      database,
      { key: 'thin', name: 'Thin', prefixLength: 1, writeShards: 3 },
      NOW,
      newCall(),
    );
    const put = (key: string, lng: number) =>
      createMarker(database, thin, { key, position: { lng, lat: 10 } }, NOW, newCall());
    const backend = { database, streams: createStreamsClient(engine()) };
    const { signal } = new AbortController();
    await put('a', 10);
    await put('b', 90);
    const cells = keepCells(backend, silentLog);
    await cells.caughtUp(signal);
    await cells.stop();
    await put('c', -90);
    await deleteMarker(database, { collection: thin, key: 'b' }, { now: NOW }, newCall());
    const prefixes = await findOccupied(backend, thin, signal);
    expect(prefixes?.total).toBe(3);
    calls.reset();
    const found: string[] = [];
    for await (const markers of readMarkers({ database, collection: thin, call: newCall(), prefixes })) {
      found.push(...markers.map(({ key }) => key));
    }
    expect(found.toSorted()).toEqual(['a', 'c']);
    expect(calls.count('Query')).toBe(9);

    const state = await loadStreamState(database, 'cells', newCall());
    if (state === undefined) throw new Error('the consumer has stored its state');
    const gap = { since: NOW, reason: 'a test' };
    await putStreamState(database, 'cells', { ...state, version: state.version + 1, gap }, newCall());
    expect(await findOccupied(backend, thin, signal)).toBeUndefined();
    const geojson = await outcome('export', '--collection', 'thin');
    expect((JSON.parse(geojson.out) as { features: unknown[] }).features).toHaveLength(2);
    await createCollection(database, { key: 'deep', name: 'Deep', prefixLength: 5 }, NOW, newCall());
    expect(await outcome('export', '--collection', 'deep')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/too many partitions.*cellport recount/) as unknown,
    });
    backend.streams.destroy();
  });

  test('leaves no partial file when stopped, and keeps an existing file unchanged', async () => {
    const path = join(folder, 'out.ndjson');
    await writeFile(path, 'before');
    const { url, stalled } = await stallingAfter(4);
    const run = start(['export', '--collection', 'places', '--out', path], url);
    await stalled;
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^out\.ndjson\..*\.part$/));
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain(`stopped by SIGINT; ${path} is unchanged`);
    expect((await readdir(folder)).filter((name) => name !== 'data')).toEqual(['out.ndjson']);
    expect(await readFile(path, 'utf8')).toBe('before');
  });

  test('exits when the output pipe is closed', async () => {
    const { url } = await stallingAfter(Infinity);
    const run = start(['export', '--collection', 'places', '--format', 'ndjson'], url);
    run.child.stdout?.destroy();
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('output pipe closed');
  });
});
