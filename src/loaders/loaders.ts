import pLimit from 'p-limit';

import { INDEXES } from '../keys/indexes.js';
import type { SortRange } from '../keys/keyspace.js';
import type { CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { MapMarker } from '../model/marker.js';
import type { Place, PlaceCount } from '../model/place.js';
import type { Database, Item } from '../store/database.js';
import { mapMarkerFromIndex } from '../store/marker/marker-item.js';
import type { Call } from '../store/request/meter.js';
import { readPlaceCounts } from '../store/cell/place-counts.js';
import { readPlacePage } from '../store/marker/place-index.js';
import { rangeRequest } from '../store/request/ranges.js';
import { send } from '../store/request/send.js';
import { compareBytes } from '../keys/byte-order.js';
import type { Budget } from './budget.js';
import { BlockLoader } from './block-loader.js';
import type { CellCache } from './cell-cache.js';
import type { CollectionCache } from './collection-cache.js';
import { type EntityLoaders, createEntityLoaders } from './entity-loader.js';
import type { IndexedMarker, MarkerCache, MarkersOf } from './marker-cache.js';
import { type MarkerLoader, type ReadingLimits, createMarkerLoader } from './marker-loader.js';
import { type BudgetedRange, createRangeLoader, sortKeyOf } from './range-loader.js';
import { type ZoneLoader, type ZoneLoaderOptions, createZoneLoader } from './zone-loader.js';

/** A marker as the index of places holds it, its place included. */
export interface MarkerAtPlace {
  /** Its index sort key. */
  readonly sortKey: string;
  readonly marker: MapMarker & { readonly place: Place };
}

/** A range of one partition of the index of places. */
export interface PlaceRequest {
  readonly pk: string;
  /** Bounds of the sort keys, both included; the whole partition if omitted. */
  readonly range: SortRange | undefined;
  /** A sort key of an entry, after which it begins; the entry may be gone. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly budget: Budget;
}

/** Markers of one range of the geo index. */
export interface IndexedMarkers {
  /** In the order of their sort keys; the first ones of the range if it is not complete. */
  readonly markers: readonly IndexedMarker[];
  /** The sort key after which the rest of the range begins, if this is not complete; undefined if nothing was read. */
  readonly resumeAfter: string | undefined;
  readonly complete: boolean;
}

/** Reads of one request: those of one tick are made together, and the same thing is read once. */
export interface Loaders extends EntityLoaders, MarkerLoader, ZoneLoader {
  /** Markers of one range of the geo index, whose partition is named by `prefix`; items that are not markers are omitted. */
  markers(collection: Collection, prefix: string, request: BudgetedRange): Promise<IndexedMarkers>;
  /** Markers by place, one Query; `next` is the sort key after which there may be more. */
  markersAtPlaces(
    collection: Collection,
    request: PlaceRequest,
  ): Promise<{ readonly markers: readonly MarkerAtPlace[]; readonly next: string | undefined }>;
  /** The next level below a place, by the stored counts; undefined if it has more than `most` items. */
  placeCounts(collection: Collection, under: Place, most: number): Promise<PlaceCount[] | undefined>;
  readonly blocks: BlockLoader;
  /** The cell block under a parent, an empty one if there is none. */
  block(scope: string, parent: string): Promise<CellBlock>;
}

export interface LoadersOptions extends Pick<ZoneLoaderOptions, 'geometryCache'> {
  readonly db: Database;
  readonly cellCache: CellCache;
  readonly markerCache: MarkerCache;
  readonly collectionCache: CollectionCache;
  readonly call: Call;
  /** Most Query calls of this request under way at once. */
  readonly concurrency: number;
  readonly limits: ReadingLimits;
  readonly now: () => Date;
}

/** Maximum number of concurrent Query calls of one request. */
export const CONCURRENT_QUERIES = 16;

/** The loaders of one request. */
export function createLoaders(options: LoadersOptions): Loaders {
  const { db, cellCache, markerCache, collectionCache, call, concurrency } = options;
  const { keys } = db;
  const slots = pLimit(concurrency);
  const range = createRangeLoader(async (wanted, limit, start) => {
    const page = await send(db, 'query', rangeRequest(db, { ...wanted, limit }, start), call);
    return { items: page.Items ?? [], next: page.LastEvaluatedKey };
  }, slots);

  const blocks = new BlockLoader(db, cellCache, call, range);

  const hit = (known: KeyRange, items: number) => {
    const { index, pk, from, to } = known;
    call.reads?.push({ index, pk, from, to, items, readUnits: 0, cached: true });
  };

  const decoded = new WeakMap<Item, IndexedMarker | null>();
  function decode(item: Item, index: KeyRange['index'], { collection, prefix }: MarkersOf): IndexedMarker | null {
    const known = decoded.get(item);
    if (known !== undefined) return known;
    const marker = mapMarkerFromIndex(keys, item, collection);
    const sortKey = sortKeyOf(index, item);
    const result = marker ? { sortKey, cursorPosition: prefix + sortKey, marker } : null;
    decoded.set(item, result);
    return result;
  }

  /** From the cache as far as it knows the range; only what lies between is read. */
  async function readMarkers(
    collection: Collection,
    prefix: string,
    { range: wanted, limit, budget }: BudgetedRange,
  ): Promise<IndexedMarkers> {
    const { index } = wanted;
    const { head, missing, tail } = markerCache.get(wanted);
    if (!missing || head.length >= limit) {
      call.meter.cacheHits++;
      const markers = head.slice(0, limit);
      const complete = !missing && head.length <= limit;
      const resumeAfter = markers.at(-1)?.sortKey;
      hit({ ...wanted, to: complete ? wanted.to : (resumeAfter ?? wanted.to) }, markers.length);
      return { markers, resumeAfter, complete };
    }
    const of = { collection, prefix };
    const token = markerCache.begin();
    const answer = await range({ range: missing, limit: limit - head.length, budget });
    const { complete } = answer;
    const items = answer.items.filter((item) => compareBytes(sortKeyOf(index, item), missing.until) < 0);
    const read = items.map((item) => decode(item, index, of)).filter((marker) => marker !== null);
    const last = items.at(-1);
    const upTo = last && sortKeyOf(index, last);
    if (missing.from !== wanted.from) hit({ ...wanted, to: missing.from }, head.length);
    if (complete && missing.to !== wanted.to) hit({ ...wanted, from: missing.until }, tail.length);
    const until = complete ? missing.until : upTo && `${upTo}\0`;
    if (until !== undefined) markerCache.put(of, { ...missing, until }, read, token);
    const all = [...head, ...read, ...(complete ? tail : [])];
    if (complete && all.length <= limit) return { markers: all, resumeAfter: undefined, complete };
    const markers = all.slice(0, limit);
    const resumeAfter = complete ? markers.at(-1)?.sortKey : (upTo ?? head.at(-1)?.sortKey);
    return { markers, resumeAfter, complete: false };
  }

  return {
    ...createEntityLoaders(db, collectionCache, call),
    ...createMarkerLoader({ ...options, slots }),
    ...createZoneLoader({ ...options, slots }),
    async markers(collection, prefix, request) {
      const answer = await readMarkers(collection, prefix, request);
      request.budget.debit({ items: answer.markers.length });
      return answer;
    },
    async markersAtPlaces(collection, { pk, range: within, after, limit, budget }) {
      budget.debit({ calls: 1 });
      const { pk: partition, sk: sort } = INDEXES.place;
      const scope = keys.scope(collection);
      const startOf = (sortKey: string): Item => {
        const { key = '' } = keys.parsePlaceSort(sortKey) ?? {};
        return { ...keys.marker(scope, key), [partition]: pk, [sort]: sortKey };
      };
      const start = after === undefined ? undefined : startOf(after);
      const page = await readPlacePage(db, { pk, range: within, after: start, limit }, call);
      const found = page.items.flatMap((item): MarkerAtPlace[] => {
        const marker = mapMarkerFromIndex(keys, item, collection);
        const place = keys.parsePlace({ pk, sk: String(item[sort]) });
        return marker && place ? [{ sortKey: String(item[sort]), marker: { ...marker, place } }] : [];
      });
      return { markers: found, next: page.next && String(page.next[sort]) };
    },
    placeCounts: (collection, under, most) => readPlaceCounts(db, { scope: keys.scope(collection), under, most }, call),
    blocks,
    block: (scope, parent) => blocks.one(scope, parent),
  };
}
