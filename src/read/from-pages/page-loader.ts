import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { CellportError } from '../../errors.js';
import { boundsAround } from '../../geo/bounds.js';
import type { ZRange } from '../../geo/geohash.js';
import type { Key } from '../../keys/document-id.js';
import type { BlockLoader } from '../../loaders/block-loader.js';
import type { Budget } from '../../loaders/budget.js';
import type { TrustedPages } from '../../loaders/consumer-trust.js';
import type { FillToken } from '../../loaders/followed-cache.js';
import type { RangeLoader } from '../../loaders/range-loader.js';
import { remembered } from '../../loaders/remembered.js';
import type { Collection } from '../../model/collection.js';
import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { unitsOf } from '../../model/read-cost.js';
import { overlaps } from '../../pages/directory.js';
import { MARKERS_AN_ITEM } from '../../pages/ordered-marker.js';
import type { PlannedRead } from '../../pages/plan-reads.js';
import type { RecentWrites } from '../../pages/recent-writes.js';
import { eachInTurns, type Turn } from '../../scheduling/turns.js';
import type { Call, Item } from '../../store/database.js';
import {
  findDirectoryPart,
  getPages,
  pageOfItem,
  queryPages,
  readDirectory,
  UnknownPageFormat,
  type PagesOf,
  type StoredPage,
} from '../../store/page/pages.js';
import { noteSource, type PageRead, type RangeRead } from '../../store/request/meter.js';
import { inSpan } from '../../tracing.js';
import type { SearchedPages } from '../search.js';
import { markersOf, PagesGone, readPages, type PageSource } from './chain.js';
import type { DirectoryCache } from './directory-cache.js';
import { DirectoryReader, type KnownDirectory } from './directory-reader.js';
import type { OwnWrites } from './own-writes.js';
import { pageName, type PageCache } from './page-cache.js';
import type { RecentCache } from './recent-cache.js';
import { notFilled, type RecentLoader } from './recent-loader.js';

/** State for reading pages that all requests of a process share. */
export interface PageServices {
  readonly directories: DirectoryCache;
  readonly pageCache: PageCache;
  readonly ownWrites: OwnWrites;
  readonly recent: RecentCache;
}

/** What a request reads pages with. */
export interface PageParts {
  readonly services: PageServices;
  readonly recent: RecentLoader;
  readonly call: Call;
  readonly ranges: RangeLoader;
  readonly slots: LimitFunction;
  readonly blocks: BlockLoader;
}

/** Opens the pages of collections for one request. */
export class PageLoader {
  readonly #parts: PageParts;
  readonly #open = new Map<string, Promise<OpenPages | undefined>>();

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  /**
   * The pages of a collection; undefined while the geo index must be used. Without an index, these are the last pages;
   * throws UNAVAILABLE if there have never been any.
   */
  open(collection: Collection): Promise<OpenPages | undefined> {
    const { call, recent } = this.#parts;
    return remembered(this.#open, collection.key, async () => {
      const last = collection.geoIndex ? undefined : await this.#lastPages(collection);
      const trusted = last ?? (await recent.trustIn(collection).pages());
      noteSource(call.meter, trusted ? 'PAGES' : 'INDEX', last?.asOf ? call.db.clock.wall() - last.asOf : undefined);
      if (!trusted) return undefined;
      const { generation } = trusted;
      const of = { scope: call.db.keys.scope(collection), collection: collection.key, generation };
      return new OpenPages(this.#parts, collection, of, trusted, await recent.writes(collection, trusted));
    });
  }

  async #lastPages(collection: Collection): Promise<TrustedPages> {
    const trusted = await this.#parts.recent.trustIn(collection).lastPages();
    if (trusted !== undefined) return trusted;
    const { key, source } = collection;
    if (source) throw notFilled(collection);
    const message = `collection ${key} has no geo index, and there are no pages of markers yet: a server must keep them (CELLPORT_CONSUMER), and a table of an earlier release needs \`cellport recount\` once`;
    throw new CellportError('UNAVAILABLE', message, { collection: key });
  }

  /**
   * Makes the rest of the request use the geo index, or newer pages if there is none, because pages are missing or have
   * an unknown format; later requests look for newer ones. Throws any other error.
   */
  giveUp(collection: Collection, error: unknown): void {
    if (!(error instanceof PagesGone || error instanceof UnknownPageFormat)) throw error;
    const { services, call, recent } = this.#parts;
    services.directories.drop(call.db.keys.scope(collection));
    recent.trustIn(collection).forget();
    if (!collection.geoIndex) {
      this.#open.delete(collection.key);
      return;
    }
    noteSource(call.meter, 'INDEX');
    this.#open.set(collection.key, Promise.resolve(undefined));
  }

  /** Drops the pages that were read. */
  forget(): void {
    this.#open.clear();
  }
}

/** The pages of one collection during one request. */
class OpenPages implements SearchedPages {
  readonly #parts: PageParts;
  readonly #of: PagesOf;
  readonly #trusted: TrustedPages;
  readonly #published: RecentWrites;
  readonly #directory: DirectoryReader;
  readonly #decoded = new WeakMap<Item, StoredPage>();
  readonly #keys = new DataLoader<string, StoredPage | undefined>((begins) => this.#get(begins, false), {
    batchScheduleFn: (step) => this.#parts.call.db.scheduler.afterTurns(step),
  });
  readonly #turn: Turn = () => this.#parts.call.db.scheduler.takeTurn(this.#parts.call.signal);

  constructor(parts: PageParts, collection: Collection, of: PagesOf, trusted: TrustedPages, published: RecentWrites) {
    this.#published = published;
    this.#parts = parts;
    this.#of = of;
    this.#trusted = trusted;
    const { services, call, slots, blocks } = parts;
    // Other requests wait for these reads, too: neither the end of this one nor its budget may stop them.
    const shared: Call = { ...call, signal: undefined, claim: undefined };
    const source = {
      at: (position: string) => slots(() => findDirectoryPart(shared, of, position, false)),
      between: (from: string, to: string, limit: number) => slots(() => readDirectory(shared, of, { from, to, limit })),
      firstPage: async (partition: string) => (await this.#get([partition], true))[0],
      // Markers that were only published are in no page yet.
      partitions: async () => [...(await blocks.stored(collection, '')).children.keys()],
    };
    this.#directory = new DirectoryReader(of, source, services.directories);
  }

  get traced() {
    return this.#parts.call.traced;
  }

  get recent(): RecentWrites {
    const { services, call } = this.#parts;
    const own = services.ownWrites.of(this.#of.scope, this.#trusted.endAt);
    return this.#published.including(own).alive(call.db.clock.wall());
  }

  keyOf(begin: string): Key {
    return this.#parts.call.db.keys.page(this.#of.scope, this.#of.generation, begin);
  }

  directory(cover: readonly ZRange[], markers: number, budget: Budget): Promise<KnownDirectory> {
    return this.#directory.read(cover, markers, budget);
  }

  async read(
    reads: readonly PlannedRead[],
    earlier: readonly PlannedRead[],
    budget: Budget,
    cover?: readonly ZRange[],
  ) {
    const { services, call } = this.#parts;
    const complete = 2 * this.#trusted.complete + 1;
    const others = [...this.#directory.others].filter((partition) => cover === undefined || overlaps(partition, cover));
    const answer = await readPages(this.#source(budget), reads, earlier, others, complete);
    // All fields that share a Query resume at the same moment, each with thousands of markers.
    await this.#turn();
    reads.forEach(({ partition }, index) => {
      const pages = answer.found[index] ?? [];
      services.directories.learn({ ...this.#of, partition }, pages);
      call.pages?.push(...pages.map((page) => this.#explained(page)));
    });
    const entries = markersOf(answer, call.db.clock.wall());
    budget.debit({ items: Math.ceil(entries.length / MARKERS_AN_ITEM) });
    return { entries, again: answer.again.length > 0, distinct: answer.distinct };
  }

  #readByKey({ begin, bytes }: StoredPage, consistent: boolean): RangeRead {
    const readUnits = unitsOf(bytes) * (consistent ? 2 : 1);
    return { index: 'pages', pk: this.keyOf(begin).pk, from: begin, to: begin, items: 1, readUnits, cached: false };
  }

  #explained({ begin, end, entries }: StoredPage): PageRead {
    const boxes = entries.map(({ marker: { position } }) => {
      return { west: position.lng, south: position.lat, east: position.lng, north: position.lat };
    });
    const bounds = boxes.length === 0 ? null : boundsAround(boxes);
    return { pk: this.keyOf(begin).pk, begin, end: end ?? null, markers: entries.length, bounds };
  }

  #source(budget: Budget): PageSource {
    const { services, ranges, slots, call } = this.#parts;
    const { pageCache } = services;
    const cached = (begin: string) => {
      const page = pageCache.find(this.#nameOf(begin), this.#of.collection);
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
          return slots(() => queryPages(call, this.#of, { from, to, consistent }));
        }
        const token = pageCache.begin();
        const range = { index: 'derived', pk: this.keyOf(from).pk, from, to } as const;
        const { items } = await ranges.load({ range, limit: Infinity, budget: budget.upTo(Infinity) });
        const pages: StoredPage[] = [];
        await inSpan(call.traced, 'cellport.decode', { 'cellport.pages': items.length }, () =>
          eachInTurns(items, this.#turn, (item) => pages.push(this.#keep(this.#decode(item), token))),
        );
        return pages;
      },
    };
  }

  #decode(item: Item): StoredPage {
    return remembered(this.#decoded, item, () => pageOfItem(item, this.#of.collection));
  }

  #keep(page: StoredPage, token: FillToken): StoredPage {
    return this.#parts.services.pageCache.keep(this.#nameOf(page.begin), page, token, this.#of.collection);
  }

  #nameOf(begin: string): string {
    return pageName(this.#of.scope, this.#of.generation, begin);
  }

  async #get(begins: readonly string[], consistent: boolean): Promise<(StoredPage | undefined)[]> {
    const { call, services, slots } = this.#parts;
    const token = services.pageCache.begin();
    const pages = await slots(() => getPages(call, this.#of, begins, { consistent }));
    for (const page of pages) if (page) call.reads?.push(this.#readByKey(page, consistent));
    return pages.map((page) => page && this.#keep(page, token));
  }
}
