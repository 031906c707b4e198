import pLimit from 'p-limit';

import type { PackedCluster } from '../geo/packed-cluster.js';
import type { AreaMemory } from '../loaders/area-memory.js';
import { BlockLoader } from '../loaders/block-loader.js';
import type { CellCache } from '../loaders/cell-cache.js';
import type { CollectionCache } from '../loaders/collection-cache.js';
import { CollectionLoader } from '../loaders/collection-loader.js';
import type { ConsumerTrust } from '../loaders/consumer-trust.js';
import { EntityLoader } from '../loaders/entity-loader.js';
import type { GeometryCache } from '../loaders/geometry-cache.js';
import { MarkerLoader } from '../loaders/marker-loader.js';
import { PlaceLoader } from '../loaders/place-loader.js';
import { RangeLoader, type ReadFigures } from '../loaders/range-loader.js';
import { SummaryLoader } from '../loaders/reading-summaries.js';
import { remembered } from '../loaders/remembered.js';
import { ZoneLoader } from '../loaders/zone-loader.js';
import type { Collection } from '../model/collection.js';
import type { Grants } from '../model/grant.js';
import type { Limits } from '../model/limits.js';
import type { RecentCells } from '../pages/recent-cells.js';
import type { Call, Database } from '../store/database.js';
import { queryResponse } from '../store/table/query-responses.js';
import { IndexLoader } from './from-index/index-loader.js';
import type { MarkerTexts } from './from-pages/marker-texts.js';
import { PageLoader, type PageServices } from './from-pages/page-loader.js';
import { RecentLoader } from './from-pages/recent-loader.js';

/** What the loaders of all requests of a process share. */
export interface LoaderServices {
  readonly db: Database;
  readonly cellCache: CellCache;
  readonly collectionCache: CollectionCache;
  readonly geometryCache: GeometryCache;
  /** Clusters by tile. */
  readonly keptClusters: AreaMemory<readonly PackedCluster[]>;
  readonly pageServices: PageServices;
  readonly readFigures: ReadFigures;
  readonly trust: ConsumerTrust;
  /** The same for the consumer of a source, by the scope of its collection. */
  readonly sourceTrust: (scope: string) => ConsumerTrust;
  readonly limits: Limits;
  readonly now: () => Date;
}

/** Maximum number of concurrent Query calls of one request. */
export const CONCURRENT_QUERIES = 16;

/** The reads of one request: those requested in one tick are made together, and nothing is read twice. */
export class Loaders {
  readonly blocks: BlockLoader;
  readonly collections: CollectionLoader;
  readonly entities: EntityLoader;
  readonly figures: ReadFigures;
  readonly traced: Call['traced'];
  readonly index: IndexLoader;
  readonly keptClusters: LoaderServices['keptClusters'];
  readonly markers: MarkerLoader;
  readonly markerTexts: MarkerTexts;
  readonly pages: PageLoader;
  readonly places: PlaceLoader;
  readonly recent: RecentLoader;
  readonly summaries: SummaryLoader;
  readonly zones: ZoneLoader;
  readonly #ranges: RangeLoader;

  /** `grants`: what the principal of the request may do; undefined for everything. */
  constructor(services: LoaderServices, call: Call, grants?: Grants) {
    const { db, cellCache, collectionCache, geometryCache, pageServices, trust, sourceTrust, limits, now } = services;
    this.keptClusters = services.keptClusters;
    this.figures = services.readFigures;
    this.markerTexts = pageServices.pageCache.texts;
    this.traced = call.traced;
    const slots = pLimit(CONCURRENT_QUERIES);
    const ranges = new RangeLoader(
      async (range, limit, start) => {
        const { Items: items = [], LastEvaluatedKey: next } = await queryResponse(call, { ...range, limit }, start);
        return { items, next };
      },
      slots,
      db.scheduler,
      this.figures,
    );
    this.#ranges = ranges;
    const recent = new RecentLoader({ cache: pageServices.recent, trust, sourceTrust, call });
    this.recent = recent;
    const seen = new Map<string, Promise<RecentCells>>();
    // The same for all blocks, so that a request sees them at one time.
    const recentIn = (collection: Collection) => remembered(seen, collection.key, () => recent.cells(collection));
    const requireFilled = (collection: Collection) => recent.requireFilled(collection);
    this.blocks = new BlockLoader({ cache: cellCache, call, ranges, recentIn, requireFilled });
    this.collections = new CollectionLoader(call, collectionCache, grants);
    this.index = new IndexLoader(db.keys, ranges);
    this.markers = new MarkerLoader(call, slots, limits, now);
    this.entities = new EntityLoader(call, this.collections, this.markers);
    this.pages = new PageLoader({ services: pageServices, recent, call, ranges, slots, blocks: this.blocks });
    this.places = new PlaceLoader(call, recentIn);
    this.summaries = new SummaryLoader({ call, slots, limits, now, trust, markers: this.markers });
    this.zones = new ZoneLoader(call, geometryCache, this.collections.lagging, slots);
  }

  /** Drops the markers that were read: those of a long search may not fit into memory. */
  forget(): void {
    for (const read of [this.#ranges, this.pages, this.markers]) read.forget();
  }
}
