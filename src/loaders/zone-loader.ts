import type { LimitFunction } from 'p-limit';

import { limitExceeded } from '../errors.js';
import type { PartitionRange } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { Zone } from '../model/marker.js';
import type { Call } from '../store/database.js';
import { readItem } from '../store/request/conditional-write.js';
import { missing, readGeometry } from '../store/zone/zone-geometry.js';
import { zoneFromItem, type ZoneEntry } from '../store/zone/zone-item.js';
import { queryZones, readZoneEntries } from '../store/zone/zones.js';
import type { ItemLoader } from './collection-loader.js';
import { coarseName, LoadedGeometry, type GeometryCache } from './geometry-cache.js';
import { remembered } from './remembered.js';

const MOST_ANSWERED = 64 * 1024 * 1024;

/** Reads zones for one request. */
export class ZoneLoader {
  readonly #cache: GeometryCache;
  readonly #items: ItemLoader;
  readonly #call: Call;
  readonly #slots: LimitFunction;
  readonly #entries = new Map<string, Promise<ZoneEntry[] | undefined>>();
  readonly #geometries = new Map<string, Promise<LoadedGeometry>>();
  #answered = 0;

  constructor(call: Call, cache: GeometryCache, items: ItemLoader, slots: LimitFunction) {
    this.#cache = cache;
    this.#items = items;
    this.#call = call;
    this.#slots = slots;
  }

  /** Zones by key, null for those that do not exist; those requested in one tick are read in one batch. */
  async load(collection: Collection, wanted: readonly string[]): Promise<(Zone | null)[]> {
    const { keys } = this.#call.db;
    const scope = keys.scope(collection);
    const found = await Promise.all(wanted.map((key) => this.#items.load(keys.zone(scope, key))));
    return found.map((item) => (item && zoneFromItem(keys, item, collection.key)) ?? null);
  }

  /** The covers in a range of the geo index, read once; undefined if there are more than `most`. */
  entries(range: PartitionRange, most: number): Promise<ZoneEntry[] | undefined> {
    const name = `${range.pk}\n${range.from}\n${range.to}`;
    const read = () => readZoneEntries(this.#call, range, most);
    return remembered(this.#entries, name, () => this.#slots(read));
  }

  /** Zones in key order, from one Query; `next` is the key after which there may be more. */
  inOrder(collection: Collection, from: { readonly after: string | undefined; readonly limit: number }) {
    return queryZones(this.#call, collection, from);
  }

  /** A zone's geometry. Throws UNAVAILABLE if it is missing or damaged, or its store does not answer. */
  geometry(zone: Zone): Promise<LoadedGeometry> {
    const name = `${zone.geometry.sha256} ${zone.geometry.object ?? ''}`;
    return remembered(this.#geometries, name, () => this.#loadGeometry(zone));
  }

  /** Its GeoJSON without details smaller than a tolerance in degrees. Throws like `geometry`. */
  async coarseGeometry(zone: Zone, tolerance: number): Promise<Buffer> {
    const known = this.#cache.use.counted(this.#cache.coarse.get(coarseName(zone.geometry.sha256, tolerance)));
    if (known) {
      this.#call.meter.cacheHits++;
      return known;
    }
    const loaded = await this.geometry(zone);
    const json = await loaded.coarsened(tolerance);
    this.#cache.coarse.set(coarseName(loaded.sha256, tolerance), json);
    return json;
  }

  /** Where the geometry of a zone is stored; null if it is in the zone's item. */
  geometrySource({ geometry: { object } }: Zone): string | null {
    if (object === undefined) return null;
    const { objects } = this.#call.db.geometry;
    return objects === undefined ? object : `${objects.place}/${object}`;
  }

  /** Counts the geometry in a response. Throws LIMIT_EXCEEDED above 64 MB per request. */
  countGeometry(bytes: number): void {
    this.#answered += bytes;
    if (this.#answered <= MOST_ANSWERED) return;
    throw limitExceeded(
      'geometry in one answer',
      `${this.#answered} bytes`,
      `${MOST_ANSWERED} bytes`,
      'request shorter pages, or geometry(maxVertices: …)',
    );
  }

  async #loadGeometry(zone: Zone): Promise<LoadedGeometry> {
    const { geometry } = zone;
    const { geometries, use } = this.#cache;
    const cached = use.counted(geometries.get(geometry.sha256));
    if (cached) {
      this.#call.meter.cacheHits++;
      return cached;
    }
    const json = await this.#slots(() => readGeometry(this.#call.db.geometry, geometry));
    if (json) {
      const loaded = new LoadedGeometry(json, geometry.sha256, this.#call.db.scheduler.takeTurn);
      geometries.set(geometry.sha256, loaded);
      return loaded;
    }
    // The zone's geometry was replaced after its item was read, and the former object no longer exists: use the new
    // one.
    const { keys } = this.#call.db;
    const found = await readItem(this.#call, keys.zone(zone.scope, zone.key));
    const now = found && zoneFromItem(keys, found, zone.collection);
    if (now === undefined || now.geometry.sha256 === geometry.sha256) throw missing(geometry);
    return this.#loadGeometry(now);
  }
}
