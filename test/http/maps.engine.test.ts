import { afterAll, beforeAll, expect, test } from 'vitest';

import { levelAt, tileBounds, tilesOver } from '../../src/client/tiles.js';
import { bruteInside, makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
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
const featuresOf = async (answer: Response) => ((await answer.json()) as { features: Feature[] }).features;

test.each([
  ['7.3,50.2,9.9,51.8', 7.6],
  ['-10,-10,10,10', 3],
  ['175,-25,-170,-10', 4.2],
  ['-180,-90,180,90', 0],
  ['0,0,0,0', 12],
  ['-720,85,-715,90', 5],
])('the map of %s at zoom %d has the markers of the tiles that the client would load', async (bbox, zoom) => {
  const [west = 0, south = 0, east = 0, north = 0] = bbox.split(',').map(Number);
  const level = levelAt(zoom);
  const inside = { west, south, east: (east < west ? east + 360 : east) - 1e-9, north: north - 1e-9 };
  const rect = tilesOver(east === west ? { west, south, east, north } : inside, level, 0, level);
  const expected = markers.filter(({ position }) => bruteInside(tileBounds(rect), position));
  const answer = await get(`bbox=${bbox}&zoom=${zoom}`);
  const features = await featuresOf(answer);
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
  const answer = await get('bbox=16,52,17,53&zoom=8&limit=5000');
  expect(answer.headers.get('content-type')).toBe('application/geo+json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate, s-maxage=30');
  expect(answer.headers.get('cache-tag')).toMatch(/^cellport:all,cities(,cities\/\w+){1,48}$/);
  const [west, south, east, north] =
    /bbox=([^&]*)/.exec(answer.headers.get('content-location') ?? '')?.[1]?.split(',') ?? [];
  const bounds = `{ west: ${Number(west) + 1e-9}, south: ${Number(south) + 1e-9}, east: ${east}, north: ${north} }`;
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
  ['bbox=1,5,3,4&zoom=1', 'bbox must be with a south that is at most its north; got "1,5,3,4"'],
  ['bbox=1,2,3,4&zoom=31', 'zoom must be a number from -2 to 30; got "31"'],
  ['bbox=1,2,3,4', 'zoom must be given: /maps/KEY?bbox=west,south,east,north&zoom=3; got undefined'],
  ['bbox=1,2,3,4&zoom=1&limit=0', 'limit must be a whole number from 1 to 5000; got "0"'],
  ['bbox=1,2,3,4&zoom=1&layers=markers', 'parameter must be one of bbox, zoom, limit, filter; got "layers"'],
])('?%s is refused with one line', async (query, message) => {
  const answer = await get(query);
  const { errors } = (await answer.json()) as { errors: { message: string }[] };
  expect([answer.status, ...errors.map((error) => error.message)]).toEqual([400, message]);
});
