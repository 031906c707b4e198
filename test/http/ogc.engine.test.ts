import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openApi } from '../../src/http/ogc/openapi.js';
import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { expectRfc7946 } from '../support/rfc7946.js';
import { startServer, type LiveServer } from './live-server.js';

const db = memoryDatabase();
const markers = realMarkers(20);
let server: LiveServer;

beforeAll(async () => {
  await makeCollection(db, { key: 'cities', name: 'Cities <of> the world', mapProperties: ['population'] }, markers);
  server = await startServer(db);
});
afterAll(() => server.close());

interface Link {
  readonly rel: string;
  readonly href: string;
  readonly type: string;
}
// Answers have any shape; the assertions of each test say what it expects.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(path.startsWith('http') ? path : `${server.url}/ogc${path}`, { headers });
const json = async (path: string): Promise<Json> => (await get(path)).json();
const link = (links: readonly Link[], rel: string) => links.find((each) => each.rel === rel)?.href ?? '';
const ITEMS = '/collections/cities/items';
const TILESET = '/collections/cities/tiles/WebMercatorQuad';
/** All items of a path, over pages. */
async function itemsOf(path: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let url = path; url !== '';) {
    const { features, links } = await json(url);
    found.push(...features);
    url = link(links, 'next');
  }
  return found;
}

describe('Features, core', () => {
  test('the landing page links to the API definition, the conformance declaration and the collections', async () => {
    const { links } = await json('');
    for (const rel of ['service-desc', 'service-doc', 'conformance', 'data', 'self', 'alternate']) {
      const answer = await get(link(links, rel));
      expect([rel, answer.status]).toEqual([rel, 200]);
      const type = links.find((each: Link) => each.rel === rel).type as string;
      expect(answer.headers.get('content-type')).toContain(type.split(';')[0]);
    }
    expect((await json('/')).links).toHaveLength(links.length);
  });

  test('the conformance declaration names the classes that are tested here', async () => {
    const { conformsTo } = await json('/conformance');
    const names = (conformsTo as string[]).map((each) => each.replace(/^.*\/ogcapi-|1\.0\/conf\//g, ''));
    expect(names).toEqual([
      ...['core', 'oas30', 'html', 'geojson'].map((name) => `features-1/${name}`),
      ...['queryables', 'filter', 'features-filter'].map((name) => `features-3/${name}`),
      ...['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'oas30'].map((name) => `tiles-1/${name}`),
    ]);
    // QGIS and GDAL would send all of CQL2.
    expect(conformsTo.join()).not.toContain('cql2');
  });

  test('each document links to itself and to its other format, and each link has a relation and a type', async () => {
    const paths = ['', '/conformance', '/collections', '/collections/cities', `${ITEMS}?limit=2`, `${ITEMS}/crowd-0`];
    for (const path of [...paths, '/collections/cities/tiles', TILESET, '/tileMatrixSets/WebMercatorQuad']) {
      const { links } = await json(path);
      expect((links as Link[]).map(({ rel }) => rel)).toEqual(expect.arrayContaining(['self', 'alternate']));
      expect((links as Link[]).filter(({ href, rel, type }) => !(href && rel && type))).toEqual([]);
      expect((await get(link(links, 'alternate'))).headers.get('content-type')).toMatch(/^text\/html/);
    }
  });

  test('whoever does not say the host, as before HTTP/1.1, gets links of this machine', async () => {
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET /ogc HTTP/1.0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toContain('200 OK');
    expect(answer).toContain(`"href":"http://localhost:${port}/ogc/conformance"`);
  });

  test('coordinates are longitude and latitude', async () => {
    const { extent } = await json('/collections/cities');
    expect(extent.spatial.crs).toBe('http://www.opengis.net/def/crs/OGC/1.3/CRS84');
    expect((await json(`${ITEMS}/crowd-0`)).geometry.coordinates).toEqual([16.9, 52.4]);
  });

  test('each collection is listed with an extent and links to its items, and has the same description by itself', async () => {
    const { collections } = await json('/collections');
    expect(collections).toHaveLength(1);
    const { links, ...one } = await json('/collections/cities');
    expect(collections[0]).toMatchObject(one);
    expect(one).toMatchObject({
      id: 'cities',
      itemType: 'feature',
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] } },
    });
    expect((await get(link(links, 'items'))).status).toBe(200);
  });

  test('following next from page to page shows every item once, also those beyond Web Mercator', async () => {
    const seen: string[] = [];
    let pages = 0;
    for (let url = `${ITEMS}?limit=1000`; url !== ''; pages++) {
      const { features, links, numberReturned, type } = await json(url);
      expect([type, numberReturned]).toEqual(['FeatureCollection', features.length]);
      expect(features.length).toBeLessThanOrEqual(1_000);
      seen.push(...features.map(({ id }: { id: string }) => id));
      const next = link(links, 'next');
      expect(next === '' || next.startsWith(`${server.url}/ogc${ITEMS}?`)).toBe(true);
      url = next;
    }
    expect(pages).toBeGreaterThanOrEqual(Math.ceil(markers.length / 1_000));
    expect(seen.length).toBe(markers.length);
    expect(new Set(seen)).toEqual(new Set(markers.map(({ key }) => key)));
  });

  test.each([
    ['json', 'text/html', 'application/geo+json'],
    ['html', '*/*', 'text/html'],
  ])('next has the format %s of the URL, whatever the header', async (format, accept, type) => {
    const { links } = await json(`${ITEMS}?limit=2&f=json`);
    const first = link(links, 'next').replace('f=json', `f=${format}`);
    const answer = await get(first, { accept });
    expect(answer.headers.get('content-type')).toContain(type);
    const body = await answer.text();
    const next = body
      .replaceAll('&amp;', '&')
      .split('"')
      .filter(
        (text) =>
          text.includes('cursor=') &&
          text !== first &&
          !text.includes(`cursor=${new URL(first).searchParams.get('cursor')}`),
      );
    expect(next).toHaveLength(1);
    expect(new URL(next[0] ?? '').searchParams.get('f')).toBe(format);
  });

  test.each([
    '5,45,12,55',
    '170,-60,-170,60',
    '-180,-90,180,90',
    '16.9,52.4,16.9,52.4',
    '5,45,0,12,55,9000',
    '0,86,10,90',
  ])('bbox=%s selects what a scan finds, edges included', async (bbox) => {
    const numbers = bbox.split(',').map(Number);
    const [west = 0, south = 0, east = 0, north = 0] =
      numbers.length === 6 ? [0, 1, 3, 4].map((n) => numbers[n]) : numbers;
    const bounds = { west, south, east: east < west ? east + 360 : east, north };
    const expected = markers.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
    const found = (await itemsOf(`${ITEMS}?limit=10000&bbox=${bbox}`)).map(({ id }) => id as string);
    expect(new Set(found)).toEqual(new Set(expected));
    expect(found).toHaveLength(expected.length);
  });

  test('limit is 1,000 by default, and one that is too large counts as 10,000', async () => {
    expect((await json(ITEMS)).numberReturned).toBe(1_000);
    // Not all of them on a slow machine, where a page ends in time.
    expect((await json(`${ITEMS}?limit=99999999`)).numberReturned).toBeGreaterThan(1_000);
    expect((await json(`${ITEMS}?limit=${'9'.repeat(400)}`)).numberReturned).toBeGreaterThan(1_000);
    expect((await json(`${ITEMS}?limit=7`)).numberReturned).toBe(7);
  });

  test('datetime is accepted as an instant or an interval, and leaves out nothing that has no time', async () => {
    for (const datetime of ['2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z/..', '../2026-11-01T00:00:00Z', '../..']) {
      expect((await json(`${ITEMS}?limit=3&datetime=${datetime}`)).numberReturned).toBe(3);
    }
  });

  test('an item has all of its properties, and the ID of its URL', async () => {
    const long = markers.find(({ properties }) => 'long' in properties);
    const item = await json(`${ITEMS}/${long?.key}`);
    expect(item).toMatchObject({ type: 'Feature', id: long?.key, properties: { ...long?.properties, key: long?.key } });
    expect((await get(link(item.links, 'collection'))).status).toBe(200);
    const slash = markers.find(({ key }) => key.startsWith('edge 3::'));
    expect((await json(`${ITEMS}/${encodeURIComponent(slash?.key ?? '')}`)).id).toBe(slash?.key);
    const longest = 'é'.repeat(506);
    await makeCollection(db, { key: 'long', name: 'Long' }, [
      { key: longest, position: { lng: 1, lat: 2 }, category: 'PL', properties: {} },
    ]);
    expect((await json(`/collections/long/items/${encodeURIComponent(longest)}`)).id).toBe(longest);
    const tooLong = await get(`/collections/long/items/${'k'.repeat(4_000)}`);
    expect(tooLong.status).toBe(414);
    expect(((await tooLong.json()) as Json).errors[0].message).toMatch(/^url must be a path/);
  });

  test.each([
    [`${ITEMS}?limit=0`, 400, /^limit must be a whole number from 1; got "0"$/],
    [`${ITEMS}?limit=ten`, 400, /^limit must be/],
    [
      `${ITEMS}?bbox=1,2,3`,
      400,
      /^bbox must be four numbers .*; or six, with a height after each latitude; got "1,2,3"$/,
    ],
    [`${ITEMS}?bbox=1,2,3,4,5`, 400, /^bbox must be four numbers .*; got "1,2,3,4,5"$/],
    [`${ITEMS}?bbox=1,5,3,4`, 400, /^bbox must be with the lower latitude/],
    [`${ITEMS}?bbox=1,2,low,3,4,high`, 400, /^bbox must be four numbers .*; or six, .*; got "low"$/],
    [`${ITEMS}?bbox=1,2,9,3,4,8`, 400, /^bbox must be with the lower latitude, and height, first; got "1,2,9,3,4,8"$/],
    ...['yesterday', '2026-11-01', '..', ''].map((text): [string, number, RegExp] => [
      `${ITEMS}?datetime=${text}`,
      400,
      new RegExp(`^datetime must be an RFC 3339 instant, or an interval such as .*; got "${text}"$`),
    ]),
    [
      `${ITEMS}?datetime=2026-12-01T00:00:00Z/2026-11-01T00:00:00Z`,
      400,
      /^datetime must be an RFC 3339 instant, or an interval such as .*; got "2026-12-01T00:00:00Z\/2026/,
    ],
    [`${ITEMS}?cursor=x`, 400, /^cursor must be that of a link; got "x"$/],
    [
      `${ITEMS}?color=red`,
      400,
      /^parameter must be one of f, bbox, limit, datetime, filter, filter-lang, cursor; got "color"$/,
    ],
    [`${ITEMS}?f=xml`, 400, /^f must be json or html; got "xml"$/],
    ['/conformance?x=1', 400, /^parameter must be one of f; got "x"$/],
    ['/collections?cursor=../', 400, /^cursor must be that of a link/],
    ['/collections/nowhere', 404, /^there is no collection "nowhere"$/],
    ['/collections/nowhere/items', 404, /^there is no collection "nowhere"$/],
    ['/collections/nowhere/items/a', 404, /^there is no collection "nowhere"$/],
    [`${ITEMS}/nobody`, 404, /^there is no item "nobody"$/],
  ])('%s is refused with %i and one line', async (path, status, message) => {
    const answer = await get(path);
    const { errors } = (await answer.json()) as { errors: { message: string }[] };
    expect(answer.status).toBe(status);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toMatch(message);
  });
});

describe('Features, GeoJSON', () => {
  test('pages and items are GeoJSON of RFC 7946, of its type', async () => {
    for (const path of [`${ITEMS}?limit=50`, `${ITEMS}/crowd-0`]) {
      const answer = await get(path);
      expect(answer.headers.get('content-type')).toBe('application/geo+json');
      expectRfc7946(await answer.text());
    }
  });
});

describe('Features, HTML', () => {
  test('whoever accepts anything gets GeoJSON, a browser HTML, and f decides before both', async () => {
    const typeOf = async (path: string, accept: string) =>
      (await get(path, { accept })).headers.get('content-type')?.split(';')[0];
    expect(await typeOf(ITEMS, '*/*')).toBe('application/geo+json');
    expect(await typeOf(ITEMS, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')).toBe('text/html');
    expect(await typeOf(ITEMS, 'application/geo+json, text/html;q=0.5')).toBe('application/geo+json');
    expect(await typeOf(ITEMS, 'application/json;q=0.5, Text/HTML;q=0.9')).toBe('text/html');
    expect(await typeOf(ITEMS, 'text/html;q=0.5, */*')).toBe('application/geo+json');
    expect(await typeOf(ITEMS, 'application/*, text/html;q=0.8')).toBe('application/geo+json');
    expect(await typeOf(ITEMS, 'text/html;q=0')).toBe('application/geo+json');
    expect(await typeOf(`${ITEMS}?f=json`, 'text/html')).toBe('application/geo+json');
    expect(await typeOf(`${ITEMS}?f=html`, '*/*')).toBe('text/html');
    expect((await get(ITEMS)).headers.get('vary')).toMatch(/accept/);
  });

  test('HTML pages link to the map and to each other, and whatever markers contain is text in them', async () => {
    const page = await (await get(`${ITEMS}?f=html&bbox=16.9,52.4,16.9,52.4`)).text();
    expect(page).toContain(`href="${server.url}/ogc${ITEMS}/crowd-0?f=html"`);
    expect(page).toContain('href="/#at=14/52.4/16.9&amp;on=cities&amp;place=marker%3A%3Acities%3A%3Acrowd-0"');
    const html = await get('/collections/cities?f=html');
    expect(await html.text()).toContain('Cities &lt;of&gt; the world');
    expect(html.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('behind trusted proxies, all links begin with what these have taken off the path', async () => {
    const proxied = await startServer(db, { trustedProxies: ['127.0.0.1'] });
    const paths = [
      '/ogc',
      '/ogc/api',
      '/ogc/collections',
      '/ogc/collections/cities',
      `/ogc${TILESET}`,
      '/ogc/collections/cities/queryables',
      `/ogc${ITEMS}?limit=1`,
      `/ogc${ITEMS}?limit=1&f=html`,
      '/tiles/cities.json',
      '/maps/cities?bbox=0,0,1,1&zoom=9',
    ];
    const linksOf = async (url: string, prefix: string) => {
      const answers = await Promise.all(
        paths.map((path) => fetch(url + path, { headers: { 'x-forwarded-prefix': prefix } })),
      );
      const texts = await Promise.all(
        answers.map(async (answer) => `"${answer.headers.get('content-location') ?? ''}"${await answer.text()}`),
      );
      // All but names, which lead nowhere, and what is linked from the page.
      return texts
        .flatMap((text) => text.match(/(?<=")(http:\/\/127|\/(maps|geo|#))[^"]*/g) ?? [])
        .map((link) => link.replace(url, ''));
    };
    const own = await linksOf(proxied.url, '');
    expect(own.length).toBeGreaterThan(30);
    const within = own.map((link) => `/geo/v1${link}`);
    expect(await linksOf(proxied.url, '/geo/v1/')).toEqual(within);
    expect(await linksOf(proxied.url, '/geo, /v1')).toEqual(within);
    for (const wrong of ['geo', '//evil.example', '/a b', '/a?b', '/<b>', 'http://evil.example'])
      expect(await linksOf(proxied.url, wrong)).toEqual(own);
    expect(await linksOf(server.url, '/geo/v1')).toEqual(own);
    await proxied.close();
  });

  test('answers have an ETag, by which nothing is sent again', async () => {
    const etag = (await get(ITEMS)).headers.get('etag') ?? '';
    expect((await get(ITEMS, { 'if-none-match': etag })).status).toBe(304);
  });

  test('whatever the method, only GET and HEAD are answered', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'QUERY']) {
      const answer = await fetch(`${server.url}/ogc${ITEMS}`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
    }
  });
});

describe('OpenAPI 3.0', () => {
  test('the OpenAPI document refers to nothing outside, and every path and parameter in it works', async () => {
    const api = await json('/api');
    expect(api.openapi).toMatch(/^3\.0\./);
    expect(api.servers).toEqual([{ url: `${server.url}/ogc` }]);
    const text = JSON.stringify(api);
    for (const [, ref = ''] of text.matchAll(/"\$ref":"([^"]*)"/g)) {
      const found = ref
        .replace('#/', '')
        .split('/')
        .reduce((node: Json, step) => node?.[step], api);
      expect([ref, typeof found]).toEqual([ref, 'object']);
    }
    expect(api.components.parameters.bbox.schema.oneOf).toEqual([4, 6].map((n) => ({ minItems: n, maxItems: n })));
    expect(api.components.parameters.limit.schema).toMatchObject({ maximum: 10_000, default: 1_000 });
    const given = { collectionId: 'cities', featureId: 'crowd-0', tileMatrix: 5, tileCol: 17, tileRow: 10 };
    for (const [path, { get: operation, servers = api.servers }] of Object.entries<Json>(api.paths)) {
      const filled = Object.entries(given).reduce((text, [name, value]) => text.replace(`{${name}}`, `${value}`), path);
      const url = `${servers[0].url}${filled}`;
      expect([path, (await get(url)).status]).toEqual([path, 200]);
      expect(operation.parameters.length).toBeGreaterThan(0);
    }
  });

  test('each operation has an ID of its own, and says how a refusal looks', async () => {
    const { paths, components } = await json('/api');
    const operations = Object.values<Json>(paths).map(({ get: operation }) => operation);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { responses } of operations) {
      expect(responses.default.content['application/json'].schema.$ref).toBe('#/components/schemas/Errors');
    }
    expect(components.securitySchemes).toBeUndefined();
  });

  test('where rules say who may read, the document says how to sign in', () => {
    const { security, components } = openApi('http://localhost/ogc', true);
    expect(security).toEqual([{ apiKey: [] }, { token: [] }, {}]);
    expect(Object.keys(components.securitySchemes ?? {})).toEqual(['apiKey', 'token']);
  });
});

describe('Tiles', () => {
  const SCHEME = 'http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme';

  test('core, MVT: the template of a tileset leads to tiles; outside there is none, and where nothing is, 204', async () => {
    const { links } = await json(TILESET);
    const { href, type, templated } = links.find(({ rel }: Link) => rel === 'item');
    expect([type, templated]).toEqual(['application/vnd.mapbox-vector-tile', true]);
    const tile = (zoom: number, column: number, row: number) =>
      get(
        (href as string)
          .replace('{tileMatrix}', `${zoom}`)
          .replace('{tileCol}', `${column}`)
          .replace('{tileRow}', `${row}`),
      );
    const answer = await tile(5, 17, 10);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    const own = await fetch(`${server.url}/tiles/cities/5/17/10`);
    expect(answer.headers.get('etag')).toBe(own.headers.get('etag'));
    expect((await tile(22, 17, 10)).status).toBe(204);
    expect((await tile(5, 32, 0)).status).toBe(400);
    expect((await tile(23, 0, 0)).status).toBe(400);
  });

  test('tilesets list, geodata: a collection links to a list, and each entry to its tileset', async () => {
    const { links } = await json('/collections/cities');
    const list = await json(link(links, 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector'));
    expect(list.tilesets).toHaveLength(1);
    const [entry] = list.tilesets;
    expect(entry).toMatchObject({ dataType: 'vector', crs: 'http://www.opengis.net/def/crs/EPSG/0/3857' });
    expect(link(entry.links, 'self')).toBe(`${server.url}/ogc${TILESET}`);
    expect(await json(link(entry.links, 'self'))).toMatchObject({ title: entry.title, dataType: 'vector' });
    expect((await json(link(entry.links, 'describedby'))).tilejson).toBe('3.0.0');
  });

  test('tileset: its tiling scheme halves its cells at each zoom, as far as there are tiles', async () => {
    const { links, tileMatrixSetURI } = await json(TILESET);
    const scheme = await json(link(links, SCHEME));
    expect(scheme.uri).toBe(tileMatrixSetURI);
    expect(scheme.tileMatrices).toHaveLength(23);
    // As in OGC's definition of WebMercatorQuad.
    expect(scheme.tileMatrices[0].scaleDenominator).toBeCloseTo(559_082_264.028_717_8, 5);
    expect(scheme.tileMatrices[0].pointOfOrigin[1]).toBeCloseTo(20_037_508.342_789_244, 6);
    expect(scheme.tileMatrices[22]).toMatchObject({ id: '22', matrixWidth: 2 ** 22 });
  });
});

describe('Filter', () => {
  type Properties = Readonly<Record<string, unknown>>;
  const inEurope = markers.filter(({ position }) =>
    bruteInside({ west: -10, south: 35, east: 40, north: 60 }, position),
  );
  const population = ({ population: value }: Properties) => Number(value);
  const cases: [text: string, tree: Json, passes: (properties: Properties, category: string) => boolean][] = [
    ['population > 1e5', { op: '>', args: [{ property: 'population' }, 1e5] }, (all) => population(all) > 1e5],
    ['population=30', { op: '=', args: [{ property: 'population' }, 30] }, (all) => population(all) === 30],
    [
      'population <> 30',
      { op: '<>', args: [{ property: 'population' }, 30] },
      (all) => 'population' in all && population(all) !== 30,
    ],
    [
      "(category IN ('PL', 'DE')) and \"population\" BETWEEN 1000 AND 20000",
      {
        op: 'and',
        args: [
          { op: 'in', args: [{ property: 'category' }, ['PL', 'DE']] },
          { op: 'between', args: [{ property: 'population' }, 1_000, 20_000] },
        ],
      },
      (all, category) => ['PL', 'DE'].includes(category) && population(all) >= 1_000 && population(all) <= 20_000,
    ],
    ["long LIKE '%xx%'", { op: 'like', args: [{ property: 'long' }, '%xx%'] }, (all) => 'long' in all],
    ['population IS NULL', { op: 'isNull', args: [{ property: 'population' }] }, (all) => !('population' in all)],
    [
      "rank IS NOT NULL AND category = 'PL'",
      {
        op: 'and',
        args: [
          { op: 'not', args: [{ op: 'isNull', args: [{ property: 'rank' }] }] },
          { op: '=', args: [{ property: 'category' }, 'PL'] },
        ],
      },
      (all, category) => 'rank' in all && category === 'PL',
    ],
    [
      "category IN ('PL', 'FR') AND category = 'DE'",
      {
        op: 'and',
        args: [
          { op: 'in', args: [{ property: 'category' }, ['PL', 'FR']] },
          { op: '=', args: [{ property: 'category' }, 'DE'] },
        ],
      },
      () => false,
    ],
    [
      "updatedAt > TIMESTAMP('2026-11-21T09:59:59Z') AND population >= 5000000",
      {
        op: 'and',
        args: [
          { op: '>', args: [{ property: 'updatedAt' }, { timestamp: '2026-11-21T09:59:59Z' }] },
          { op: '>=', args: [{ property: 'population' }, 5_000_000] },
        ],
      },
      (all) => population(all) >= 5_000_000,
    ],
  ];
  const query = (filter: string, language = 'cql2-text') =>
    `${ITEMS}?limit=500&bbox=-10,35,40,60&${new URLSearchParams({ filter, 'filter-lang': language }).toString()}`;

  test.each(cases)('%s selects what a scan finds, over pages, as text and as JSON', async (text, tree, passes) => {
    const expected = inEurope.filter(({ properties, category }) => passes(properties, category)).map(({ key }) => key);
    for (const url of [query(text), query(JSON.stringify(tree), 'cql2-json')]) {
      const found = (await itemsOf(url)).map(({ id }) => id as string);
      expect(new Set(found)).toEqual(new Set(expected));
      expect(found).toHaveLength(expected.length);
    }
  });

  test('a filter holds without a bounding box, too', async () => {
    const found = await itemsOf(`${ITEMS}?filter=category='edge'`);
    const edges = markers.filter(({ category }) => category === 'edge');
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(edges.map(({ key }) => key)));
  });

  test('the queryables are what maps draw, besides category and the time of an update', async () => {
    const { links } = await json('/collections/cities');
    const answer = await get(link(links, 'http://www.opengis.net/def/rel/ogc/1.0/queryables'));
    expect(answer.headers.get('content-type')).toBe('application/schema+json');
    const schema = (await answer.json()) as Json;
    expect(schema).toMatchObject({ $id: answer.url, type: 'object' });
    expect(Object.keys(schema.properties)).toEqual(['population', 'category', 'updatedAt']);
  });

  test.each([
    ['population > 1 OR population < 0', /^filter must be AND between comparisons: OR and NOT are not .*; got "OR"$/],
    ['population ! 1', /^filter must be CQL2 text; got "! 1"$/],
    ['population', /^filter must be =, <>, .* after a property; got "the end"$/],
    ['population > ', /^filter must be a number, TRUE, .*; got "the end"$/],
    ['(population > 1', /^filter must be \) or AND; got "the end"$/],
    ["long LIKE 'x%'", /^filter must be LIKE '%text%', without other wildcards; got "x%"$/],
    ['name > 3', /^filter must be category, updatedAt or a property of markers; got "name"$/],
    ["category > 'A'", /^filter must be category = a text, or category IN a list of texts; got \[">","A"\]$/],
    ['category = 5', /^filter must be category = a text, .*; got \["=",5\]$/],
    ['updatedAt > 3', /^filter must be updatedAt > TIMESTAMP\(an instant\), once; got \[">",3\]$/],
    ["updatedAt > TIMESTAMP('x')", /^filter must be an RFC 3339 instant such as .*; got "x"$/],
    ['rank <> 5 AND population > TRUE', /^filter must be a number or a text after "population" >; got true$/],
    ['population BETWEEN 1 AND FALSE', /^filter must be a number or a text after "population" between; got false$/],
    ['population = -1e999', /\.eq must be without numbers that are too large; got -Infinity$/],
    ['population IN (1, 1e999)', /\.in must be without numbers that are too large; got Infinity$/],
    ['population < 1e999', /^filter must be a number or a text after "population" <; got Infinity$/],
    [
      "rank IN (1, TIMESTAMP('2026-11-01T00:00:00Z'))",
      /^filter must be comparisons of .*; got \[1,{"timestamp":.*}\]$/,
    ],
    [`${'('.repeat(5_000)}a=1`, /^filter must be \) or AND; got "the end"$/],
  ])('%.40s is refused with 400 and one line', async (text, message) => {
    const answer = await get(query(text));
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as Json).errors[0].message).toMatch(message);
  });

  test.each([
    ['[1', /^filter must be CQL2 as JSON; got "\[1"$/],
    ['null', /^filter must be comparisons of a property with a value, joined by and; got null$/],
    ['{"op":"in","args":[{"property":"population"},[{"property":"rank"}]]}', /; got \[{"property":"rank"}\]$/],
    ['{"op":">","args":[{"property":"population"},{"property":"rank"}]}', /; got {"property":"rank"}$/],
    ['{"op":"and","args":[]}', /^filter must be comparisons .*; got {"op":"and","args":\[\]}$/],
    ['{"op":"<>","args":[{"property":"population"},1e999]}', /\.ne must be without numbers .*; got Infinity$/],
    ['{"op":"=","args":[{"property":"population"}]}', /^filter must be comparisons .*/],
    ['{"op":"=","args":[{"property":"population"},1,2]}', /^filter must be comparisons .*/],
    ['{"op":"isNotNull","args":[{"property":"population"}]}', /^filter must be comparisons .*/],
    ['{"op":"or","args":[]}', /^filter must be comparisons .*; got {"op":"or","args":\[\]}$/],
    ['{"op":"s_intersects","args":[{"property":"geometry"},1]}', /^filter must be category, .*; got "geometry"$/],
    ['{"op":"+","args":[{"property":"population"},1]}', /^filter must be comparisons .*; got "\+"$/],
    ['{"op":"=","args":[{"property":"population"},{"property":"rank"}]}', /got {"property":"rank"}$/],
  ])('%s is refused as JSON', async (text, message) => {
    const answer = await get(query(text, 'cql2-json'));
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as Json).errors[0].message).toMatch(message);
    expect((await get(query(text, 'ecql'))).status).toBe(400);
  });
});
