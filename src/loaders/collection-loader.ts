import DataLoader from 'dataloader';

import type { Key } from '../keys/document-id.js';
import { isCollectionKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import { type CollectionPage, collectionOfCode, listCollections } from '../store/collection/collections.js';
import type { Database, Item } from '../store/database.js';
import { batchGet } from '../store/request/batch-get.js';
import type { Call } from '../store/request/meter.js';
import type { CollectionCache } from './collection-cache.js';
import { remembered } from './remembered.js';

/** Items by key, undefined for those that do not exist: those of one tick are read in one batch. */
export type ItemLoader = DataLoader<Key, Item | undefined, string>;

export interface WantedPage {
  readonly first: number;
  readonly after: string | undefined;
}

/** Creates the reads of collections for one request, each read once, and of any item of their table. */
export function createCollectionLoader(db: Database, cache: CollectionCache, call: Call) {
  const { keys, tables, scheduler } = db;
  const itemLoader = (consistent: boolean): ItemLoader =>
    new DataLoader((wanted) => batchGet(db, tables.entities, wanted, call, { consistent }), {
      cacheKeyFn: (key) => keys.documentId(key),
      batchScheduleFn: scheduler.afterTurns,
    });
  const lagging = itemLoader(false);
  const current = itemLoader(true);
  const pages = new DataLoader<WantedPage, CollectionPage, string>(
    (wanted) => Promise.all(wanted.map((page) => listCollections(db, page, call))),
    { cacheKeyFn: ({ first, after = '' }) => `${first} ${after}`, batchScheduleFn: scheduler.afterTurns },
  );
  const known = new Map<string, Promise<Collection | null>>();
  const codes = new Map<string, Promise<string | undefined>>();

  async function read(key: string, items: ItemLoader): Promise<Collection | null> {
    const cached = cache.get(key);
    if (cached || !isCollectionKey(key)) return cached ?? null;
    const item = await items.load(keys.collection(key));
    const collection = item && collectionFromItem(db.keys, item);
    if (collection) cache.set(collection.key, collection);
    return collection ?? null;
  }

  return {
    /** Items as they were a moment ago, and as of their last write. */
    lagging,
    current,
    /** A collection by key, null if there is none; up to two seconds old, whichever items it is read from. */
    get(key: string, items = lagging): Promise<Collection | null> {
      return remembered(known, key, () => read(key, items));
    },
    /** A page of all collections, by key. */
    async page(wanted: WantedPage): Promise<CollectionPage> {
      const page = await pages.load(wanted);
      for (const collection of page.collections) {
        if (!known.has(collection.key)) known.set(collection.key, Promise.resolve(collection));
      }
      return page;
    },
    /** The key of the collection with this scope; undefined if there is none. */
    ofScope(scope: string): Promise<string | undefined> {
      const isKey = keys.style === 'readable';
      return remembered(codes, scope, async () => (isKey ? scope : collectionOfCode(db, scope, call)));
    },
    /** Makes later requests read a collection again. */
    forget(key: string): void {
      known.delete(key);
      pages.clearAll();
      cache.delete(key);
      for (const items of [lagging, current]) items.clear(keys.collection(key));
    },
  };
}

export type CollectionLoader = ReturnType<typeof createCollectionLoader>;
