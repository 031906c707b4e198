import { afterAll, beforeAll, expect, test } from 'vitest';

import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { quickly } from '../support/quickly.js';
import { startServer, type LiveServer } from './live-server.js';

const db = memoryDatabase();
const markers = realMarkers(20);
let server: LiveServer;

beforeAll(async () => {
  await makeCollection(db, { key: 'cities', mapProperties: ['population'] }, markers);
  server = await startServer(db, { cacheSeconds: 30 });
});
afterAll(() => server.close());

interface Feature {
  readonly properties: Readonly<Record<string, unknown>>;
}
const get = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/maps/cities?${query}`, { headers: { 'accept-encoding': 'identity', ...headers } });
const boxOf = (bbox: string) => {
  const [west = NaN, south = NaN, east = NaN, north = NaN] = bbox.split(',').map(Number);
  return { west, south, east, north };
};
const featuresOf = async (answer: Response) => ((await answer.json()) as { features: Feature[] }).features;

test.each([
  ['7.3,50.2,9.9,51.8', 7.6],
  ['-10,-10,10,10', 3],
  ['175,-25,-170,-10', 4.2],
  ['-180,-90,180,90', 0],
  ['0,0,0,0', 12],
  ['-720,85,-715,90', 5],
  ['0,-10,1,0', 4],
  ['-168.75,5.625,-168.75,5.625', 12],
  ['-135,45,-123.75,56.25', 6],
  ['90,0,-1e-20,1e-20', 9],
  ['170,-90,180,-89', 6],
  ['180,90,-170,90', 3],
])('the map of %s at zoom %d has the markers of the tiles around it, edges included', async (bbox, zoom) => {
  const asked = boxOf(bbox);
  const answer = await get(`bbox=${bbox}&zoom=${zoom}`);
  const features = await featuresOf(answer);
  const box = boxOf(/bbox=([^&]*)/.exec(answer.headers.get('content-location') ?? '')?.[1] ?? '');
  const count = 2 ** Math.max(0, Math.floor(zoom));
  const columns = [box.west, box.east].map((lng) => ((lng + 180) * count) / 360);
  const rows = [box.south, box.north].map((lat) => ((lat + 90) * count) / 180);
  expect([...columns, ...rows].every(Number.isInteger)).toBe(true);
  // No larger than needed.
  const width = ((asked.east - asked.west + 360) % 360 || asked.east - asked.west) * (count / 360);
  expect((columns[1] ?? 0) - (columns[0] ?? 0)).toBeLessThanOrEqual(Math.min(count, Math.floor(width) + 2));
  expect((rows[1] ?? 0) - (rows[0] ?? 0)).toBeLessThanOrEqual(((asked.north - asked.south) * count) / 180 + 2);
  const expected = markers.filter(({ position }) => bruteInside(box, position));
  const isAsked = markers.filter(({ position }) => bruteInside(asked, position));
  expect(isAsked.every((marker) => expected.includes(marker))).toBe(true);
  if (expected.length <= 500) {
    expect(new Set(features.map(({ properties }) => properties['key']))).toEqual(
      new Set(expected.map(({ key }) => key)),
    );
  } else {
    expect(features.every(({ properties }) => properties['cluster'] === true)).toBe(true);
  }
  // All views of these tiles have one answer, and one URL.
  const location = answer.headers.get('content-location') ?? '';
  const own = await fetch(server.url + location, { headers: { 'accept-encoding': 'identity' } });
  expect(own.headers.get('content-location')).toBe(location);
  expect(own.headers.get('etag')).toBe(answer.headers.get('etag'));
  const known = await get(`bbox=${bbox}&zoom=${zoom}`, { 'if-none-match': own.headers.get('etag') ?? '' });
  expect(known.status).toBe(304);
});

test('a map has the headers of tiles, and what GraphQL calls features', async () => {
  const answer = await quickly(() => get('bbox=16,52,17,53&zoom=8&limit=5000'));
  expect(answer.headers.get('content-type')).toBe('application/geo+json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate, s-maxage=30');
  expect(answer.headers.get('cache-tag')).toMatch(/^cellport:all,cities(,cities\/\w+){1,48}$/);
  const [west, south, east, north] =
    /bbox=([^&]*)/.exec(answer.headers.get('content-location') ?? '')?.[1]?.split(',') ?? [];
  const bounds = `{ west: ${west}, south: ${south}, east: ${east}, north: ${north} }`;
  const query = `{ viewport(bounds: ${bounds}, zoom: 8) { features(collection: "cities", limit: 5000) } }`;
  expect(await answer.json()).toEqual((await server.ask(query)).data.viewport.features);
});

test.each([
  ['bbox=1,2,3&zoom=1', 'bbox must be four numbers of degrees with commas: west, south, east, north; got "1,2,3"'],
  [
    'bbox=1,2,3,4,5&zoom=1',
    'bbox must be four numbers of degrees with commas: west, south, east, north; got "1,2,3,4,5"',
  ],
  ['bbox=1,2,3,x&zoom=1', 'bbox must be four numbers of degrees with commas: west, south, east, north; got "x"'],
  [
    'bbox=1,2,3,Infinity&zoom=1',
    'bbox must be four numbers of degrees with commas: west, south, east, north; got "Infinity"',
  ],
  ['bbox=1,5,3,4&zoom=1', 'bbox must be with the lower latitude, and height, first; got "1,5,3,4"'],
  ['bbox=1,2,3,4&zoom=31', 'zoom must be a number from -2 to 30; got "31"'],
  ['bbox=1,2,3,4', 'zoom must be given: /maps/KEY?bbox=west,south,east,north&zoom=3; got undefined'],
  ['bbox=1,2,3,4&zoom=1&limit=0', 'limit must be a whole number from 1 to 5000; got "0"'],
  ['bbox=1,2,3,4&zoom=1&layers=markers', 'parameter must be one of bbox, zoom, limit, filter; got "layers"'],
])('?%s is refused with one line', async (query, message) => {
  const answer = await get(query);
  const { errors } = (await answer.json()) as { errors: { message: string }[] };
  expect([answer.status, ...errors.map((error) => error.message)]).toEqual([400, message]);
});
