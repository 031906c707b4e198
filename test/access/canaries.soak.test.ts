import { afterAll, beforeAll, expect, test } from 'vitest';

import { Authenticator } from '../../src/access/authenticator.js';
import { GraphqlServer } from '../../src/graphql/server.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createServices } from '../../src/server/services.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { newCall } from '../../src/store/request/meter.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { bearer, createKey, setRules } from './guarded-server.js';

const PRINCIPALS = 100;
const MARKERS_EACH = 5;
/** As many as a busy server answers at once. */
const AT_ONCE = 20;

const db = await testDatabase();
const authenticator = new Authenticator(db, silentLog);
const keys: Record<string, string>[] = [];
let graphql: GraphqlServer;

const nameOf = (fleet: number, n: number) => `canary-${fleet}-${n}`;

beforeAll(async () => {
  const now = new Date().toISOString();
  const collection = await createCollection(
    db,
    { key: 'fleet', name: 'Fleet', mapProperties: ['fleet', 'note'] },
    now,
    newCall(),
  );
  const markers = Array.from({ length: PRINCIPALS * MARKERS_EACH }, (_, index) => {
    const [fleet, n] = [index % PRINCIPALS, Math.floor(index / PRINCIPALS)];
    const key = nameOf(fleet, n);
    const position = { lng: 10 + (index % 23) / 100, lat: 50 + (index % 17) / 100 };
    return { key, name: key, position, place: ['Town', key], properties: { fleet: String(fleet), note: key } };
  });
  await createMarkers(db, collection, markers, now, newCall());
  await addAllPages(db, collection);
  const where = { properties: [{ name: 'fleet', eq: '$fleet' }] };
  await setRules(db, { roles: { driver: [{ collections: ['fleet'], may: ['read', 'write'], where }] } });
  for (let fleet = 0; fleet < PRINCIPALS; fleet += 1) {
    keys.push(bearer(await createKey(db, { roles: ['driver'], variables: { fleet: String(fleet) } })));
  }
  // Longer than a busy machine takes for all that are asked at once.
  const limits = { ...DEFAULT_LIMITS, deadlineMs: 120_000 };
  const pages = testPages({ trusted: true, cacheBytes: 16 * 1024 * 1024 });
  const consumerStatus = () => ({ owner: true, behindMs: 0, countsExact: true });
  graphql = await GraphqlServer.open(
    createServices(db, { ...pages, consumerStatus, authenticator, limits }),
    silentLog,
  );
});
afterAll(() => graphql.stop());

const VIEW = 'viewport(bounds: { west: 9, south: 49, east: 11, north: 51 }, zoom: 8)';
const MARKERS = '{ nodes { key name properties } }';
/** Operations for a principal, who asks for another one's markers as well. */
const OPERATIONS: readonly ((own: string, other: string) => string)[] = [
  () => `{ ${VIEW} { markers(collection: "fleet") ${MARKERS} } }`,
  () =>
    `{ ${VIEW} { auto(collection: "fleet", limit: 3) { total clusters { count marker { key } } markers { key } } } }`,
  () => `{ ${VIEW} { count(collection: "fleet") features(collection: "fleet") } }`,
  () => `{ collection(key: "fleet") { count within(center: { lng: 10.1, lat: 50.1 }, radius: 20000) ${MARKERS} } }`,
  () =>
    '{ collection(key: "fleet") { nearest(center: { lng: 10.1, lat: 50.1 }, count: 5) { node { key properties } } } }',
  (own, other) =>
    `{ nodes(ids: ["marker::fleet::${own}", "marker::fleet::${other}"]) { id ... on Marker { name properties } } }`,
  (_own, other) =>
    `{ collection(key: "fleet") { marker(key: "${other}") { name properties } } cell(collection: "fleet", geohash: "u0") { count } }`,
  (own) => `mutation { updateMarker(input: { id: "marker::fleet::${own}", category: "seen" }) { key properties } }`,
];

test('no answer to one of many principals has a byte of another one', async () => {
  const random = randomFrom(Number(process.env['CELLPORT_SEED'] ?? 1));
  const below = (end: number) => Math.floor(random() * end);
  let [asked, answered] = [0, 0];
  const one = async () => {
    const [fleet, other] = [below(PRINCIPALS), below(PRINCIPALS)];
    const operation = OPERATIONS[below(OPERATIONS.length)];
    const query = operation?.(nameOf(fleet, below(MARKERS_EACH)), nameOf(other, below(MARKERS_EACH))) ?? '';
    const headers = { 'content-type': 'application/json', ...keys[fleet] };
    const request = { method: 'POST', headers, search: '', body: { query } };
    const { body } = await graphql.answer(request, new AbortController().signal);
    const found = [...String(body).matchAll(/canary-(\d+)-/g)].map(([, owner]) => Number(owner));
    if (found.some((owner) => owner !== fleet)) throw new Error(`${query} gave ${fleet} ${String(body)}`);
    if (String(body).includes('"errors"')) throw new Error(`${query} gave ${String(body)}`);
    answered += found.length;
  };
  const most = rounds('canaries');
  const worker = async () => {
    while (asked < most) {
      asked += 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(answered).toBeGreaterThan(most);
});
