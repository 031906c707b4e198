import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import type { HotKeys } from '../../src/http/metrics.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { silentLog, type Log } from '../../src/log.js';
import { metricsOf, namesOf, sampled, warnOfHotKeys } from '../../src/server/hot-keys.js';
import { openServer, type Server } from '../../src/server/open-server.js';
import { ConsumptionSampler } from '../../src/store/consumption/sampler.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { postQuery } from '../support/post-query.js';
import { runCliHere } from '../support/run-cli.js';
import { engine, engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const database = await testDatabase('readable', { stream: true });
const streams = createStreamsClient(engine());
const servers: Server[] = [];

async function serve(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const config = readConfig({}, { PORT: '0', CELLPORT_CONSUMER: 'off', ...env });
  const backend = { database, streams, where: '', storageFault: async () => undefined, close: async () => undefined };
  const server = openServer(config, sampled(backend), {}, silentLog);
  servers.push(server);
  return server.listen();
}

let url = '';
beforeAll(async () => {
  const collection = await testCollection(database, { key: 'parks', name: 'Parks' }, NOW);
  const markers = Array.from({ length: 60 }, (_, n) => ({
    key: `p${n}`,
    position: { lng: n < 50 ? 13.4 : 2.35, lat: n < 50 ? 52.5 : 48.9 },
  }));
  await createMarkers(newCall(database), collection, markers, NOW);
  url = await serve();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  streams.destroy();
});

const ask = (query: string) => postQuery(url, query).then((answer) => answer.json());

test('a server shows the keys that it reads most, in /hot-keys, /metrics and on the command line', async () => {
  const view =
    '{ viewport(bounds: { west: 13, south: 52, east: 14, north: 53 }, zoom: 12) { markers(collection: "parks") { nodes { key } } } }';
  for (let n = 0; n < 3; n += 1) expect(await ask(view)).toHaveProperty('data.viewport.markers.nodes.length', 50);
  const hot = (await (await fetch(`${url}/hot-keys`)).json()) as HotKeys;
  expect(hot.keys).toContainEqual({
    table: database.tables.entities,
    index: 'geoA',
    key: 'marker::parks::u3',
    names: 'marker prefix u3 of collection parks in index geoA',
    bounds: { west: 11.25, south: 50.625, east: 22.5, north: 56.25 },
    readUnits: expect.any(Number),
    writeUnits: 0,
    share: expect.any(Number),
  });
  expect(hot.keys.reduce((sum, { share }) => sum + share, 0)).toBeLessThan(1.001);

  const metrics = await fetch(`${url}/metrics`);
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await metrics.text()).trimEnd().split('\n');
  const sample = /^[a-z_\d]+(?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\})? (?:nan|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;
  expect(lines.filter((line) => line !== '' && !/^# (?:HELP|TYPE) /.test(line) && !sample.test(line))).toEqual([]);
  const labels = `{table="${database.tables.entities}",index="geoA",key="marker::parks::u3"}`;
  expect(lines.some((line) => line.startsWith(`cellport_hot_key_read_units_per_second${labels} `))).toBe(true);

  const table = await runCliHere(['hot', '--url', url], engineSettings());
  expect(table).toMatchObject({ code: 0 });
  expect(table.output).toMatch(/%\s+\d+\.\d\s+0\.0\s+marker::parks::u3\s+marker prefix u3 of collection parks/);
  const json = await runCliHere(['hot', '--url', `${url}/`, '--json'], engineSettings());
  expect((JSON.parse(json.output) as HotKeys).keys.map(({ key }) => key)).toContain('marker::parks::u3');
});

test('keys are shown only to those who may ask what a request reads', async () => {
  const hidden = await serve({ CELLPORT_EXPLAIN: 'off' });
  for (const path of ['/metrics', '/hot-keys']) {
    const answer = await fetch(`${hidden}${path}`);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('CELLPORT_EXPLAIN is off');
    const foreign = await new Promise<number | undefined>((resolve, reject) => {
      request(`${url}${path}`, { headers: { host: 'evil.example' } }, ({ statusCode }) => resolve(statusCode))
        .on('error', reject)
        .end();
    });
    expect(foreign).toBe(403);
  }
  const refused = await runCliHere(['hot', '--url', hidden], engineSettings());
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('CELLPORT_EXPLAIN is off');
});

test('cellport hot --spread lets readers gather a prefix', async () => {
  const run = (...args: readonly string[]) =>
    runCliHere(['hot', '--spread', ...args], { ...engineSettings(), CELLPORT_TABLE: database.tables.entities });
  expect(await run('u3')).toMatchObject({ code: 2, output: expect.stringContaining('--collection') });
  expect(await run('u', '-c', 'parks')).toMatchObject({
    code: 2,
    output: expect.stringContaining('a geohash of 2 characters'),
  });
  const done = await run('u3', '--collection', 'parks');
  expect(done).toMatchObject({
    code: 0,
    output: expect.stringMatching(/prefix u3 of parks has 8 shards: readers read/),
  });
});

test('cellport hot names what is wrong with an address', async () => {
  expect(await runCliHere(['hot', '--url', 'maps.example.org'])).toMatchObject({
    code: 2,
    output: expect.stringMatching(/--url must be a URL that begins with http:\/\/ .*got .maps\.example\.org./),
  });
  expect(await runCliHere(['hot', '--url', 'http://127.0.0.1:1'])).toMatchObject({
    code: 1,
    output: expect.stringContaining('no server answers at http://127.0.0.1:1/hot-keys'),
  });
});

/** The warnings after a minute in which a key takes so many units a second. */
function warningsOf(style: 'readable' | 'compact', pk: string, units: number, index?: string): string[] {
  let now = 0;
  const sampler = new ConsumptionSampler(() => now);
  for (let second = 0; second < 60; second += 1) {
    const answer = { ConsumedCapacity: { TableName: 't', CapacityUnits: units } };
    if (index === undefined) sampler.note({ TableName: 't', Key: { pk } }, answer, true, 'Query');
    else
      sampler.note(
        { TableName: 't', IndexName: index, ExpressionAttributeValues: { ':pk': pk } },
        answer,
        false,
        'Query',
      );
    now += 1_000;
  }
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const keys = createKeyspace(style);
  warnOfHotKeys(metricsOf(sampler, keys).hotKeys(), keys, log);
  return warnings;
}

test('a warning names the prefix that takes four fifths of what one key can serve, and what helps', () => {
  expect(warningsOf('readable', 'marker::parks::u3', 2_390, 'geoA')).toEqual([]);
  expect(warningsOf('readable', 'marker::parks::u3', 2_410, 'geoA')).toEqual([
    expect.stringMatching(/marker prefix u3 of collection parks in index geoA takes 2,410 of 3,000 read .*writeShards/),
  ]);
  expect(warningsOf('compact', 'PkMg#u3::4', 2_600, 'geoB')).toEqual([
    expect.stringContaining('marker prefix u3, shard 4 of collection Pk in index geoB'),
  ]);
  expect(warningsOf('readable', 'marker::parks::p1', 790)).toEqual([]);
  expect(warningsOf('readable', 'marker::parks::p1', 810)).toEqual([
    expect.stringMatching(
      /marker key p1 of collection parks takes 0 of 3,000 read and 810 of 1,000 write .*readingsBucket/,
    ),
  ]);
});

test('keys of every kind are named in words', () => {
  const keys = createKeyspace('readable');
  const names = (key: string, index: string | null = null) => namesOf(keys, index, key);
  expect(names('marker::parks::', 'geoA')).toBe('marker of collection parks in index geoA');
  expect(names('place::parks::Berlin', 'place')).toBe('marker outermost Berlin of collection parks in index place');
  expect(names('pages::parks::7')).toBe('page directory generation 7 of collection parks');
  expect(names('collection')).toBe('collection');
  expect(names('1234567', 'geohash-index')).toBe('1234567');
});
