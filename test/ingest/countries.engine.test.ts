import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { expect, test } from 'vitest';

import { COUNTRIES_COLLECTION, countryName, loadCountries, openCountries } from '../../src/ingest/zones/countries.js';
import { createGeometryCache } from '../../src/loaders/geometry-cache.js';
import { collectionZones, zonesAt } from '../../src/map/zones/zones.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import { newCall } from '../../src/store/database.js';
import { mapConcurrently } from '../../src/store/request/pacing.js';
import { deleteZone } from '../../src/store/zone/zone-changes.js';
import { sweepObjects } from '../../src/store/zone/zones.js';
import { requestContext } from '../map/fixture.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const folder = temporaryFolder();
const objects = createFolderStore(folder);

type Ring = readonly (readonly [number, number])[];

/** Rings of all countries in the package, read without any code of src/. */
const topology = createRequire(import.meta.url)('world-atlas/countries-10m.json') as Topology<{
  countries: GeometryCollection<{ name: string }>;
}>;
const BORDERS = feature(topology, topology.objects.countries).features.map(({ geometry, properties }) => ({
  name: countryName(properties.name),
  rings: (geometry.type === 'Polygon'
    ? [geometry.coordinates]
    : geometry.type === 'MultiPolygon'
      ? geometry.coordinates
      : []
  ).flat() as unknown as Ring[],
}));
const boxes = BORDERS.map(({ rings }) => {
  const lats = rings.flatMap((ring) => ring.map(([, lat]) => lat));
  return { south: lats.reduce((a, b) => Math.min(a, b)), north: lats.reduce((a, b) => Math.max(a, b)) };
});

/** The northern edge and the longitudes of a ring; all longitudes if it crosses the antimeridian or circles the globe. */
const reaches = new Map(
  BORDERS.flatMap(({ rings }) => rings).map((ring) => {
    const lngs = ring.map(([lng]) => lng);
    const whole = lngs.every((lng, i) => i === 0 || Math.abs(lng - lngs[i - 1]!) < 180);
    const span = whole ? [lngs.reduce((a, b) => Math.min(a, b)), lngs.reduce((a, b) => Math.max(a, b))] : [-180, 180];
    return [ring, { west: span[0]!, east: span[1]!, north: ring.reduce((most, [, lat]) => Math.max(most, lat), -90) }];
  }),
);

const wrap = (degrees: number) => degrees - 360 * Math.round(degrees / 360);

/**
 * Whether a position is inside, by counting the edges crossed on the way north along its meridian to the pole, which is
 * in no country. Works for rings across the antimeridian and around the south pole, because longitudes are only ever
 * subtracted.
 */
function oracle(rings: readonly Ring[], lng: number, lat: number): boolean {
  let inside = false;
  for (const ring of rings) {
    const { west, east, north } = reaches.get(ring)!;
    if (north < lat || lng < west || lng > east) continue;
    for (let i = 1; i < ring.length; i++) {
      const [ax, ay] = ring[i - 1]!;
      const [bx, by] = ring[i]!;
      if (ay < lat && by < lat) continue;
      const from = wrap(ax - lng);
      const to = from + wrap(bx - ax);
      if (from > 0 === to > 0) continue;
      if (ay + ((by - ay) * from) / (from - to) > lat) inside = !inside;
    }
  }
  return inside;
}

/** Ten thousand take minutes: CELLPORT_RUNS=10000. */
const POSITIONS = rounds('positionsInCountries');

const db = { ...(await testDatabase()), geometry: { objects, inlineBytes: 32 * 1024 } };
const collection = await testCollection(db, COUNTRIES_COLLECTION, NOW);
const countries = openCountries();
const options = { collection, now: () => new Date(NOW), call: newCall(db) };
const objectsThere = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

test('a stopped load resumes where it was', async () => {
  const stop = new AbortController();
  let calls = 0;
  const stopping = {
    ...options,
    now: () => ((calls += 1) === 60 ? stop.abort(new Error('stopped')) : undefined, new Date(NOW)),
  };
  const interrupted = { ...stopping, call: newCall(db, stop.signal) };
  await expect(loadCountries(interrupted, countries)).rejects.toThrow('stopped');
  const left = await loadCountries(options, countries);
  expect(left).toBeGreaterThan(150);
  expect(left).toBeLessThan(255 - 30);
});

test('every country exists once, keyed by number or name, with large ones in objects', async () => {
  expect(await loadCountries(options, countries)).toBe(0);
  const { context: map } = requestContext(db);
  const { edges } = await collectionZones(map, collection, { first: 1_000 });
  const zones = edges.map(({ node }) => node);
  expect(zones).toHaveLength(255);
  expect(new Set(zones.map(({ key }) => key)).size).toBe(255);
  expect(new Set(zones.map(({ name }) => name))).toEqual(new Set(BORDERS.map(({ name }) => name)));
  for (const name of ['North Macedonia', 'Eswatini', 'Equatorial Guinea', 'Marshall Islands'])
    expect(zones.map((each) => each.name)).toContain(name);
  expect(zones.filter((each) => each.name?.endsWith('.'))).toEqual([]);
  const canada = zones.find(({ key }) => key === '124')!;
  expect(canada).toMatchObject({ name: 'Canada', properties: { iso: '124' } });
  expect(canada.geometry.jsonBytes).toBeGreaterThan(2_600_000);
  expect(canada.geometry.object).toBeDefined();
  const { json } = await map.loaders.zones.geometry(canada);
  expect(json.length).toBe(canada.geometry.jsonBytes);
  const large = zones.filter(({ geometry }) => geometry.object !== undefined);
  expect(large.length).toBeGreaterThan(30);
  expect(large.every(({ geometry }) => geometry.bytes > 32 * 1024)).toBe(true);
  // The stopped load may have left one.
  await sweepObjects(newCall(db), objects, new Date(Date.now() + 60_000));
  expect(objectsThere()).toBe(large.length);
  for (const { cells } of zones) expect(cells.length).toBeLessThanOrEqual(16);
  const crossing = zones.filter(({ bounds }) => bounds.west > bounds.east).map(({ name }) => String(name));
  expect(crossing.sort()).toEqual([
    'Fiji',
    'Kiribati',
    'New Zealand',
    'Russia',
    'U.S. Minor Outlying Islands',
    'United States of America',
  ]);
});

test(`zonesAt agrees with an independent point-in-polygon test at ${POSITIONS} positions, with three Query calls each`, async () => {
  const random = randomFrom(5);
  const points = Array.from({ length: POSITIONS }, (_, n) => {
    // Alternately anywhere in a country and close to its border, but never on it, because neighbors share borders.
    const { rings } = BORDERS[n % BORDERS.length]!;
    const ring = rings[Math.floor(random() * rings.length)]!;
    const [ax, ay] = ring[Math.floor(random() * ring.length)]!;
    const [bx, by] = ring[Math.floor(random() * ring.length)]!;
    const along = n % 2 === 0 ? random() : 0;
    const aside = n % 2 === 0 ? 0.001 : 10 ** (-4 * random());
    const lng = wrap(ax + along * wrap(bx - ax) + aside * (random() - 0.5));
    const lat = ay + along * (by - ay) + aside * (random() - 0.5);
    return { lng, lat: Math.max(-90, Math.min(90, lat)) };
  });
  const geometryCache = createGeometryCache({ maxBytes: 256e6 });
  let inside = 0;
  let queries = 0;
  // One request for each of the first positions, to count its calls; then one for every 500, which reads each cell once.
  const shared = Array.from({ length: Math.ceil(POSITIONS / 500) }, () => requestContext(db, { geometryCache }));
  await mapConcurrently(points, 4, async (point, index) => {
    const own = index < 500 ? requestContext(db, { geometryCache }) : undefined;
    const { context: map } = own ?? shared[Math.floor(index / 500)]!;
    const zones = await zonesAt(map, collection, point);
    if (own) queries = Math.max(queries, own.call.meter.queries);
    const expected = BORDERS.filter(
      ({ rings }, index) =>
        point.lat <= boxes[index]!.north &&
        (point.lat >= boxes[index]!.south || BORDERS[index]!.name === 'Antarctica') &&
        oracle(rings, point.lng, point.lat),
    ).map(({ name }) => name);
    const names = zones.map(({ name }) => String(name));
    if (JSON.stringify(names.toSorted()) !== JSON.stringify(expected.toSorted())) {
      expect([point, names.toSorted()]).toEqual([point, expected.toSorted()]);
    }
    inside += zones.length;
  });
  expect(queries).toBe(3);
  expect(inside).toBeGreaterThan(POSITIONS / 2);
});

test('a deleted country is not created again', async () => {
  await deleteZone(newCall(db), { collection, key: '616' }, undefined);
  expect(await loadCountries(options, countries)).toBe(0);
});

test('without an object store, large countries get coarser borders', async () => {
  const without = { ...db, geometry: { objects: undefined, inlineBytes: 32 * 1024 } };
  const other = await testCollection(without, { ...COUNTRIES_COLLECTION, key: 'inline', code: 'In' }, NOW);
  const some = countries.filter(({ name }) => ['Canada', 'France', 'Luxembourg', 'Tuvalu'].includes(String(name)));
  expect(await loadCountries({ ...options, collection: other, call: newCall(without) }, some)).toBe(4);
  const { edges } = await collectionZones(requestContext(without).context, other, { first: 10 });
  const zones = new Map(edges.map(({ node }) => [node.key, node.geometry]));
  expect([...zones.values()].every(({ object, bytes }) => object === undefined && bytes <= 32 * 1024)).toBe(true);
  const luxembourg = countries.find(({ name }) => name === 'Luxembourg');
  expect(zones.get('442')?.jsonBytes).toBe(JSON.stringify(luxembourg?.geometry()).length);
  expect(zones.get('124')?.vertices).toBeGreaterThan(100);
  expect(zones.get('124')?.vertices).toBeLessThan(3_000);
});
