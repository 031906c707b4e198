import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import type { Collection } from '../../src/model/collection.js';
import { storeRules } from '../../src/store/access/access-items.js';
import { changeCollection } from '../../src/store/collection/change-collection.js';
import { deleteCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { deleteZone, updateZone } from '../../src/store/zone/zone-changes.js';
import { createZone } from '../../src/store/zone/zones.js';
import { openEdge, type Got } from '../support/edge.js';
import { fakeCloudFront } from '../support/fake-cloudfront.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startWhole } from './whole-server.js';

// Names in tags are then not those in URLs.
const db = await testDatabase('compact', { stream: true });
const call = newCall(db);
const now = new Date().toISOString();
const cdn = await fakeCloudFront();
vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
let server: Awaited<ReturnType<typeof startWhole>>;
const edge = openEdge(() => server.url, cdn.asked);

const square = (west: number, south: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + 1, south],
      [west + 1, south + 1],
      [west, south],
    ],
  ],
});
const KEYS = [
  'created',
  'changed',
  'moved',
  'deleted',
  'settings',
  'dropped',
  'private',
  'marker',
  'still',
  'last',
] as const;
type Key = (typeof KEYS)[number];
const collections = new Map<Key, Collection>();
const of = (key: Key) => {
  const found = collections.get(key);
  if (found === undefined) throw new Error(`there is no collection ${key}`);
  return found;
};
/** Everything that shared caches may keep of a collection, around 13 degrees east and 52 degrees north. */
const pathsOf = (key: Key) => [
  `/tiles/${key}/6/34/21`,
  `/tiles/${key}/6/34/21?layers=cells`,
  `/tiles/${key}/6/34/21?layers=zones`,
  `/tiles/${key}/10/549/337?layers=zones,markers`,
  `/tiles/${key}.json`,
  `/maps/${key}?bbox=12,51,14,53&zoom=6`,
  `/ogc/collections/${key}`,
  `/ogc/collections/${key}/items`,
  `/ogc/collections/${key}/items/m1`,
  `/ogc/collections/${key}/queryables`,
  `/ogc/collections/${key}/tiles`,
];
const ALL = ['/ogc', '/ogc/collections', '/ogc/collections?f=html', ...KEYS.flatMap(pathsOf)];
const mayRead = (keys: readonly string[]) =>
  storeRules(call, JSON.stringify({ roles: { anonymous: [{ may: ['read'], collections: keys }] } }));

beforeAll(async () => {
  for (const [n, key] of KEYS.entries()) {
    const input = { key, name: key, code: `c${n}`, mapProperties: ['n'] };
    const collection = await testCollection(db, input, now);
    collections.set(key, collection);
    const markers = [13.1, 13.3, 13.5].map((lng, at) => ({
      key: `m${at}`,
      position: { lng, lat: 52.1 },
      // So many that maps draw some of them only.
      properties: { n: at, other: 'x'.repeat(2_000) },
    }));
    await createMarkers(call, collection, markers, now);
    for (const zone of ['changed', 'moved', 'deleted'])
      if (zone === key) await createZone(call, collection, { key: 'z', name: 'Z', geometry: square(13, 52) }, now);
  }
  await mayRead(['*']);
  server = await startWhole(db, {
    CELLPORT_KEY_STYLE: 'compact',
    CELLPORT_AUTH: 'on',
    CELLPORT_CACHE_SECONDS: '60',
    CELLPORT_CDN: 'cloudfront:E3TESTS',
    AWS_ENDPOINT_URL_CLOUDFRONT: cdn.endpoint,
  });
  await server.derived.caughtUp(new AbortController().signal);
});
afterAll(async () => {
  await server.close();
  cdn.close();
  vi.unstubAllEnvs();
});

/** Resolves once all changes before the call are purged: those of another collection are not purged earlier. */
async function purgedSoFar() {
  const tag = `#${db.keys.scope(of('last'))}/`;
  for (let paths: string[] = []; !paths.includes(tag);) {
    const { length } = cdn.asked;
    await createMarkers(call, of('last'), [{ key: `m${(written += 1)}`, position: { lng: 0, lat: 0 } }], now);
    await vi.waitFor(
      () => {
        paths = cdn.asked.slice(length).flatMap((each) => each.paths);
        // If everything is purged, that may be for what was changed earlier.
        expect(paths.some((path) => path === tag || path === '#cellport:all')).toBe(true);
      },
      { timeout: 60_000, interval: 50 },
    );
  }
}
let written = 2;

test.runIf(inTurn(2)())('whatever changes an answer purges it from the CDN, and leaves others there', async () => {
  // What was written before the server started is purged, too.
  await purgedSoFar();
  const before = new Map<string, Got>();
  for (const path of ALL) before.set(path, await edge.get(path));
  const kept = ALL.filter((path) => edge.has(path));
  // Of a list of collections, whatever changes one of them would have to be told.
  expect(kept).toEqual(KEYS.flatMap(pathsOf));

  const zone = (key: Key) => ({ collection: of(key), key: 'z' });
  await createZone(call, of('created'), { key: 'z', name: 'Z', geometry: square(13, 52) }, now);
  await updateZone(call, zone('changed'), { name: 'Other' }, { now });
  await updateZone(call, zone('moved'), { geometry: square(13.2, 52) }, { now });
  await deleteZone(call, zone('deleted'), undefined);
  await changeCollection(call, 'settings', () => ({ name: 'Other', mapProperties: [] }));
  await deleteCollection(call, 'dropped', now);
  await updateMarker(call, { collection: of('marker'), key: 'm1' }, { position: { lng: 13.31, lat: 52.11 } }, { now });
  await purgedSoFar();

  const stale: string[] = [];
  const changed: string[] = [];
  const unlike304: string[] = [];
  for (const path of ALL) {
    const [was, is] = [before.get(path), await edge.ask(path)];
    if (is.body !== was?.body) changed.push(path);
    // Browsers ask the server, which must not tell them that nothing has changed.
    if ((is.body === was?.body) !== (is.etag === was?.etag)) unlike304.push(path);
    if (is.body !== (edge.has(path) ? await edge.get(path) : is).body) stale.push(path);
  }
  expect({ stale, unlike304 }).toEqual({ stale: [], unlike304: [] });
  const zoned = (key: Key) => pathsOf(key).filter((path) => path.includes('zones'));
  const ofZones = (['created', 'changed', 'moved', 'deleted'] as const).flatMap(zoned);
  const ofTiles = (['settings', 'marker'] as const).flatMap((key) => pathsOf(key).slice(0, 1));
  expect(changed).toEqual(expect.arrayContaining([...ofZones, ...ofTiles, ...pathsOf('dropped')]));
  const ofAll = (['settings', 'dropped', 'marker'] as const).flatMap(pathsOf);
  // Of the last one, a marker was created far away.
  const ofLast = pathsOf('last').filter((path) => /json|ogc/.test(path));
  expect(kept.filter((path) => !edge.has(path))).toEqual([...ofZones, ...ofAll, ...ofLast]);
});

test.runIf(runsAll)('a collection that rules no longer show to everybody is purged', async () => {
  const paths = pathsOf('private');
  for (const path of paths) expect((await edge.get(path)).body).not.toMatch(/^404/);
  const { length } = cdn.asked;
  await mayRead(KEYS.filter((key) => key !== 'private'));
  await vi.waitFor(() => expect(cdn.asked.length).toBeGreaterThan(length), { timeout: 60_000, interval: 50 });
  for (const path of paths) expect((await edge.get(path)).body).toMatch(/^404/);
});
