import DataLoader from 'dataloader';

import type { Key } from '../keys/document-id.js';
import { isCollectionKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import { type CollectionPage, collectionOfCode, listCollections } from '../store/collection/collections.js';
import type { Database, Item } from '../store/database.js';
import { batchGet } from '../store/request/batch-get.js';
import type { Call } from '../store/request/meter.js';
import { afterTurns } from '../turns.js';
import type { CollectionCache } from './collection-cache.js';
import { remembered } from './remembered.js';

/** Items by key, undefined for those that do not exist: those of one tick are read in one batch. */
type ItemLoader = DataLoader<Key, Item | undefined, string>;

interface WantedPage {
  readonly first: number;
  readonly after: string | undefined;
}

/** The collections of one request, each read once. */
export class CollectionLoader {
  readonly #db: Database;
  readonly #cache: CollectionCache;
  readonly #call: Call;
  readonly #known = new Map<string, Promise<Collection | null>>();
  readonly #codes = new Map<string, Promise<string | undefined>>();
  readonly #pages: DataLoader<WantedPage, CollectionPage, string>;
  /** Items as they were a moment ago, and as of their last write. */
  readonly lagging: ItemLoader;
  readonly current: ItemLoader;

  constructor(db: Database, cache: CollectionCache, call: Call) {
    this.#db = db;
    this.#cache = cache;
    this.#call = call;
    const itemLoader = (consistent: boolean): ItemLoader =>
      new DataLoader((wanted) => batchGet(db, db.tables.entities, wanted, call, { consistent }), {
        cacheKeyFn: (key) => db.keys.documentId(key),
        batchScheduleFn: afterTurns,
      });
    this.lagging = itemLoader(false);
    this.current = itemLoader(true);
    this.#pages = new DataLoader((wanted) => Promise.all(wanted.map((page) => listCollections(db, page, call))), {
      cacheKeyFn: ({ first, after = '' }) => `${first} ${after}`,
      batchScheduleFn: afterTurns,
    });
  }

  /** A collection by key, null if there is none; up to two seconds old, even if `current` is to read it. */
  get(key: string, items = this.lagging): Promise<Collection | null> {
    return remembered(this.#known, key, () => this.#read(key, items));
  }

  async #read(key: string, items: ItemLoader): Promise<Collection | null> {
    const cached = this.#cache.get(key);
    if (cached || !isCollectionKey(key)) return cached ?? null;
    const item = await items.load(this.#db.keys.collection(key));
    const collection = item && collectionFromItem(this.#db, item);
    if (collection) this.#cache.set(collection.key, collection);
    return collection ?? null;
  }

  /** A page of all collections, by key. */
  async page(wanted: WantedPage): Promise<CollectionPage> {
    const page = await this.#pages.load(wanted);
    for (const collection of page.collections) {
      if (!this.#known.has(collection.key)) this.#known.set(collection.key, Promise.resolve(collection));
    }
    return page;
  }

  /** The key of the collection with this scope; undefined if there is none. */
  ofScope(scope: string): Promise<string | undefined> {
    const isKey = this.#db.keys.style === 'readable';
    return remembered(this.#codes, scope, async () => (isKey ? scope : collectionOfCode(this.#db, scope, this.#call)));
  }

  /** Makes later requests read a collection again. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#pages.clearAll();
    this.#cache.delete(key);
    for (const items of [this.lagging, this.current]) items.clear(this.#db.keys.collection(key));
  }
}
