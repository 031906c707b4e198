import type { LimitFunction } from 'p-limit';

import { limitExceeded } from '../errors.js';
import type { PartitionRange } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { Zone } from '../model/zone.js';
import { readItem } from '../store/request/conditional-change.js';
import type { Database } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import { missing, readGeometry } from '../store/zone/zone-geometry.js';
import { readZoneEntries, readZonePage } from '../store/zone/zone-index.js';
import { type ZoneEntry, zoneFromItem } from '../store/zone/zone-item.js';
import type { ItemLoader } from './collection-loader.js';
import { type GeometryCache, LoadedGeometry, coarseName } from './geometry-cache.js';
import { remembered } from './remembered.js';

export interface ZoneLoaderOptions {
  readonly db: Database;
  readonly geometryCache: GeometryCache;
  readonly call: Call;
  readonly slots: LimitFunction;
  readonly items: ItemLoader;
}

const MOST_ANSWERED = 64 * 1024 * 1024;

/** Creates the reads of zones for one request. */
export function createZoneLoader({ db, geometryCache, call, slots, items }: ZoneLoaderOptions) {
  const { keys } = db;
  const entries = new Map<string, Promise<ZoneEntry[] | undefined>>();
  const geometries = new Map<string, Promise<LoadedGeometry>>();
  let answered = 0;

  async function load(zone: Zone): Promise<LoadedGeometry> {
    const { geometry } = zone;
    const cached = geometryCache.geometries.get(geometry.sha256);
    if (cached) {
      call.meter.cacheHits++;
      return cached;
    }
    const json = await slots(() => readGeometry(db.geometry, geometry));
    if (json) {
      const loaded = new LoadedGeometry(json, geometry.sha256, db.scheduler.takeTurn);
      geometryCache.geometries.set(geometry.sha256, loaded);
      return loaded;
    }
    // The zone's geometry was replaced after its item was read, and the former object no longer exists: use the new
    // one.
    const found = await readItem(db, keys.zone(zone.scope, zone.key), call);
    const now = found && zoneFromItem(keys, found, zone.collection);
    if (now === undefined || now.geometry.sha256 === geometry.sha256) throw missing(geometry);
    return load(now);
  }

  /** A zone's geometry. Throws UNAVAILABLE if it is missing or damaged, or its store does not answer. */
  function zoneGeometry(zone: Zone): Promise<LoadedGeometry> {
    const name = `${zone.geometry.sha256} ${zone.geometry.object ?? ''}`;
    return remembered(geometries, name, () => load(zone));
  }

  return {
    /** Zones by key, null for those that do not exist; those requested in one tick are read in one batch. */
    async zones(collection: Collection, wanted: readonly string[]): Promise<(Zone | null)[]> {
      const scope = keys.scope(collection);
      const found = await Promise.all(wanted.map((key) => items.load(keys.zone(scope, key))));
      return found.map((item) => (item && zoneFromItem(keys, item, collection.key)) ?? null);
    },
    /** The covers in a range of the geo index, read once; undefined if there are more than `most`. */
    zoneEntries(range: PartitionRange, most: number): Promise<ZoneEntry[] | undefined> {
      const name = `${range.pk}\n${range.from}\n${range.to}`;
      return remembered(entries, name, () => slots(() => readZoneEntries(db, range, most, call)));
    },
    /** A page of zones in key order, from one Query; `next` is the key after which there may be more. */
    zonePage(collection: Collection, page: { readonly after: string | undefined; readonly limit: number }) {
      return readZonePage(db, collection, page, call);
    },
    zoneGeometry,
    /** Its GeoJSON without details smaller than a tolerance in degrees. Throws like `zoneGeometry`. */
    async coarseGeometry(zone: Zone, tolerance: number): Promise<Buffer> {
      const known = geometryCache.coarse.get(coarseName(zone.geometry.sha256, tolerance));
      if (known) {
        call.meter.cacheHits++;
        return known;
      }
      const loaded = await zoneGeometry(zone);
      const json = await loaded.coarsened(tolerance);
      geometryCache.coarse.set(coarseName(loaded.sha256, tolerance), json);
      return json;
    },
    /** Where the geometry of a zone is stored; null if it is in the zone's item. */
    geometrySource({ geometry: { object } }: Zone): string | null {
      if (object === undefined) return null;
      const { objects } = db.geometry;
      return objects === undefined ? object : `${objects.place}/${object}`;
    },
    /** Counts the geometry in a response. Throws LIMIT_EXCEEDED above 64 MB per request. */
    countGeometry(bytes: number): void {
      answered += bytes;
      if (answered <= MOST_ANSWERED) return;
      throw limitExceeded(
        'geometry in one answer',
        `${answered} bytes`,
        `${MOST_ANSWERED} bytes`,
        'request shorter pages, or geometry(maxVertices: …)',
      );
    },
  };
}
