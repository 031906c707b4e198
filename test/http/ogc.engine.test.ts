import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
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

describe('requirements of core', () => {
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

  test('the conformance declaration names the four classes', async () => {
    const { conformsTo } = await json('/conformance');
    expect(conformsTo.map((each: string) => each.replace(/.*\/conf\//, ''))).toEqual([
      'core',
      'oas30',
      'html',
      'geojson',
    ]);
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
    const found: string[] = [];
    for (let url = `${ITEMS}?limit=10000&bbox=${bbox}`; url !== '';) {
      const { features, links } = await json(url);
      found.push(...features.map(({ id }: { id: string }) => id));
      url = link(links, 'next');
    }
    expect(new Set(found)).toEqual(new Set(expected));
    expect(found).toHaveLength(expected.length);
  });

  test('limit is 1,000 by default, and one that is too large counts as 10,000', async () => {
    expect((await json(ITEMS)).numberReturned).toBe(1_000);
    expect((await json(`${ITEMS}?limit=99999999`)).numberReturned).toBe(markers.length);
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
  });

  test.each([
    [`${ITEMS}?limit=0`, 400, /^limit must be a whole number from 1 to \d+; got "0"$/],
    [`${ITEMS}?limit=ten`, 400, /^limit must be/],
    [`${ITEMS}?bbox=1,2,3`, 400, /^bbox must be four numbers .*; got "1,2,3"$/],
    [`${ITEMS}?bbox=1,5,3,4`, 400, /^bbox must be with a south/],
    [`${ITEMS}?datetime=yesterday`, 400, /^datetime must be an RFC 3339 instant/],
    [
      `${ITEMS}?datetime=2026-12-01T00:00:00Z/2026-11-01T00:00:00Z`,
      400,
      /^datetime must be an instant, or an interval/,
    ],
    [`${ITEMS}?cursor=x`, 400, /^after must be a cursor from a page of the same list; got "x"$/],
    [`${ITEMS}?color=red`, 400, /^parameter must be one of f, bbox, limit, datetime, cursor; got "color"$/],
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

describe('requirements of the formats', () => {
  test('whoever accepts anything gets GeoJSON, a browser HTML, and f decides before both', async () => {
    const typeOf = async (path: string, accept: string) =>
      (await get(path, { accept })).headers.get('content-type')?.split(';')[0];
    expect(await typeOf(ITEMS, '*/*')).toBe('application/geo+json');
    expect(await typeOf(ITEMS, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')).toBe('text/html');
    expect(await typeOf(ITEMS, 'application/geo+json, text/html;q=0.5')).toBe('application/geo+json');
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

  test('answers have an ETag, by which nothing is sent again', async () => {
    const etag = (await get(ITEMS)).headers.get('etag') ?? '';
    expect((await get(ITEMS, { 'if-none-match': etag })).status).toBe(304);
  });

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
    expect(api.components.parameters.limit.schema).toMatchObject({ maximum: 10_000, default: 1_000 });
    for (const [path, { get: operation }] of Object.entries<Json>(api.paths)) {
      const url = path.replace('{collectionId}', 'cities').replace('{featureId}', 'crowd-0');
      expect([path, (await get(url)).status]).toEqual([path, 200]);
      expect(operation.parameters.length).toBeGreaterThan(0);
    }
  });
});
