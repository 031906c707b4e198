import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { ZoneGeometry } from '../../../src/geo/antimeridian.js';
import type { Point } from '../../../src/geo/bounds.js';
import { createGeometryCache } from '../../../src/loaders/geometry-cache.js';
import { silentLog } from '../../../src/log.js';
import { zonesAt } from '../../../src/map/zones/zones.js';
import type { Collection } from '../../../src/model/collection.js';
import { withCluster } from '../../../src/server/reindex.js';
import { FleetSearch, type ServerSearch } from '../../../src/server/search.js';
import { newCall } from '../../../src/store/database.js';
import { chunks } from '../../../src/store/request/pacing.js';
import { readGeometry } from '../../../src/store/zone/zone-geometry.js';
import { createZone } from '../../../src/store/zone/zones.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { polygonsOf, starWithHole } from '../../geo/zone-shapes.js';
import { until } from '../../live/support.js';
import { NOW, requestContext } from '../../map/fixture.js';
import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { randomFrom } from '../../support/random.js';
import { rounds } from '../../support/rounds.js';
import { box } from '../../support/shapes.js';
import { engine, testCollection, testDatabase } from '../../support/test-database.js';
import { clusterUrl } from './cluster.js';

type Xy = readonly [lng: number, lat: number];

/** OpenSearch rounds coordinates to 2^-32 of the globe: positions this near to an edge, in degrees, may be on either side. */
const GRID = 2e-7;
const TOGETHER = 100;
const GLOBE: Xy[] = box(-180, -90, 180, 90);
/** Of every size, all over the globe, with holes; and the globe. */
const ZONES: readonly (readonly Xy[][])[] = [
  ...fc.sample(starWithHole, { numRuns: 80, seed: 15 }).map(({ ring, hole }) => [ring, hole]),
  [GLOBE],
];

const clamp = (value: number, most: number) => Math.max(-most, Math.min(most, value));
const wrap = (lng: number) => ((((lng + 180) % 360) + 360) % 360) - 180;

/** Positions at corners, on edges, beside them, and anywhere. */
function positions(count: number): Point[] {
  const random = randomFrom(15);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  return Array.from({ length: count }, (_, n) => {
    if (n % 5 === 0) return { lng: random() * 360 - 180, lat: random() * 180 - 90 };
    if (n % 50 === 1) return { lng: pick([-180, 180]), lat: random() * 180 - 90 };
    const ring = pick(pick(ZONES));
    const corner = Math.floor(random() * (ring.length - 1));
    const [[ax, ay], [bx, by]] = [ring[corner]!, ring[corner + 1]!];
    const along = n % 5 === 1 ? 0 : random();
    const beside = n % 5 > 2 ? 10 ** (-6 * random()) * pick([-1, 1]) : 0;
    return { lng: wrap(ax + along * (bx - ax) + beside), lat: clamp(ay + along * (by - ay) + beside, 90) };
  });
}

/** Whether a position is so near to an edge that rounding decides. */
function isOnEdge(geometry: ZoneGeometry, { lng, lat }: Point): boolean {
  return polygonsOf(geometry)
    .flat()
    .some((ring) =>
      ring.slice(1).some(([bx, by], index) => {
        const [ax, ay] = ring[index]!;
        const squared = (bx - ax) ** 2 + (by - ay) ** 2;
        const along = squared === 0 ? 0 : clamp(((lng - ax) * (bx - ax) + (lat - ay) * (by - ay)) / squared, 1);
        const nearest = Math.max(0, along);
        return Math.hypot(ax + nearest * (bx - ax) - lng, ay + nearest * (by - ay) - lat) <= GRID;
      }),
    );
}

describe.skipIf(!HAS_OPENSEARCH)('geo_shape queries', async () => {
  const db = await testDatabase('readable', { stream: true });
  const streams = createStreamsClient(engine());
  const geometries = new Map<string, ZoneGeometry>();
  let collection: Collection;
  let search: ServerSearch;
  let url = '';
  beforeAll(async () => {
    url = await clusterUrl();
    collection = await testCollection(db, { key: 'stars', name: 'Stars' }, NOW);
    for (const [index, coordinates] of ZONES.entries()) {
      const geometry = { type: 'Polygon', coordinates };
      const zone = await createZone(newCall(db), collection, { key: `z${index}`, geometry }, NOW);
      const json = await readGeometry(db.geometry, zone.geometry);
      geometries.set(zone.key, JSON.parse(String(json)) as ZoneGeometry);
    }
    search = new FleetSearch(url, { database: db, streams }, silentLog);
    search.start();
    await until(() => search.status.state === 'following');
  });
  afterAll(async () => {
    await search?.stop();
    streams.destroy();
  });

  test(
    'find the zones that zonesAt finds in DynamoDB, but for positions on an edge',
    { timeout: 900_000 },
    async () => {
      const geometryCache = createGeometryCache({ maxBytes: 64e6 });
      const all = positions(rounds('positionsInOpenSearch'));
      const signal = new AbortController().signal;
      const backend = { database: db, streams };
      const command = { url, backend, log: silentLog, signal };
      let found = 0;
      let onEdge = 0;
      await withCluster(command, async ({ client, names: { alias: index } }) => {
        await client.indices.refresh({ index });
        for (const some of chunks(all, TOGETHER)) {
          const { context } = requestContext(db, { geometryCache });
          const expected = await Promise.all(some.map((point) => zonesAt(context, collection, point)));
          const lines = some.flatMap(({ lng, lat }) => {
            const shape = { shape: { type: 'point', coordinates: [lng, lat] }, relation: 'intersects' };
            return [{}, { query: { geo_shape: { shape } }, size: ZONES.length, _source: ['sk'] }];
          });
          const { body } = await client.msearch({ index, body: lines as never });
          for (const [nth, answer] of body.responses.entries()) {
            if (!('hits' in answer)) throw new Error(JSON.stringify(answer));
            const there = new Set(answer.hits.hits.map(({ _source }) => (_source as unknown as { sk: string }).sk));
            const here = new Set(expected[nth]?.map(({ key }) => key));
            const point = some[nth]!;
            found += here.size;
            for (const [key, geometry] of geometries) {
              if (there.has(key) === here.has(key)) continue;
              expect({ point, key, isOnEdge: isOnEdge(geometry, point) }).toMatchObject({ isOnEdge: true });
              onEdge += 1;
            }
          }
        }
      });
      console.info(`${all.length} positions, in ${found} zones; ${onEdge} times an edge decided`);
      expect(found).toBeGreaterThan(all.length);
    },
  );
});
