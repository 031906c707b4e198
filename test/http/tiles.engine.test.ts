import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { decodeLayer } from '../support/decode-tile.js';
import { fakeCloudFront } from '../support/fake-cloudfront.js';
import { postQuery } from '../support/post-query.js';
import { quickly } from '../support/quickly.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { CAUGHT_UP, startServer } from './live-server.js';
import { startWhole } from './whole-server.js';

const turn = inTurn(2);
const db = await testDatabase('readable', { stream: true });
const now = new Date().toISOString();
let server: { url: string; close: () => Promise<void> };
const cdn = await fakeCloudFront();
vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
afterAll(() => {
  cdn.close();
  vi.unstubAllEnvs();
});

beforeAll(async () => {
  const collection = await testCollection(db, { key: 'parks', name: 'Parks', mapProperties: ['n'] }, now);
  const markers = Array.from({ length: 300 }, (_, n) => ({
    key: `m${n}`,
    position: { lng: -10 + (n % 20) / 4, lat: 50 + Math.floor(n / 20) / 8 },
    name: `Park ${n}`,
    properties: { n, constructor: 'kept', huge: Number.MIN_SAFE_INTEGER },
  }));
  await createMarkers(newCall(db), collection, markers, now);
  server = await startWhole(db, {
    CELLPORT_CACHE_SECONDS: '60',
    CELLPORT_CDN: 'cloudfront:E2TESTS',
    AWS_ENDPOINT_URL_CLOUDFRONT: cdn.endpoint,
  });
  await vi.waitFor(
    async () => {
      const answer = await postQuery(server.url, '{ collection(key: "parks") { count countsExact } }');
      const { data } = (await answer.json()) as { data: { collection: { count: number; countsExact: boolean } } };
      if (data.collection.count < 300 || !data.collection.countsExact) throw new Error('not everything is counted yet');
    },
    { timeout: 60_000, interval: 100 },
  );
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });
const EUROPE = '/tiles/parks/3/3/2';

describe('a tile', () => {
  test('is one of Mapbox with the markers inside, under three names, and is compressed as asked', async () => {
    const answer = await get(EUROPE);
    expect(answer.headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile');
    expect(answer.headers.get('x-cellport-count')).toBe('300');
    const bytes = Buffer.from(await answer.arrayBuffer());
    const markers = decodeLayer(bytes, 'markers');
    expect(markers).toHaveLength(300);
    expect(markers[0]?.properties['constructor']).toBe('kept');
    for (const name of ['.mvt', '.pbf']) {
      expect(Buffer.from(await (await get(EUROPE + name)).arrayBuffer()).equals(bytes)).toBe(true);
    }
    for (const encoding of ['gzip', 'br']) {
      const encoded = await get(EUROPE, { 'accept-encoding': encoding });
      expect(encoded.headers.get('content-encoding')).toBe(encoding);
      expect(encoded.headers.get('vary')).toContain('Accept-Encoding');
      // `fetch` has decoded it.
      expect(Buffer.from(await encoded.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  test('has a strong ETag for each encoding, which is answered with 304 as long as it is what is there', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(async (encoding) => {
        const { headers } = await get(EUROPE, { 'accept-encoding': encoding });
        const etag = headers.get('etag') ?? '';
        const again = await get(EUROPE, { 'accept-encoding': encoding, 'if-none-match': `"other", ${etag}` });
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
        return etag;
      }),
    );
    expect(tags.every((tag) => /^"[\w-]+"$/.test(tag))).toBe(true);
    expect(new Set(tags).size).toBe(3);
    expect((await get(EUROPE, { 'if-none-match': tags[1] ?? '' })).status).toBe(200);
    // Of something else, even if it looks the same.
    const other = (await get(`${EUROPE}?properties=`)).headers.get('etag');
    expect(tags).not.toContain(other);
  });

  test('may be kept by shared caches for as long as is configured, and names the blocks that it depends on', async () => {
    const { headers } = await quickly(() => get(EUROPE));
    expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate, s-maxage=60');
    const tags = (headers.get('cache-tag') ?? '').split(',');
    expect(tags.length).toBeLessThanOrEqual(50);
    expect(tags.every((tag) => /^(cellport:all|parks(\/[0-9a-z]{0,4})?)$/.test(tag))).toBe(true);
    expect((await get('/tiles/parks/12/1933/1376')).headers.get('cache-tag')).toMatch(
      /^cellport:all,parks,(parks\/g\w{3},){5,20}parks\/g\w{3}$/,
    );
  });

  test('that is empty is 204, with an ETag', async () => {
    const answer = await get('/tiles/parks/5/30/30');
    expect([answer.status, answer.headers.get('x-cellport-count')]).toEqual([204, '0']);
    const etag = answer.headers.get('etag') ?? '';
    expect((await get('/tiles/parks/5/30/30', { 'if-none-match': etag })).status).toBe(304);
  });

  test('is limited, filtered and reduced as asked', async () => {
    const layer = async (query: string, name: string) =>
      decodeLayer(Buffer.from(await (await get(`${EUROPE}?${query}`)).arrayBuffer()), name);
    expect(await layer('limit=299', 'markers')).toEqual([]);
    const clusters = await layer('limit=299', 'clusters');
    expect(clusters.reduce((sum, { properties }) => sum + Number(properties['count']), 0)).toBe(300);
    const filter = encodeURIComponent(JSON.stringify({ properties: [{ name: 'n', lt: 10 }] }));
    expect(await layer(`filter=${filter}`, 'markers')).toHaveLength(10);
    const [one] = await layer('properties=huge,n', 'markers');
    expect(one?.properties).toMatchObject({ huge: Number.MIN_SAFE_INTEGER, n: 0 });
    expect(await layer('layers=clusters,cells', 'markers')).toEqual([]);
    expect((await layer('layers=clusters,cells', 'cells')).length).toBeGreaterThan(0);
  });
});

test('TileJSON tells the tiles, layers and properties of a collection, at absolute URLs', async () => {
  const { tiles, bounds, vector_layers, ...rest } = (await (
    await get('/tiles/parks.json?layers=markers,cells&limit=10')
  ).json()) as { tiles: string[]; bounds: number[]; vector_layers: object[] };
  expect(tiles).toEqual([`${server.url}/tiles/parks/{z}/{x}/{y}?layers=markers,cells&limit=10`]);
  expect(rest).toEqual({ tilejson: '3.0.0', name: 'Parks', minzoom: 0, maxzoom: 22 });
  const [west = 0, south = 0, east = 0, north = 0] = bounds;
  expect(west <= -10 && south <= 50 && east >= -5.25 && north >= 51.75).toBe(true);
  expect(vector_layers).toMatchObject([
    { id: 'markers', fields: { n: 'String, Number or Boolean', key: 'String' } },
    { id: 'cells', fields: { geohash: 'String', count: 'Number' } },
  ]);
});

test.each([
  ['/tiles/parks/23/0/0', 400, 'z must be a whole number from 0 to 22; got "23"'],
  ['/tiles/parks/1e1/0/0', 400, 'z must be a whole number from 0 to 22; got "1e1"'],
  ['/tiles/parks/01/0/0', 400, 'z must be a whole number from 0 to 22; got "01"'],
  ['/tiles/parks/-1/0/0', 400, 'z must be a whole number from 0 to 22; got "-1"'],
  ['/tiles/parks/2/4/0', 400, 'x must be a whole number from 0 to 3; got "4"'],
  ['/tiles/parks/2/0/4', 400, 'y must be a whole number from 0 to 3; got "4"'],
  ['/tiles/parks/2/0/0.png', 400, 'y must be a whole number from 0 to 3; got "0.png"'],
  ['/tiles/nowhere/0/0/0', 404, 'there is no collection "nowhere"'],
  ['/tiles/%2e%2e%2f/0/0/0', 404, 'there is no collection "../"'],
  ['/tiles/nowhere.json', 404, 'there is no collection "nowhere"'],
  ['/tiles/parks', 404, 'there is no page "/tiles/parks"'],
  [
    '/tiles/p%ff/0/0/0',
    400,
    'url must be a path in percent-encoded UTF-8, without names that are too long; got "/tiles/p%ff/0/0/0"',
  ],
  [
    `${EUROPE}?layers=markers,markers`,
    400,
    'layers must be some of markers, clusters, cells, zones, with commas, each once; got "markers,markers"',
  ],
  [
    `${EUROPE}?layers=roads`,
    400,
    'layers must be some of markers, clusters, cells, zones, with commas, each once; got "roads"',
  ],
  [`${EUROPE}?layers=`, 400, 'layers must be some of markers, clusters, cells, zones, with commas, each once; got ""'],
  [`${EUROPE}?limit=0`, 400, 'limit must be a whole number from 1 to 5000; got "0"'],
  [`${EUROPE}?limit=1e1`, 400, 'limit must be a whole number from 1 to 5000; got "1e1"'],
  [`${EUROPE}?limit=5001`, 400, 'limit must be a whole number from 1 to 5000; got "5001"'],
  [`${EUROPE}?limit=1&limit=2`, 400, 'limit must be given once; got ["1","2"]'],
  [`${EUROPE}?filter=x`, 400, 'filter must be a MarkerFilter as JSON; got "x"'],
  [`${EUROPE}?filter=[]`, 400, 'filter must be a MarkerFilter as JSON; got "[]"'],
  [
    `${EUROPE}?filter={"color":1}`,
    400,
    'filter must be an object with category, updatedAfter, properties; got "color"',
  ],
  [`${EUROPE}?filter={"properties":[null]}`, 400, 'filter.properties must be a list of comparisons; got [null]'],
  [`${EUROPE}?filter={"category":5}`, 400, 'filter.category must be a list of strings; got 5'],
  ...['', '1', '2026-01-01', '2026-02-30T00:00:00Z'].map((text): [string, number, string] => [
    `${EUROPE}?filter={"updatedAfter":"${text}"}`,
    400,
    `filter.updatedAfter must be an RFC 3339 instant such as 2026-11-21T09:30:00Z; got "${text}"`,
  ]),
  [`${EUROPE}?color=red`, 400, 'parameter must be one of layers, properties, filter, limit; got "color"'],
])('%s is refused with %i and one line', async (path, status, message) => {
  const answer = await get(path);
  const { errors } = (await answer.json()) as { errors: { message: string }[] };
  expect([answer.status, ...errors.map((error) => error.message)]).toEqual([status, message]);
});

test('an If-None-Match of 1 MB is refused, and the server goes on', async () => {
  const answer = await get(EUROPE, { 'if-none-match': `"${'x'.repeat(1_000_000)}"` }).catch(() => undefined);
  expect(answer === undefined || answer.status === 431).toBe(true);
  expect((await get(EUROPE)).status).toBe(200);
});

test('while nothing changes, a tile is read once, also by who has no ETag of it', async () => {
  // It reads markers from the index, for which it has no cache: it does not know how far its pages are.
  const status = { ...CAUGHT_UP, pages: { generation: '1' } };
  const other = await startServer(db, { status: () => status });
  const calls = recordCalls(db);
  const read = () =>
    calls.commands.filter(({ name, input }) => name === 'Query' && JSON.stringify(input).includes('geo'));
  const ask = async (path: string) => (await fetch(other.url + path)).status;
  expect(await ask(EUROPE)).toBe(200);
  const reads = read().length;
  expect(reads).toBeGreaterThan(0);
  for (let n = 0; n < 3; n++) expect(await ask(`${EUROPE}.mvt`)).toBe(200);
  expect(read()).toHaveLength(reads);
  // Of another limit, or with a filter.
  expect(await ask(`${EUROPE}?limit=400`)).toBe(200);
  expect(read().length).toBeGreaterThan(reads);
  // It follows no stream, but notes its own writes.
  const etag = async () => (await fetch(other.url + EUROPE)).headers.get('etag');
  const before = await etag();
  const purges = cdn.asked.length;
  await other.ask('mutation { updateMarker(input: { id: "marker::parks::m9", name: "Own" }) { version } }');
  expect(await etag()).not.toBe(before);
  await other.close();
  await vi.waitFor(() => expect(cdn.asked.length).toBeGreaterThan(purges), { timeout: 20_000, interval: 50 });
});

test('shared caches keep no answer that took long, as it may be purged before it arrives', async () => {
  let passed = 0;
  let perCall = 900;
  db.client.middlewareStack.add(
    (next) => async (call) => {
      passed += perCall;
      return next(call);
    },
    { step: 'initialize', name: 'slow' },
  );
  const clock = { ...db.clock, now: () => db.clock.now() + passed };
  const slow = await startServer({ ...db, clock }, { cacheSeconds: 60 });
  const caching = async () => (await fetch(`${slow.url}${EUROPE}`)).headers.get('cache-control');
  expect(await caching()).toBe('no-cache');
  perCall = 0;
  // Now from memory.
  expect(await quickly(caching)).toContain('s-maxage=60');
  await slow.close();
  db.client.middlewareStack.remove('slow');
});

test('a moved marker changes its tiles, at once on the server that has moved it, and leaves the others', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const AT = { old: '/tiles/parks/9/241/173', new: '/tiles/parks/9/256/161', far: '/tiles/parks/9/246/171' };
  const tags = async () => {
    const all = await Promise.all(Object.values(AT).map(async (path) => (await get(path)).headers.get('etag')));
    return Object.fromEntries(Object.keys(AT).map((name, index) => [name, all[index] ?? '']));
  };
  // After so long, tiles are kept: reads lag no longer.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const before = await tags();
  expect(await tags()).toEqual(before);
  const purges = cdn.asked.length;
  // A second try moves another marker from the same tile, as the first is there already.
  const id = `marker::parks::${(task.result?.retryCount ?? 0) === 0 ? 'm0' : 'm20'}`;
  const move = `mutation { updateMarker(input: { id: "${id}", position: { lng: 0.2, lat: 55 } }) { version } }`;
  expect(await (await postQuery(server.url, move)).json()).toMatchObject({ data: { updateMarker: { version: 2 } } });
  expect((await get(AT.new)).status).toBe(200);
  await vi.waitFor(
    async () => {
      const after = await tags();
      expect(after['old']).not.toBe(before['old']);
      expect(after['new']).not.toBe(before['new']);
    },
    { timeout: 20_000, interval: 50 },
  );
  expect((await tags())['far']).toBe(before['far']);
  // CloudFront's copies of the same tiles are dropped, and no others.
  const tagsOf = async (path: string) => (await get(path)).headers.get('cache-tag')?.split(',') ?? [];
  const [isOld, isNew, isFar] = (await Promise.all(Object.values(AT).map(tagsOf))).map(
    (cacheTags) => (paths: readonly string[]) => cacheTags.some((tag) => paths.includes(`#${tag}`)),
  );
  await vi.waitFor(
    () => {
      const purged = cdn.asked.slice(purges).map(({ paths }) => [isOld, isNew, isFar].map((each) => each?.(paths)));
      expect(purged).toContainEqual([true, true, false]);
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(cdn.asked[0]).toMatchObject({ distribution: 'E2TESTS', paths: ['#cellport:all'] });
  expect((await get(AT.new, { 'if-none-match': before['new'] ?? '' })).status).toBe(200);
  // Another process names it: only the stream tells, and no count changes.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const here = await tags();
  const other = await startServer(db);
  await other.ask(`mutation { updateMarker(input: { id: "${id}", name: "Renamed" }) { version } }`);
  await other.close();
  await vi.waitFor(async () => expect((await tags())['new']).not.toBe(here['new']), { timeout: 20_000, interval: 50 });
  expect((await tags())['old']).toBe(here['old']);
});

test('HEAD has the headers of GET, other methods are refused, and pages of allowed origins may ask', async () => {
  const head = await fetch(server.url + EUROPE, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
  expect([head.status, head.headers.get('etag')]).toEqual([200, (await get(EUROPE)).headers.get('etag')]);
  for (const path of [EUROPE, '/tiles/parks.json', '/maps/parks', '/ogc', '/ogc/collections/parks/items']) {
    const posted = await fetch(server.url + path, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([path, posted.status, posted.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
  }
  const open = await startServer(db, { allowedOrigins: ['https://maps.example.org'], trustedProxies: ['127.0.0.1'] });
  const origin = 'https://maps.example.org';
  const asked = await fetch(`${open.url}${EUROPE}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  });
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  const map = await fetch(`${open.url}/maps/parks?bbox=0,0,1,1&zoom=3`, { headers: { origin } });
  expect(map.headers.get('access-control-expose-headers')).toContain('content-location');
  // A trusted proxy tells by which protocol it was reached.
  const proxied = await fetch(`${open.url}/tiles/parks.json`, { headers: { 'x-forwarded-proto': 'https, http' } });
  const { tiles } = (await proxied.json()) as { tiles: string[] };
  expect(tiles[0]).toBe(`${open.url.replace('http:', 'https:')}/tiles/parks/{z}/{x}/{y}`);
  await open.close();
  const direct = await get('/tiles/parks.json', { 'x-forwarded-proto': 'https' });
  expect(JSON.stringify(await direct.json())).toContain(`"${server.url}/tiles/`);
});

test('a stream of changes tells the tiles in which markers have changed, once these show it', async () => {
  const leaving = new AbortController();
  const stream = await fetch(`${server.url}/tiles/parks/changes`, { signal: leaving.signal });
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const AT = { old: '/tiles/parks/14/7781/5586', new: '/tiles/parks/14/8192/8191' };
  const etags = async () =>
    (await Promise.all(Object.values(AT).map((path) => get(path)))).map(({ headers }) => headers.get('etag'));
  const before = await etags();
  const move =
    'mutation { updateMarker(input: { id: "marker::parks::m16", position: { lng: 0.01, lat: 0.01 } }) { version } }';
  const found = await postQuery(server.url, '{ marker(id: "marker::parks::m16") { position { lng lat } } }');
  const { data } = (await found.json()) as { data: { marker: { position: { lng: number; lat: number } } } };
  await postQuery(server.url, move);
  let text = '';
  for await (const part of stream.body ?? []) {
    text += Buffer.from(part).toString();
    if (text.includes('event: changed')) break;
  }
  const [, event = '{}'] = /event: changed\ndata: (.*)\n\n/.exec(text) ?? [];
  const { lng, lat } = data.marker.position;
  const tile = (at: { lng: number; lat: number }) => {
    const sine = Math.sin((at.lat * Math.PI) / 180);
    const down = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
    return [Math.floor(((at.lng + 180) / 360) * 2 ** 14), Math.floor(down * 2 ** 14)];
  };
  expect(JSON.parse(event)).toEqual({ z: 14, tiles: [tile({ lng, lat }), tile({ lng: 0.01, lat: 0.01 })] });
  expect(tile({ lng: 0.01, lat: 0.01 })).toEqual([8_192, 8_191]);
  expect((await etags())[1]).not.toBe(before[1]);
  leaving.abort();
});

test.each([
  ['/tiles/nowhere/changes', {}, 404],
  ['/tiles/parks/changes?x=1', {}, 400],
  ['/tiles/parks/changes', { origin: 'https://elsewhere.example.org' }, 403],
])('%s with %j is refused with %i', async (path, sent, status) => {
  const answer = await get(path, sent);
  const { errors } = (await answer.json()) as { errors: object[] };
  expect([answer.status, errors.map((error) => Object.keys(error))]).toEqual([status, [['message', 'extensions']]]);
});
