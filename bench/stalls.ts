import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { createFolderStore } from '../src/objects/folder-store.js';
import { createServices } from '../src/server/services.js';
import { createGraphqlServer } from '../src/graphql/server.js';
import { DEFAULT_LIMITS } from '../src/model/limits.js';
import { silentLog } from '../src/log.js';
import { createZone } from '../src/store/zone/zones.js';
import { newCall } from '../src/store/request/meter.js';
import { NOW, makeCollection, realMarkers } from '../test/map/fixture.js';
import { memoryDatabase } from '../test/support/memory-store.js';

/** A star of so many corners, half of them close to its center, as GeoJSON. */
function star(corners: number, [lng, lat]: readonly [number, number], radius: number, squeeze = 0.2) {
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * index) / corners;
    const reach = index % 2 === 0 ? radius : radius * squeeze;
    return [lng + reach * Math.cos(angle), lat + (reach / 2) * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

const aliases = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ');
const WORLD = 'viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 3)';
const deep = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
};

interface Attack {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const ATTACKS: readonly Attack[] = [
  {
    name: '60 cells',
    query: `{ ${WORLD} { ${aliases(60, () => `cells(collection: "cities", precision: 4) { geohash count }`)} } }`,
  },
  {
    name: '1 cells, 6 levels',
    query: `{ ${WORLD} { cells(collection: "cities", precision: 4) { geohash precision count bounds { west south east north } center { lng lat } centroid { lng lat } } } }`,
  },
  {
    name: '190 inside, one star',
    query: `query($p: GeoJSON!) { collection(key: "cities") { ${aliases(190, () => 'inside(polygon: $p, first: 1) { nodes { id } }')} } }`,
    variables: { p: star(9_997, [10, 20], 60) },
  },
  {
    name: '18 inside, 18 stars',
    query: `query(${aliases(18, () => '').replaceAll(/a(\d+): /g, '$a$1: GeoJSON! ')}) { collection(key: "cities") { ${aliases(18, (index) => `inside(polygon: $a${index}, first: 5000) { nodes { id } }`)} } }`,
    variables: Object.fromEntries(
      Array.from({ length: 18 }, (_, index) => [
        `a${index}`,
        star(9_997, [10 + index / 7, 20], 60, 0.05 + index / 100),
      ]),
    ),
  },
  {
    name: 'in of 100,000 values',
    query: `query($v: [JSON!]) { collection(key: "cities") { markers(first: 5000, filter: { properties: [{ name: "population", in: $v }] }) { nodes { id } } } }`,
    variables: { v: Array.from({ length: 100_000 }, (_, index) => -index - 1) },
  },
  {
    name: '190 filters, in of 1,000 objects',
    query: `query($v: [JSON!]) { collection(key: "cities") { ${aliases(190, (index) => `markers(first: ${1 + index}, filter: { properties: [{ name: "population", in: $v }] }) { nodes { id } }`)} } }`,
    variables: { v: Array.from({ length: 1_000 }, (_, index) => ({ a: { b: index } })) },
  },
  {
    name: '190 filters, eq of depth 1,000',
    query: `query($v: JSON) { collection(key: "cities") { ${aliases(190, (index) => `markers(first: ${1 + index}, filter: { properties: [{ name: "deep", eq: $v }] }) { nodes { id } }`)} } }`,
    variables: { v: deep(1_000) },
  },
  {
    name: 'Zone.markers, 100,000 vertices (first)',
    query: `{ collection(key: "cities") { zone(key: "big") { markers(first: 100) { nodes { id } } } } }`,
  },
  {
    name: 'Zone.markers, 100,000 vertices (again)',
    query: `{ collection(key: "cities") { zone(key: "big") { markers(first: 100) { nodes { id } } } } }`,
  },
  {
    name: '100 Zone.markers, 100,000 vertices',
    query: `{ collection(key: "cities") { zone(key: "big") { ${aliases(100, (index) => `markers(first: ${1 + index}) { nodes { id } }`)} } } }`,
  },
  {
    name: '100 viewport zones',
    query: `{ ${aliases(100, (index) => `viewport(bounds: { west: ${index / 50}, south: 5, east: 20, north: 22 }, zoom: 4) { zones(collection: "cities") { nodes { key } } }`)} }`,
  },
  {
    name: 'simplified zone',
    query: `{ collection(key: "cities") { zone(key: "big") { geometry(maxVertices: 50) } } }`,
  },
  {
    name: '5,000 markers of 190 fields',
    query: `{ collection(key: "cities") { markers(first: 5000) { nodes { ${aliases(190, () => 'name')} } } } }`,
  },
  {
    name: '5,000 markers of 190 read fields',
    query: `{ collection(key: "cities") { markers(first: 5000) { nodes { ${aliases(190, () => 'version')} } } } }`,
  },
  {
    name: '190 nodes of 5,000 markers',
    query: `{ collection(key: "cities") { markers(first: 5000) { ${aliases(190, () => 'nodes { name }')} } } }`,
  },
  {
    name: '190 clusters',
    query: `{ ${WORLD} { ${aliases(190, (index) => `clusters(collection: "cities", radius: ${1 + index}) { count }`)} } }`,
  },
  {
    name: '190 counts',
    query: `{ ${aliases(190, (index) => `viewport(bounds: { west: ${-170 + index / 7}, south: -80.3, east: ${150.1 + index / 8}, north: 84.2 }, zoom: 3) { count(collection: "cities") }`)} }`,
  },
  {
    name: '100 within',
    query: `{ collection(key: "cities") { ${aliases(100, (index) => `within(center: { lng: ${index / 10}, lat: 50 }, radius: 800000, first: 1000) { nodes { id } }`)} } }`,
  },
];

const memory = memoryDatabase('readable');
const folder = mkdtempSync(join(tmpdir(), 'cellport-stalls-'));
const database = { ...memory, geometry: { ...memory.geometry, objects: createFolderStore(folder) } };
const collection = await makeCollection(database, { key: 'cities' }, realMarkers(3));
const zone = { key: 'big', name: 'big', geometry: star(99_999, [10, 20], 60) };
await createZone(database, collection, zone, NOW, newCall());
const status = () => ({ owner: true, behindMs: 0, countsExact: true });
const services = createServices({ database }, { consumerStatus: status, limits: DEFAULT_LIMITS });
const server = await createGraphqlServer(services, silentLog);

for (const { name, query, variables = {} } of ATTACKS.filter((one) => one.name.includes(process.argv[2] ?? ''))) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const begin = performance.now();
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    search: '',
    body: { query, variables },
  };
  const { body } = await server.answer(request, new AbortController().signal);
  const total = performance.now() - begin;
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  const text = String(body);
  const errors = /"message":"(.{0,100})/.exec(text)?.[1] ?? '';
  console.log(
    `${name}: longest stall ${Math.round(delay.max / 1e6)} ms, ${Math.round(total)} ms, ${text.length} bytes ${errors}`,
  );
}
await server.stop();
rmSync(folder, { recursive: true });
