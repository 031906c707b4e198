import { afterAll, beforeAll, expect, test } from 'vitest';

import { Authenticator } from '../../src/access/authenticator.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createHttpServer, createServices, type HttpServer } from '../../src/server/services.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, setRules } from './guarded-server.js';

const PRINCIPALS = 100;
const MARKERS_EACH = 2;
/** Principals of one shop see the same property of all shops' markers, and are answered from the same kept answers. */
const SHOPS = 10;
const SHOP_MARKERS = 40;
/** As many as a busy server answers at once. */
const AT_ONCE = 20;

const db = await testDatabase();
const authenticator = new Authenticator(db, silentLog);
const keys: Record<string, string>[] = [];
let server: HttpServer;

/** What only one fleet, or one shop, may see. */
const nameOf = (fleet: number, n: number) => `canary-${fleet}-${n}`;
const priceOf = (shop: number, n: number) => `price-${shop}-${n}`;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const positionOf = (index: number) => ({ lng: 10 + (index % 23) / 100, lat: 50 + (index % 17) / 100 });

async function fill(key: string, mapProperties: readonly string[], markers: Parameters<typeof createMarkers>[2]) {
  const now = new Date().toISOString();
  const collection = await testCollection(db, { key, name: key, mapProperties }, now);
  for (let from = 0; from < markers.length; from += 500) {
    const { failures } = await createMarkers(newCall(db), collection, markers.slice(from, from + 500), now);
    expect(failures).toEqual([]);
  }
  await addAllPages(db, collection);
}

beforeAll(async () => {
  const ofFleets = numbers(PRINCIPALS * MARKERS_EACH).map((index) => {
    const [fleet, n] = [index % PRINCIPALS, Math.floor(index / PRINCIPALS)];
    const key = nameOf(fleet, n);
    const properties = { fleet: String(fleet), note: key };
    return { key, name: key, position: positionOf(index), place: ['Town', key], properties };
  });
  await fill('fleet', ['fleet', 'note'], ofFleets);
  const shops = numbers(SHOPS).map((shop) => `price${shop}`);
  const ofShops = numbers(SHOP_MARKERS).map((n) => {
    const properties = Object.fromEntries(shops.map((name, shop) => [name, priceOf(shop, n)]));
    return { key: `shop${n}`, position: positionOf(n), properties };
  });
  await fill('shops', shops, ofShops);

  const where = { properties: [{ name: 'fleet', eq: '$fleet' }] };
  const ofShop = (shop: number) => [
    { collections: ['shops'], may: ['read'], hide: shops.filter((_, other) => other !== shop) },
  ];
  const driver = [{ collections: ['fleet'], may: ['read', 'write'], where }];
  const roles = { driver, ...Object.fromEntries(numbers(SHOPS).map((shop) => [`shop${shop}`, ofShop(shop)])) };
  await setRules(db, { roles });
  for (const fleet of numbers(PRINCIPALS)) {
    const key = { roles: ['driver', `shop${fleet % SHOPS}`], variables: { fleet: String(fleet) } };
    keys.push(bearer(await createKey(db, key)));
  }
  // Longer than a busy machine takes for all that are asked at once.
  const limits = { ...DEFAULT_LIMITS, deadlineMs: 120_000 };
  const pages = testPages({ trusted: true, cacheBytes: 16 * 1024 * 1024 });
  const consumerStatus = () => ({ owner: true, behindMs: 0, countsExact: true });
  const services = createServices(db, { ...pages, consumerStatus, authenticator, limits });
  server = await createHttpServer(services);
});
afterAll(() => server.close());

const VIEW = 'viewport(bounds: { west: 9.99, south: 49.99, east: 10.25, north: 50.2 }, zoom: $zoom)';
const NEAR = 'center: { lng: 10.1, lat: 50.1 }';
const MARKERS = '{ nodes { key name properties } }';
const AUTO = '{ total clusters { count marker { key } } markers { key } }';
const ofFleet = (fields: string) => `collection(key: "fleet") { ${fields} }`;

/** A document or the path of a GET, and how often it is asked: what reads or writes items takes the engine's time. */
type Operation = { readonly share: number } & ({ readonly query: string } | { readonly path: string });

/** Operations for a principal, who asks for another one's markers as well. */
const OPERATIONS: readonly Operation[] = [
  { share: 5, query: `query ($zoom: Float!) { ${VIEW} { markers(collection: "fleet") ${MARKERS} } }` },
  { share: 5, query: `query ($zoom: Float!) { ${VIEW} { auto(collection: "fleet", limit: 1) ${AUTO} } }` },
  { share: 5, query: `query ($zoom: Float!) { ${VIEW} { count(collection: "fleet") features(collection: "shops") } }` },
  { share: 5, query: `query ($m: Float!) { ${ofFleet(`count within(${NEAR}, radius: $m) ${MARKERS}`)} }` },
  { share: 5, query: `query { ${ofFleet(`nearest(${NEAR}, count: 5) { node { key properties } }`)} }` },
  { share: 20, query: `query ($first: Int!) { ${ofFleet(`markers(first: $first) ${MARKERS}`)} }` },
  {
    share: 20,
    query: 'query ($first: Int!) { collection(key: "shops") { markers(first: $first) { nodes { properties } } } }',
  },
  { share: 15, path: '/tiles/shops/8/135/86' },
  { share: 4, path: '/tiles/fleet/8/135/86?properties=note' },
  { share: 10, path: '/maps/shops?bbox=9,49,11,51&zoom=8' },
  { share: 3, path: '/ogc/collections/fleet/items?limit=100' },
  { share: 1, query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Marker { name properties } } }' },
  {
    share: 1,
    query: `query ($other: String!) { ${ofFleet('marker(key: $other) { name }')} cell(collection: "fleet", geohash: "u0") { count } }`,
  },
  {
    share: 1,
    query: 'mutation ($own: ID!) { updateMarker(input: { id: $own, category: "seen" }) { key properties } }',
  },
];
const ALL = OPERATIONS.flatMap((operation) => numbers(operation.share).map(() => operation));

/** The answer to an operation, as text. */
async function answerTo(operation: Operation, variables: object, headers: Record<string, string>): Promise<string> {
  if ('path' in operation) {
    const { statusCode, rawPayload } = await server.http.inject({ url: operation.path, headers });
    if (statusCode !== 200) throw new Error(`${operation.path} gave ${statusCode} ${rawPayload.toString()}`);
    return rawPayload.toString('latin1');
  }
  const body = { query: operation.query, variables };
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, search: '', body };
  const text = String((await server.graphql.answer(request, new AbortController().signal)).body);
  if (text.includes('"errors"')) throw new Error(`${operation.query} gave ${text}`);
  return text;
}

const most = rounds('canaries');
// A nightly run of a million takes half an hour.
const LONG = { timeout: Math.max(600_000, 30 * most), retry: 0 };

test('no answer to one of many principals has a byte of another one', LONG, async () => {
  const random = randomFrom(Number(process.env['CELLPORT_SEED'] ?? 1));
  const below = (end: number) => Math.floor(random() * end);
  let [asked, answered] = [0, 0];
  const one = async () => {
    const [fleet, foreign] = [below(PRINCIPALS), below(PRINCIPALS)];
    const operation = ALL[below(ALL.length)];
    if (operation === undefined) throw new Error('there are no operations');
    const other = nameOf(foreign, below(MARKERS_EACH));
    const own = `marker::fleet::${nameOf(fleet, below(MARKERS_EACH))}`;
    const ids = [own, `marker::fleet::${other}`];
    const variables = { zoom: 6 + 3 * below(3), m: 5_000 + below(5_000), first: 1 + below(5), own, other, ids };
    const answer = await answerTo(operation, variables, keys[fleet] ?? {});
    // No more are counted than the principal has.
    const counts = [...answer.matchAll(/"(?:total|count)":(\d+)/g)].map(([, count]) => Number(count));
    if (counts.some((count) => count < 1 || count > MARKERS_EACH)) {
      throw new Error(`${JSON.stringify(operation)} counted for principal ${fleet} ${answer}`);
    }
    for (const [, kind, owner] of answer.matchAll(/(canary|price)-(\d+)-/g)) {
      answered += 1;
      if (Number(owner) === (kind === 'price' ? fleet % SHOPS : fleet)) continue;
      throw new Error(`${JSON.stringify(operation)} gave principal ${fleet} ${answer}`);
    }
  };
  const worker = async () => {
    while (asked < most) {
      asked += 1;
      await one();
    }
  };
  await Promise.all(numbers(AT_ONCE).map(worker));
  expect(answered).toBeGreaterThan(most);
});
