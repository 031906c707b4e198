import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { boundsAround } from '../../geo/bounds.js';
import type { ZRange } from '../../geo/ranges.js';
import type { Collection } from '../../model/collection.js';
import { overlaps } from '../../pages/directory.js';
import type { OrderedMarker } from '../../pages/ordered-marker.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { unitsOf } from '../../model/read-cost.js';
import type { Database, Item } from '../../store/database.js';
import { findDirectoryPart, readDirectory } from '../../store/page/page-directory.js';
import {
  type PagesOf,
  type StoredPage,
  UnknownPageFormat,
  getPages,
  pageOfItem,
  queryPages,
} from '../../store/page/pages.js';
import { type Call, noteSource } from '../../store/request/meter.js';
import type { PageRead, RangeRead } from '../../store/request/read-log.js';
import { type Turn, eachInTurns } from '../../scheduling/turns.js';
import type { Budget } from '../../loaders/budget.js';
import type { FillToken } from '../../loaders/followed-cache.js';
import type { RangeLoader } from '../../loaders/range-loader.js';
import { remembered } from '../../loaders/remembered.js';
import { type PageSource, PagesGone, type PagesQuestion, markersOf, readPages } from './chain.js';
import type { DirectoryCache } from './directory-cache.js';
import { DirectoryReader, type DirectorySource, type KnownDirectory } from './directory-reader.js';
import type { OwnWrite, OwnWrites } from './own-writes.js';
import { type PageCache, pageName } from './page-cache.js';
import type { ConsumerTrust, TrustedPages } from '../../loaders/consumer-trust.js';

/** Number of markers that can be decoded for the cost of one index item. */
export const MARKERS_AN_ITEM = 5;

/** State for reading pages that all requests of a process share. */
export interface PageServices {
  readonly trust: Pick<ConsumerTrust, 'pages' | 'summaries' | 'forget'>;
  readonly directories: DirectoryCache;
  readonly pageCache: PageCache;
  readonly ownWrites: OwnWrites;
}

export interface PageLoaderOptions extends PageServices {
  readonly db: Database;
  readonly call: Call;
  readonly range: RangeLoader;
  readonly slots: LimitFunction;
  /** The first characters of the geohashes of a collection's markers. */
  readonly partitions: (scope: string) => Promise<readonly string[]>;
}

/** Opens the pages of collections for one request. */
export class PageLoader {
  readonly #options: PageLoaderOptions;
  readonly #open = new Map<string, Promise<OpenPages | undefined>>();

  constructor(options: PageLoaderOptions) {
    this.#options = options;
  }

  /** The pages of a collection; undefined while the geo index must be used. */
  open(collection: Collection): Promise<OpenPages | undefined> {
    const { db, trust, call } = this.#options;
    return remembered(this.#open, collection.key, async () => {
      const trusted = await trust.pages();
      noteSource(call.meter, trusted ? 'PAGES' : 'INDEX');
      if (!trusted) return undefined;
      const { generation } = trusted;
      const of = { scope: db.keys.scope(collection), collection: collection.key, generation };
      return new OpenPages(this.#options, of, trusted);
    });
  }

  /** Drops the pages that were read. */
  forget(): void {
    this.#open.clear();
  }

  /** Reads a collection from its pages or, while they cannot be trusted or read, from the geo index. */
  async read<T>(
    collection: Collection,
    fromPages: (pages: OpenPages) => Promise<T>,
    fromIndex: () => Promise<T>,
  ): Promise<T> {
    const pages = await this.open(collection);
    if (!pages) return fromIndex();
    try {
      return await fromPages(pages);
    } catch (error) {
      if (!(error instanceof PagesGone || error instanceof UnknownPageFormat)) throw error;
      this.#giveUp(collection);
      return fromIndex();
    }
  }

  /** Makes the rest of the request use the geo index; later requests look for newer pages. */
  #giveUp(collection: Collection): void {
    const { trust, directories, db, call } = this.#options;
    noteSource(call.meter, 'INDEX');
    trust.forget();
    directories.drop(db.keys.scope(collection));
    this.#open.set(collection.key, Promise.resolve(undefined));
  }
}

/** The pages of one collection during one request. */
export class OpenPages {
  readonly #options: PageLoaderOptions;
  readonly of: PagesOf;
  readonly #trusted: TrustedPages;
  readonly #directory: DirectoryReader;
  readonly #decoded = new WeakMap<Item, StoredPage>();
  readonly #keys: DataLoader<string, StoredPage | undefined>;
  readonly #turn: Turn = () => this.#options.db.scheduler.takeTurn(this.#options.call.signal);

  constructor(options: PageLoaderOptions, of: PagesOf, trusted: TrustedPages) {
    this.#options = options;
    this.of = of;
    this.#trusted = trusted;
    const { db, call, slots } = options;
    const firstPage = async (partition: string) => (await this.#get([partition], true))[0];
    // Other requests wait for these reads, too: the end of this one must not abort them.
    const shared: Call = { ...call, signal: undefined };
    const source: DirectorySource = {
      at: (position) => slots(() => findDirectoryPart(db, of, position, false, shared)),
      between: (from, to, limit) => slots(() => readDirectory(db, of, { from, to, limit }, shared)),
    };
    this.#directory = new DirectoryReader({ ...options, source, firstPage }, of);
    this.#keys = new DataLoader((begins) => this.#get(begins, false), { batchScheduleFn: db.scheduler.afterTurns });
  }

  /** Recent writes of this process that pages may lack. */
  get ownWrites(): readonly OwnWrite[] {
    return this.#options.ownWrites.of(this.of.scope, this.#trusted.endAt);
  }

  /** The directory for sorted, disjoint ranges of Z-order at length 10, as far as it takes for so many markers. */
  directory(cover: readonly ZRange[], markers: number, budget: Budget): Promise<KnownDirectory> {
    return this.#directory.read(cover, markers, budget);
  }

  /** Makes planned reads of pages, for an answer within a cover if there is one. `again`: whether pages of earlier reads for the same answer were read again. */
  async read(
    { cover, ...question }: Pick<PagesQuestion, 'reads' | 'earlier'> & { readonly cover?: readonly ZRange[] },
    budget: Budget,
  ): Promise<{ readonly entries: readonly OrderedMarker[]; readonly again: boolean }> {
    const complete = 2 * this.#trusted.complete + 1;
    const others = [...this.#directory.others].filter((partition) => cover === undefined || overlaps(partition, cover));
    const answer = await readPages(this.#source(budget), { ...question, others, complete });
    // All fields that share a Query resume at the same moment, each with thousands of markers.
    await this.#turn();
    question.reads.forEach(({ partition }, index) => {
      const pages = answer.found[index] ?? [];
      this.#options.directories.learn({ ...this.of, partition }, pages);
      this.#options.call.pages?.push(...pages.map((page) => this.#explained(page)));
    });
    const entries = markersOf(answer);
    budget.debit({ items: Math.ceil(entries.length / MARKERS_AN_ITEM) });
    return { entries, again: answer.again.length > 0 };
  }

  #readByKey({ begin, bytes }: StoredPage, consistent: boolean): RangeRead {
    const { scope, generation } = this.of;
    const { pk } = this.#options.db.keys.page(scope, generation, begin);
    const readUnits = unitsOf(bytes) * (consistent ? 2 : 1);
    return { index: 'pages', pk, from: begin, to: begin, items: 1, readUnits, cached: false };
  }

  #explained({ begin, end, entries }: StoredPage): PageRead {
    const { scope, generation } = this.of;
    const { pk } = this.#options.db.keys.page(scope, generation, begin);
    const boxes = entries.map(({ marker: { position } }) => {
      return { west: position.lng, south: position.lat, east: position.lng, north: position.lat };
    });
    return {
      pk,
      begin,
      end: end ?? null,
      markers: entries.length,
      bounds: boxes.length === 0 ? null : boundsAround(boxes),
    };
  }

  #source(budget: Budget): PageSource {
    const { db, range, slots, call, pageCache } = this.#options;
    const { scope, generation } = this.of;
    const cached = (begin: string) => {
      const page = pageCache.get(pageName(this.of, begin));
      if (page) call.meter.cacheHits++;
      return page;
    };
    return {
      cached,
      byKeys: (begins, consistent) => {
        const known = consistent ? [] : begins.map(cached);
        const missing = begins.filter((_, index) => known[index] === undefined);
        budget.debit({ calls: Math.ceil(missing.length / REQUEST_LIMITS.batchGet) });
        if (consistent) return this.#get(begins, true);
        return Promise.all(begins.map(async (begin, index) => known[index] ?? this.#keys.load(begin)));
      },
      between: async (from, to, consistent) => {
        if (consistent) {
          budget.debit({ calls: 1 });
          return slots(() => queryPages(db, this.of, { from, to, consistent }, call));
        }
        const token = pageCache.begin();
        const { pk } = db.keys.page(scope, generation, from);
        const { items } = await range({
          range: { index: 'derived', pk, from, to },
          limit: Infinity,
          budget: budget.upTo(Infinity),
        });
        const pages: StoredPage[] = [];
        await eachInTurns(items, this.#turn, (item) => pages.push(this.#keep(this.#decode(item), token)));
        return pages;
      },
    };
  }

  #decode(item: Item): StoredPage {
    return remembered(this.#decoded, item, () => pageOfItem(item, this.of.collection));
  }

  #keep(page: StoredPage, token: FillToken): StoredPage {
    return this.#options.pageCache.put(pageName(this.of, page.begin), page, token);
  }

  async #get(begins: readonly string[], consistent: boolean): Promise<(StoredPage | undefined)[]> {
    const { db, call, pageCache, slots } = this.#options;
    const token = pageCache.begin();
    const pages = await slots(() => getPages(db, this.of, begins, call, { consistent }));
    for (const page of pages) if (page) call.reads?.push(this.#readByKey(page, consistent));
    return pages.map((page) => page && this.#keep(page, token));
  }
}
