import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { readMarkers } from '../../src/ingest/export/read-markers.js';
import { silentLog } from '../../src/log.js';
import { findOccupied, startConsumer } from '../../src/server/consumer.js';
import { loadStreamState, putStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { createMarker, putMarkersInBulk } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { startStallingProxy } from '../support/proxy.js';
import { recordCalls } from '../support/record-calls.js';
import { runCli, runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const database = await testDatabase('readable', { stream: true });
const calls = recordCalls(database);
const { endpoint } = engine();

const folder = temporaryFolder();
beforeAll(async () => {
  const collection = await testCollection(database, { key: 'places', name: 'Places', prefixLength: 0 }, NOW);
  const items = Array.from({ length: 700 }, (_, index) =>
    newMarkerItem(
      database,
      collection,
      { key: `k${index}`, position: { lng: (index % 360) - 180, lat: (index % 170) - 85 }, properties: { index } },
      NOW,
    ),
  );
  await putMarkersInBulk(newCall(database), items);
});

const settings = (at = endpoint) => ({
  CELLPORT_DATA_DIR: join(folder, 'data'),
  CELLPORT_TABLE: database.tables.entities,
  ...engineSettings(),
  AWS_ENDPOINT_URL_DYNAMODB: at,
});

const start = (args: readonly string[], at = endpoint) => runCli(args, settings(at));
const outcome = (...args: string[]) => runCliHere(args, settings());

describe('cellport export', () => {
  test('writes a collection to standard output in a form that import accepts', async () => {
    const run = start(['export', '--collection', 'places', '--format', 'csv']);
    const pieces: string[] = [];
    run.child.stdout?.on('data', (piece: string) => pieces.push(piece));
    const code = await run.ended;
    const output = run.output();
    expect({ code, output: output.slice(-400) }).toMatchObject({ code: 0 });
    const out = pieces.join('');
    const lines = out.trim().split('\n');
    expect(lines[0]).toBe('key,lng,lat,name,category,place,properties');
    expect(lines).toHaveLength(701);
    expect(output).toContain('700 markers of places');
    await writeFile(join(folder, 'again.csv.gz'), gzipSync(out));
    const again = await outcome('import', join(folder, 'again.csv.gz'), '--collection', 'places');
    expect(again.output).toMatch(/0 created, 0 updated, 700 unchanged, 0 rejected/);
    expect(again.output).toMatch(/to view it, run `cellport serve` and open http:\S+\/#at=0\/\S+&on=places/);
    await rm(join(folder, 'again.csv.gz'));
  });

  test('writes the rows in a bounding box to a file, in the format of its extension', async () => {
    const path = join(folder, 'box.geojson.gz');
    const args = ['--collection', 'places', '--bounds', '170,-90,-170,90', '--out', path];
    expect(await outcome('export', ...args)).toMatchObject({ code: 0 });
    const { features } = JSON.parse(gunzipSync(await readFile(path)).toString()) as {
      features: { geometry: { coordinates: [number, number] } }[];
    };
    const inside = Array.from({ length: 700 }, (_, index) => (index % 360) - 180).filter((lng) => Math.abs(lng) >= 170);
    const byValue = (a: number, b: number) => a - b;
    expect(features.map(({ geometry }) => geometry.coordinates[0]).toSorted(byValue)).toEqual(inside.toSorted(byValue));
    await rm(path);
  });

  test('reports errors before it reads anything', async () => {
    const wrong: [args: string[], code: number, message: RegExp][] = [
      [['--out', 'places.txt'], 2, /^cellport: --out must be .*\.fgb, .*\.geojson.*--format; got "places.txt"/],
      [['--out', 'places.pmtiles'], 2, /^cellport: --out must be .*\.parquet/],
      [['--out', 'places.fgb.gz'], 2, /^cellport: --out must be /],
      // Not how to convert such a file for an import.
      [['--out', 'places.gpkg'], 2, /^cellport: --out must be /],
      [['--format', 'csv', '--bounds', '0,10,1,5'], 2, /--bounds.south/],
      [['--format', 'csv', '--zones'], 2, /a format other than csv for zones/],
      [['--format', 'csv', '--out', folder], 2, /a file, not a folder/],
      [['--collection', 'nowhere'], 1, /there is no collection nowhere; existing collections: places/],
    ];
    for (const [args, code, message] of wrong) {
      const ended = await outcome('export', '--collection', 'places', ...args);
      expect(ended).toMatchObject({ code, output: expect.stringMatching(message) as unknown });
    }
    expect((await readdir(folder)).filter((name) => name !== 'data')).toEqual([]);
    const { code, output } = await runCliHere(['export', '--collection', 'places'], {
      ...settings(),
      CELLPORT_TABLE: 'none',
    });
    expect(output).toMatch(/^cellport: A table does not exist: `cellport import`, .* create it.*\n?$/);
    expect(code).toBe(1);
  });

  test('uses the cells to export a collection with too many partitions to query each', async () => {
    const input = { key: 'spread', name: 'Spread', prefixLength: 5 };
    const spread = await testCollection(database, input, NOW);
    const items = Array.from({ length: 40 }, (_, index) =>
      newMarkerItem(database, spread, { key: `k${index}`, position: { lng: index * 4, lat: index } }, NOW),
    );
    await putMarkersInBulk(newCall(database), items);
    const path = join(folder, 'spread.ndjson');
    expect(await outcome('export', '--collection', 'spread', '--out', path)).toMatchObject({ code: 0 });
    const keys = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(keys.toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => `k${index}`).toSorted());
    await rm(path);
  });

  test('if the cells are exact, queries only partitions with markers, including those that the cells lack', async () => {
    const thin = await testCollection(database, { key: 'thin', name: 'Thin', prefixLength: 1, writeShards: 3 }, NOW);
    const put = (key: string, lng: number) =>
      createMarker(newCall(database), thin, { key, position: { lng, lat: 10 } }, NOW);
    const backend = { database, streams: createStreamsClient(engine()) };
    const { signal } = new AbortController();
    await put('a', 10);
    await put('b', 90);
    const cells = startConsumer(backend, silentLog);
    await cells.caughtUp(signal);
    await cells.stop();
    await put('c', -90);
    await deleteMarker(newCall(database), { collection: thin, key: 'b' }, { now: NOW });
    const prefixes = await findOccupied(backend, thin, signal);
    expect(prefixes?.total).toBe(3);
    calls.reset();
    const found: string[] = [];
    for await (const markers of readMarkers({ collection: thin, call: newCall(database), prefixes })) {
      found.push(...markers.map(({ key }) => key));
    }
    expect(found.toSorted()).toEqual(['a', 'c']);
    expect(calls.count('Query')).toBe(9);

    const state = await loadStreamState(newCall(database), 'cells');
    if (state === undefined) throw new Error('the consumer has stored its state');
    const gap = { since: NOW, reason: 'a test' };
    await putStreamState(newCall(database), 'cells', { ...state, version: state.version + 1, gap });
    expect(await findOccupied(backend, thin, signal)).toBeUndefined();
    const path = join(folder, 'thin.geojson');
    await outcome('export', '--collection', 'thin', '--out', path);
    expect((JSON.parse(await readFile(path, 'utf8')) as { features: unknown[] }).features).toHaveLength(2);
    await rm(path);
    await testCollection(database, { key: 'deep', name: 'Deep', prefixLength: 5 }, NOW);
    expect(await outcome('export', '--collection', 'deep')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/too many partitions.*cellport recount/) as unknown,
    });
    backend.streams.destroy();
  });

  test('leaves no partial file when stopped, and keeps an existing file unchanged', async () => {
    const path = join(folder, 'out.ndjson');
    await writeFile(path, 'before');
    let batches = 0;
    const { url, stalled, close } = await startStallingProxy((asked) => asked === 'BatchGetItem' && (batches += 1) > 4);
    onTestFinished(close);
    const run = start(['export', '--collection', 'places', '--out', path], url);
    await stalled;
    // It writes next to the file.
    expect((await readdir(folder)).filter((name) => name !== 'data' && name !== 'out.ndjson')).toHaveLength(1);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain(`stopped by SIGINT; ${path} is unchanged`);
    expect((await readdir(folder)).filter((name) => name !== 'data')).toEqual(['out.ndjson']);
    expect(await readFile(path, 'utf8')).toBe('before');
  });

  test('exits when the output pipe is closed', async () => {
    const run = start(['export', '--collection', 'places', '--format', 'ndjson']);
    run.child.stdout?.destroy();
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('output pipe closed');
  });
});
