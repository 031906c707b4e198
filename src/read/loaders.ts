import pLimit from 'p-limit';

import type { Collection } from '../model/collection.js';
import type { Place, PlaceCount } from '../model/place.js';
import { type OrderedMarker, orderedMarker } from '../pages/ordered-marker.js';
import type { Database, Item } from '../store/database.js';
import { mapMarkerFromIndex } from '../store/marker/marker-item.js';
import { type PlacePage, type PlaceQuery, readPlacePage } from '../store/marker/place-index.js';
import type { Call } from '../store/request/meter.js';
import { queryResponses } from '../store/table/query-responses.js';
import { rangeRequest } from '../store/request/ranges.js';
import { send } from '../store/request/send.js';
import { BlockLoader } from '../loaders/block-loader.js';
import type { Budget } from '../loaders/budget.js';
import type { CellCache } from '../loaders/cell-cache.js';
import type { CollectionCache } from '../loaders/collection-cache.js';
import { createCollectionLoader } from '../loaders/collection-loader.js';
import { createEntityLoaders } from '../loaders/entity-loader.js';
import { type MarkerLoaderOptions, createMarkerLoader } from '../loaders/marker-loader.js';
import { PageLoader, type PageServices } from './from-pages/page-loader.js';
import { type BudgetedRange, type ReadPage, createRangeLoader, sortKeyOf } from '../loaders/range-loader.js';
import { createSummaryLoader } from '../loaders/reading-summaries.js';
import { remembered } from '../loaders/remembered.js';
import { type ZoneLoaderOptions, createZoneLoader } from '../loaders/zone-loader.js';

/** Markers of one range of the geo index. */
export interface IndexedMarkers {
  /**
   * Sorted by sort key; the first ones of the range if it is not complete. All callers that read the same item get the
   * same object.
   */
  readonly markers: readonly OrderedMarker[];
  /**
   * The sort key after which the rest of the range starts, if this part is not complete; undefined if nothing was read.
   */
  readonly resumeAfter: string | undefined;
  readonly complete: boolean;
}

export interface LoadersOptions extends Omit<MarkerLoaderOptions, 'slots'>, Pick<ZoneLoaderOptions, 'geometryCache'> {
  readonly cellCache: CellCache;
  readonly pageServices: PageServices;
  readonly collectionCache: CollectionCache;
}

/** Maximum number of concurrent Query calls of one request. */
export const CONCURRENT_QUERIES = 16;

/** Creates the reads of one request: those requested in one tick are made together, and nothing is read twice. */
export function createLoaders(options: LoadersOptions) {
  const { db, cellCache, collectionCache, call } = options;
  const { keys } = db;
  const slots = pLimit(CONCURRENT_QUERIES);
  const read: ReadPage = async (wanted, limit, start) => {
    const { Items, LastEvaluatedKey } = await send(db, 'query', rangeRequest(db, { ...wanted, limit }, start), call);
    return { items: Items ?? [], next: LastEvaluatedKey };
  };
  const range = createRangeLoader(read, slots, db.scheduler);

  const blocks = new BlockLoader(db, cellCache, call, range);

  const partitions = async (scope: string) => [...(await blocks.one(scope, '')).children.keys()].sort();
  const pages = new PageLoader({ ...options.pageServices, db, call, range, slots, partitions });

  const decoded = new WeakMap<Item, OrderedMarker | null>();
  function decode(item: Item, collection: Collection): OrderedMarker | null {
    return remembered(decoded, item, () => {
      const marker = mapMarkerFromIndex(keys, item, collection);
      return marker ? orderedMarker(marker) : null;
    });
  }

  const collections = createCollectionLoader(db, collectionCache, call);
  const markerLoader = createMarkerLoader({ ...options, slots });

  return {
    collections,
    ...createEntityLoaders(db, collections, call),
    ...markerLoader,
    ...createSummaryLoader({ ...options, slots, trust: options.pageServices.trust }, markerLoader),
    ...createZoneLoader({ ...options, slots, items: collections.lagging }),
    blocks,
    pages,
    /** Drops the markers that were read: those of a long search may not fit into memory. */
    forget(): void {
      for (const read of [range, pages, markerLoader]) read.forget();
    },
    /** Markers in one range of the geo index; other items are omitted. */
    async markers(collection: Collection, request: BudgetedRange): Promise<IndexedMarkers> {
      const { index } = request.range;
      const { items, complete } = await range(request);
      const markers = items.map((item) => decode(item, collection)).filter((marker) => marker !== null);
      request.budget.debit({ items: markers.length });
      const last = items.at(-1);
      return { markers, resumeAfter: complete || !last ? undefined : sortKeyOf(index, last), complete };
    },
    /** A page of markers by place, from one Query. */
    async markersAtPlaces(collection: Collection, query: PlaceQuery, budget: Budget): Promise<PlacePage> {
      budget.debit({ calls: 1 });
      return readPlacePage(db, collection, query, call);
    },
    /** The next level below a place, according to stored counts; undefined if it has more than `most` items. */
    placeCounts(collection: Collection, under: Place, most: number): Promise<PlaceCount[] | undefined> {
      return readPlaceCounts(db, { scope: keys.scope(collection), under, most }, call);
    },
  };
}

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * The places with markers directly below a place, in key order; undefined if there are more than `most` items. A place
 * that has lost its last marker keeps its item, which counts towards that number.
 */
async function readPlaceCounts(
  database: Database,
  { scope, under, most }: { readonly scope: string; readonly under: Place; readonly most: number },
  call: Call,
): Promise<PlaceCount[] | undefined> {
  const { keys } = database;
  const found: PlaceCount[] = [];
  let items = 0;
  const request = rangeRequest(database, { index: 'derived', pk: keys.placesPartition(scope, under) });
  for await (const page of queryResponses(database, request, call, most + 1)) {
    items += page.length;
    if (items > most) return undefined;
    for (const { pk, sk, n } of page) {
      const place = keys.parsePlaceCount({ pk: String(pk), sk: String(sk) })?.place;
      const name = place?.at(-1);
      // Below zero if the counts have missed records, which is then reported as a gap.
      if (place === undefined || name === undefined || typeof n !== 'number' || n <= 0) continue;
      found.push({ name, place, count: n });
    }
  }
  return found;
}
