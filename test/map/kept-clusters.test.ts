import fc from 'fast-check';
import { expect, test } from 'vitest';

import { wrapLng } from '../../src/geo/bounds.js';
import { cellRange, encode } from '../../src/geo/geohash.js';
import { AreaMemory, ChangeLog } from '../../src/loaders/area-memory.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { viewportClusters } from '../../src/map/cells/clusters.js';
import { bytesOfClusters } from '../../src/map/cells/kept-clusters.js';
import { viewportAuto } from '../../src/map/content.js';
import { readViewport } from '../../src/map/viewport.js';
import { Loaders } from '../../src/read/loaders.js';
import { createServices, type ServerServices } from '../../src/server/services.js';
import { newCall } from '../../src/store/database.js';
import { memoryDatabase } from '../support/memory-store.js';
import { noClusters, testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { addMarkers, bruteInside, makeCollection, realMarkers } from './fixture.js';

const database = memoryDatabase();
const ALL = realMarkers(250);
const key = 'cities';

const clock = { now: 0 };
const changes = new ChangeLog(() => clock.now);
const keptClusters = new AreaMemory({ maxBytes: 8e6, bytesOf: bytesOfClusters, changes, trusted: () => true });

const servicesOf = (clusters = noClusters) =>
  createServices(database, {
    keptClusters: clusters,
    cellCache: new CellCache({ maxBytes: 16e6, trusted: () => true, now: () => performance.now() }),
    ...testPages({ trusted: true }),
  });

/** The context of one request, and what it reads. */
function request(services: ServerServices) {
  const call = newCall(database);
  const { scheduler, keys } = database;
  const loaders = new Loaders(services, call);
  return { call, context: { loaders, keys, limits: services.limits, turn: scheduler.takeTurn, scheduler } };
}

const plain = (clusters: Awaited<ReturnType<typeof viewportClusters>>) =>
  clusters.map(({ position, bounds, count, cells }) => ({ position, bounds, count, cells }));

/** Maps of all kinds, most of them beside another one, as a user pans; some cross the antimeridian or reach a pole. */
const pans = fc
  .record({
    at: fc.oneof(
      fc.constantFrom(...ALL.map(({ position }) => position)),
      fc.record({ lng: fc.constantFrom(-180, 179.9999, 180, 0), lat: fc.constantFrom(-90, 0, 65, 85.06, 90) }),
    ),
    zoom: fc.oneof(fc.integer({ min: -1, max: 8 }), fc.double({ min: 0, max: 8, noNaN: true })),
    steps: fc.array(fc.record({ x: fc.integer({ min: -4, max: 4 }), y: fc.integer({ min: -2, max: 2 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    radius: fc.constantFrom(60, 60, 25, 200),
    atEdge: fc.boolean(),
  })
  .map(({ at, zoom, steps, radius, atEdge }) => {
    const width = (1280 / 512 / 2 ** zoom) * 360;
    const views = [{ x: 0, y: 0 }, ...steps].map(({ x, y }) => {
      // Not many turns away, which `bruteInside` does not try.
      const west = atEdge ? 180 - width : wrapLng(at.lng - width / 2 + (x * width) / 4);
      const south = Math.min(90, Math.max(-90, at.lat - width / 8 + (y * width) / 8));
      const bounds = {
        west,
        east: atEdge ? 180 : west + width,
        south,
        north: Math.max(south, Math.min(90, south + width / 4)),
      };
      return { bounds, zoom };
    });
    return { views, radius };
  });

const kept = servicesOf(keptClusters);

async function expectSame(raw: Parameters<typeof readViewport>[0], radius: number, of = key): Promise<void> {
  const view = readViewport(raw);
  const ours = await viewportClusters(request(kept).context, view, of, radius);
  const alone = await viewportClusters(request(servicesOf()).context, view, of, radius);
  expect(plain(ours)).toEqual(plain(alone));
}

test('clusters of maps that overlap are those of maps alone, and need no reads again', async () => {
  await makeCollection(database, { key }, ALL);
  await fc.assert(
    fc.asyncProperty(pans, async ({ views, radius }) => {
      for (const raw of views) {
        await expectSame(raw, radius);
        const again = request(kept);
        await viewportClusters(again.context, readViewport(raw), key, radius);
        expect(again.call.meter).toMatchObject({ queries: 0, cacheHits: 0 });
        const auto = await viewportAuto(request(kept).context, readViewport(raw), key, 5);
        expect(auto.total).toBe(ALL.filter(({ position }) => bruteInside(raw.bounds, position)).length);
      }
    }),
    { numRuns: someOf(40), seed: 20_261_129 },
  );
});

test('where a marker is added, clusters are formed again, as far around as they depend on it', async () => {
  const collection = await makeCollection(database, { key: 'alone' }, []);
  const scope = database.keys.scope(collection);
  const random = randomFrom(20_261_129);
  const zoom = 6;
  const px = 360 / (512 * 2 ** zoom);
  const views = [-1, 0, 1].map((x) => {
    const west = 10 + 400 * x * px;
    return { zoom, bounds: { west, east: west + 300 * px, south: 40, north: 40 + 200 * px } };
  });
  for (let batch = 1; batch <= someOf(200); batch++) {
    const position = { lng: 10 + (random() - 0.5) * 2_000 * px, lat: 40 + (random() - 0.3) * 300 * px };
    await addMarkers(database, collection, [{ key: `n${batch}`, position, category: '', properties: {} }], batch);
    kept.cellCache.clear();
    changes.changed(scope, [cellRange(encode(position, 5))]);
    // A read that lags behind a change is over.
    clock.now += 10_000;
    for (const raw of views) await expectSame(raw, 60, collection.key);
  }
});
