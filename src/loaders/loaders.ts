import DataLoader from 'dataloader';

import type { CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { Marker } from '../model/marker.js';
import type { Reading } from '../model/reading.js';
import { getCollections } from '../store/collections.js';
import type { Database, Item } from '../store/database.js';
import { mapMarkerFromIndex } from '../store/marker-item.js';
import type { Call } from '../store/meter.js';
import type { ReadingsWanted } from '../store/readings.js';
import { rangeRequest } from '../store/ranges.js';
import { send } from '../store/send.js';
import { compareBytes } from './byte-order.js';
import { type BlocksLoader, createBlockLoader, createBlocksLoader } from './block-loader.js';
import type { CellCache } from './cell-cache.js';
import type { CollectionCache } from './collection-cache.js';
import type { IndexedMarker, MarkerCache, MarkersOf } from './marker-cache.js';
import { type MarkerName, type ReadingLimits, createMarkerLoader } from './marker-loader.js';
import { createRangeLoader, sortKeyOf } from './range-loader.js';
import type { RangeRequest } from './range-union.js';
import { createSlots } from './slots.js';

/** Markers of one range of the geo index. */
export interface IndexedMarkers {
  /** In the order of their sort keys; the first ones of the range where it is not complete. */
  readonly markers: readonly IndexedMarker[];
  /** Sort key up to which everything is told, where it is not complete; undefined where nothing is. */
  readonly upTo: string | undefined;
  readonly complete: boolean;
  /** Query calls that had to do with this range. */
  readonly calls: number;
}

/** Reads of one request: what is asked for in one tick is read together, and the same thing is read once. */
export interface Loaders {
  /** A collection by key, null where there is none. */
  collection(key: string): Promise<Collection | null>;
  /** A marker's base item, null where there is none. */
  marker(name: MarkerName): Promise<Marker | null>;
  /**
   * Readings of a marker, newest first; none where there is no marker. Asked for in the same tick as the marker itself,
   * the latest ones come with it in one Query. Throws LIMIT_EXCEEDED where the request asks too many markers for theirs.
   */
  readings(name: MarkerName, wanted: ReadingsWanted): Promise<readonly Reading[]>;
  /** Markers of one range of the geo index, whose partition is named by `prefix`; items that are no markers are left out. */
  markers(collection: Collection, prefix: string, request: RangeRequest): Promise<IndexedMarkers>;
  readonly blocks: BlocksLoader;
  /** The cell block under a parent, an empty one where there is none. */
  block(scope: string, parent: string): Promise<CellBlock>;
}

export interface LoadersOptions {
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

/** The loaders of one request. */
export function createLoaders(options: LoadersOptions): Loaders {
  const { db, cellCache, markerCache, collectionCache, call, concurrency } = options;
  const { keys } = db;
  const slots = createSlots(concurrency);
  const range = createRangeLoader(async (wanted, limit, start) => {
    const page = await send(db, 'query', rangeRequest(db, { ...wanted, limit }, start), call);
    return { items: page.Items ?? [], next: page.LastEvaluatedKey };
  }, slots);

  const collections = new DataLoader<string, Collection | null>(async (names) => {
    const found = new Map(names.map((name) => [name, collectionCache.get(name)]));
    const missing = names.filter((name) => !found.get(name));
    if (missing.length > 0) {
      const read = await getCollections(db, missing, call);
      for (const collection of read) {
        if (!collection) continue;
        collectionCache.put(collection);
        found.set(collection.key, collection);
      }
    }
    return names.map((name) => found.get(name) ?? null);
  });

  const decoded = new WeakMap<Item, IndexedMarker | null>();
  function decode(item: Item, index: KeyRange['index'], { collection, prefix }: MarkersOf): IndexedMarker | null {
    const known = decoded.get(item);
    if (known !== undefined) return known;
    const marker = mapMarkerFromIndex(keys, item, collection);
    const sortKey = sortKeyOf(index, item);
    const result = marker ? { sortKey, place: prefix + sortKey, marker } : null;
    decoded.set(item, result);
    return result;
  }

  return {
    collection: (key) => collections.load(key),
    ...createMarkerLoader({ ...options, slots }),
    async markers(collection, prefix, request) {
      const { index } = request.range;
      const { head, missing, tail } = markerCache.get(request.range);
      if (!missing || head.length >= request.limit) {
        call.meter.cacheHits++;
        const markers = head.slice(0, request.limit);
        const complete = !missing && head.length <= request.limit;
        return { markers, upTo: markers.at(-1)?.sortKey, complete, calls: 0 };
      }
      const of = { collection, prefix };
      const token = markerCache.begin();
      const answer = await range({ ...request, range: missing, limit: request.limit - head.length });
      const { complete, calls } = answer;
      const items = answer.items.filter((item) => compareBytes(sortKeyOf(index, item), missing.until) < 0);
      const read = items.map((item) => decode(item, index, of)).filter((marker) => marker !== null);
      const last = items.at(-1);
      const upTo = last && sortKeyOf(index, last);
      const until = complete ? missing.until : upTo && `${upTo}\0`;
      if (until !== undefined) markerCache.put(of, { ...missing, until }, read, token);
      const all = [...head, ...read, ...(complete ? tail : [])];
      if (complete && all.length <= request.limit) return { markers: all, upTo: undefined, complete, calls };
      const markers = all.slice(0, request.limit);
      const told = complete ? markers.at(-1)?.sortKey : (upTo ?? head.at(-1)?.sortKey);
      return { markers, upTo: told, complete: false, calls };
    },
    blocks: createBlocksLoader({ keys, cellCache, call }, range),
    block: createBlockLoader(db, cellCache, call),
  };
}
