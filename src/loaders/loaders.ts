import pLimit from 'p-limit';

import type { CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { Place, PlaceCount } from '../model/place.js';
import { type OrderedMarker, orderedMarker } from '../pages/ordered-marker.js';
import type { Database, Item } from '../store/database.js';
import { mapMarkerFromIndex } from '../store/marker/marker-item.js';
import type { Call } from '../store/request/meter.js';
import { readPlaceCounts } from '../store/cell/place-counts.js';
import { type PlacePage, type PlaceQuery, readPlacePage } from '../store/marker/place-index.js';
import { rangeRequest } from '../store/request/ranges.js';
import { send } from '../store/request/send.js';
import type { Budget } from './budget.js';
import { BlockLoader } from './block-loader.js';
import type { CellCache } from './cell-cache.js';
import type { CollectionCache } from './collection-cache.js';
import { type EntityLoaders, createEntityLoaders } from './entity-loader.js';
import { PageLoader, type PageServices } from './pages/page-loader.js';
import { type MarkerLoader, type ReadingLimits, createMarkerLoader } from './marker-loader.js';
import { type BudgetedRange, createRangeLoader, sortKeyOf } from './range-loader.js';
import { remembered } from './remembered.js';
import { type SummaryLoader, createSummaryLoader } from './reading-summaries.js';
import { type ZoneLoader, type ZoneLoaderOptions, createZoneLoader } from './zone-loader.js';

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

/** The reads of one request: those requested in one tick are made together, and nothing is read twice. */
export interface Loaders extends EntityLoaders, MarkerLoader, SummaryLoader, ZoneLoader {
  /** Markers in one range of the geo index; other items are omitted. */
  markers(collection: Collection, request: BudgetedRange): Promise<IndexedMarkers>;
  /** A page of markers by place, from one Query. */
  markersAtPlaces(collection: Collection, query: PlaceQuery, budget: Budget): Promise<PlacePage>;
  /** The next level below a place, according to stored counts; undefined if it has more than `most` items. */
  placeCounts(collection: Collection, under: Place, most: number): Promise<PlaceCount[] | undefined>;
  readonly blocks: BlockLoader;
  readonly pages: PageLoader;
  /** The cell block under a parent, an empty one if none is stored. */
  block(scope: string, parent: string): Promise<CellBlock>;
}

export interface LoadersOptions extends Pick<ZoneLoaderOptions, 'geometryCache'> {
  readonly db: Database;
  readonly cellCache: CellCache;
  readonly pageServices: PageServices;
  readonly collectionCache: CollectionCache;
  readonly call: Call;
  /** Maximum number of concurrent Query calls of this request. */
  readonly concurrency: number;
  readonly limits: ReadingLimits;
  readonly now: () => Date;
}

/** Maximum number of concurrent Query calls of one request. */
export const CONCURRENT_QUERIES = 16;

/** Creates the loaders for one request. */
export function createLoaders(options: LoadersOptions): Loaders {
  const { db, cellCache, collectionCache, call, concurrency } = options;
  const { keys } = db;
  const slots = pLimit(concurrency);
  const range = createRangeLoader(async (wanted, limit, start) => {
    const page = await send(db, 'query', rangeRequest(db, { ...wanted, limit }, start), call);
    return { items: page.Items ?? [], next: page.LastEvaluatedKey };
  }, slots);

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

  const markerLoader = createMarkerLoader({ ...options, slots });

  return {
    ...createEntityLoaders(db, collectionCache, call),
    ...markerLoader,
    ...createSummaryLoader({ ...options, slots, trust: options.pageServices.trust }, markerLoader),
    ...createZoneLoader({ ...options, slots }),
    async markers(collection, request) {
      const { index } = request.range;
      const { items, complete } = await range(request);
      const markers = items.map((item) => decode(item, collection)).filter((marker) => marker !== null);
      request.budget.debit({ items: markers.length });
      const last = items.at(-1);
      return { markers, resumeAfter: complete || !last ? undefined : sortKeyOf(index, last), complete };
    },
    async markersAtPlaces(collection, query, budget) {
      budget.debit({ calls: 1 });
      return readPlacePage(db, collection, query, call);
    },
    placeCounts: (collection, under, most) => readPlaceCounts(db, { scope: keys.scope(collection), under, most }, call),
    blocks,
    pages,
    block: (scope, parent) => blocks.one(scope, parent),
  };
}
