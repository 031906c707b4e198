import DataLoader from 'dataloader';

import { limitExceeded } from '../errors.js';
import type { Key } from '../keys/document-id.js';
import { isCollectionKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import type { Action, Grant, Grants } from '../model/grant.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import { collectionOfCode, listCollections, type CollectionList } from '../store/collection/collections.js';
import type { Call, Item } from '../store/database.js';
import { batchGet } from '../store/request/batches.js';
import type { CollectionCache } from './collection-cache.js';
import { remembered } from './remembered.js';

/** Items by key, undefined for those that do not exist: those of one tick are read in one batch. */
export type ItemLoader = DataLoader<Key, Item | undefined, string>;

const LISTED_AT_ONCE = 100;

export interface CollectionsWanted {
  readonly first: number;
  readonly after: string | undefined;
}

/**
 * Reads collections for one request, each once, and any item of their table. One that its principal may not read does not
 * exist for it, and nothing is read of it.
 */
export class CollectionLoader {
  readonly #cache: CollectionCache;
  readonly #call: Call;
  readonly #grants: Grants | undefined;
  /** Items as they were a moment ago, and as of their last write. */
  readonly lagging = this.#itemLoader(false);
  readonly current = this.#itemLoader(true);
  readonly #lists = new DataLoader<CollectionsWanted, CollectionList, string>(
    (wanted) => Promise.all(wanted.map((one) => listCollections(this.#call, one))),
    {
      cacheKeyFn: ({ first, after = '' }) => `${first} ${after}`,
      batchScheduleFn: (step) => this.#call.db.scheduler.afterTurns(step),
    },
  );
  readonly #known = new Map<string, Promise<Collection | null>>();
  readonly #views = new Map<string, Collection>();
  readonly #codes = new Map<string, Promise<string | undefined>>();

  /** `grants`: what the principal may do; undefined for everything. */
  constructor(call: Call, cache: CollectionCache, grants?: Grants) {
    this.#cache = cache;
    this.#call = call;
    this.#grants = grants;
  }

  /** A collection by key, null if there is none; up to two seconds old, whichever items it is read from. */
  async get(key: string, items = this.lagging, action: Action = 'read'): Promise<Collection | null> {
    const grant = this.#grants?.grant(action, key);
    if (this.#grants !== undefined && grant === undefined) return null;
    const found = await remembered(this.#known, key, () => this.#read(key, items));
    return found && this.#view(found, action, grant);
  }

  /** Whether the principal may do this with the collection of a key, which may not exist. */
  allows(key: string, action: Action): boolean {
    return this.#grants === undefined || this.#grants.grant(action, key) !== undefined;
  }

  /** Some of all collections, by key. */
  async page({ first, after }: CollectionsWanted): Promise<CollectionList> {
    const collections: Collection[] = [];
    // Thousands may be unknown to the principal: they are not read one by one.
    const atOnce = this.#grants === undefined ? first : Math.max(first, LISTED_AT_ONCE);
    for (let from = after; ;) {
      const list = await this.#lists.load({ first: atOnce, after: from });
      for (const collection of list.collections) {
        if (!this.#known.has(collection.key)) this.#known.set(collection.key, Promise.resolve(collection));
        if (this.allows(collection.key, 'read')) collections.push(this.granted(collection, 'read'));
      }
      // One more than wanted, as the next ones may be unknown to the principal.
      const isEnough = collections.length > first || (this.#grants === undefined && list.more);
      if (isEnough || !list.more) return { collections: collections.slice(0, first), more: isEnough };
      from = list.collections.at(-1)?.key;
    }
  }

  /**
   * The collections that the principal may read; undefined if it may read all of them whole. Throws LIMIT_EXCEEDED naming
   * `field` if there are more than `most`, of which only those with certain beginnings of keys are read.
   */
  async readable(field: string, most: number): Promise<readonly Collection[] | undefined> {
    const patterns = this.#grants?.readable;
    if (patterns === undefined) return undefined;
    const found = new Map<string, Collection>();
    const check = (count: number) => {
      if (count > most) throw limitExceeded(field, `more than ${most} collections`, most, 'name those that matter');
    };
    check(patterns.length);
    const beginnings = patterns.map((pattern) => pattern.replace('*', ''));
    for (const one of await Promise.all(beginnings.map((key) => this.get(key)))) if (one) found.set(one.key, one);
    for (const [index, beginning] of beginnings.entries()) {
      if (!patterns[index]?.endsWith('*') || (beginning !== '' && !isCollectionKey(beginning))) continue;
      for (let after = beginning === '' ? undefined : beginning, more = true; more;) {
        const list = await this.#lists.load({ first: LISTED_AT_ONCE, after });
        const within = list.collections.filter(({ key }) => key.startsWith(beginning));
        for (const one of within) if (this.allows(one.key, 'read')) found.set(one.key, this.granted(one, 'read'));
        check(found.size);
        more = list.more && within.length === list.collections.length;
        after = within.at(-1)?.key;
      }
    }
    return [...found.values()];
  }

  /** A collection as far as the principal may do this with it. */
  granted(collection: Collection, action: Action): Collection {
    return this.#view(collection, action, this.#grants?.grant(action, collection.key));
  }

  #view(collection: Collection, action: Action, grant: Grant | undefined): Collection {
    // The same object each time, by which reads are joined.
    return grant === undefined
      ? collection
      : remembered(this.#views, `${action} ${collection.key}`, () => ({ ...collection, grant }));
  }

  /** The key of the collection with this scope; undefined if there is none. */
  ofScope(scope: string): Promise<string | undefined> {
    const isKey = this.#call.db.keys.style === 'readable';
    return remembered(this.#codes, scope, async () => (isKey ? scope : collectionOfCode(this.#call, scope)));
  }

  /** Takes a collection as this server has written it just now; null if it was deleted. */
  wrote(key: string, collection: Collection | null): void {
    this.#known.delete(key);
    this.#views.clear();
    this.#lists.clearAll();
    this.#cache.set(key, collection);
    for (const items of [this.lagging, this.current]) items.clear(this.#call.db.keys.collection(key));
  }

  #itemLoader(consistent: boolean): ItemLoader {
    return new DataLoader((wanted) => batchGet(this.#call, this.#call.db.tables.entities, wanted, { consistent }), {
      cacheKeyFn: (key) => this.#call.db.keys.documentId(key),
      batchScheduleFn: (step) => this.#call.db.scheduler.afterTurns(step),
    });
  }

  async #read(key: string, items: ItemLoader): Promise<Collection | null> {
    const cached = this.#cache.get(key);
    if (cached !== undefined || !isCollectionKey(key)) return cached ?? null;
    const began = this.#cache.now();
    const item = await items.load(this.#call.db.keys.collection(key));
    const collection = item && collectionFromItem(this.#call.db.keys, item);
    if (collection) this.#cache.set(key, collection, began);
    return collection ?? null;
  }
}
