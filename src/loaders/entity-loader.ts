import type { Key } from '../keys/document-id.js';
import type { NodeId } from '../keys/ids.js';
import { isCollectionKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import type { Zone } from '../model/zone.js';
import type { CollectionPage } from '../store/collection/collections.js';
import type { Database, Item } from '../store/database.js';
import { findGlobalId } from '../store/marker/global-index.js';
import { markerFromBase } from '../store/marker/marker-item.js';
import { readUuid } from '../store/marker/marker-keys.js';
import type { Call } from '../store/request/meter.js';
import { zoneFromItem } from '../store/zone/zone-item.js';
import type { CollectionCache } from './collection-cache.js';
import { CollectionLoader } from './collection-loader.js';
import { ifPossible } from './impossible-keys.js';

/** Entities by name, null for those that do not exist; those requested in one tick are read in one batch. */
export interface EntityLoaders {
  /** A collection by key, up to two seconds old. */
  collection(key: string): Promise<Collection | null>;
  /** A page of all collections, by key. */
  collectionPage(page: { readonly first: number; readonly after: string | undefined }): Promise<CollectionPage>;
  /** A marker as of its last write; null if it or its collection does not exist. */
  currentMarker(collection: string, key: string): Promise<Marker | null>;
  /** A zone as of its last write; null if it or its collection does not exist. */
  currentZone(collection: string, key: string): Promise<Zone | null>;
  /** The object with an ID; a marker or zone as of its last write. */
  node(name: NodeId): Promise<Collection | Marker | Zone | null>;
  /** The key of the collection with this scope; undefined if there is none. */
  collectionOfScope(scope: string): Promise<string | undefined>;
  /** A marker by its global ID; a marker created just now may not be found yet. */
  markerByGlobalId(globalId: string): Promise<Marker | null>;
  /** Makes later requests read a collection again. */
  forgetCollection(key: string): void;
}

/** Creates the loaders for one request. */
export function createEntityLoaders(db: Database, collectionCache: CollectionCache, call: Call): EntityLoaders {
  const { keys } = db;
  const collections = new CollectionLoader(db, collectionCache, call);
  const { lagging, current } = collections;

  /** The object under a collection's key, as of its last write. */
  async function currentIn<T>(
    collectionKey: string,
    key: string,
    make: (scope: string, key: string) => Key,
    parse: (item: Item, collection: Collection) => T | undefined,
  ): Promise<T | null> {
    // With readable keys, the collection's key is its scope, so both are read together.
    const early = keys.style === 'readable' ? ifPossible(() => make(collectionKey, key)) : undefined;
    const [collection, item] = await Promise.all([
      collections.get(collectionKey, current),
      early && isCollectionKey(collectionKey) ? current.load(early) : undefined,
    ]);
    if (!collection) return null;
    if (early) return (item && parse(item, collection)) ?? null;
    const late = ifPossible(() => make(keys.scope(collection), key));
    const found = late && (await current.load(late));
    return (found && parse(found, collection)) ?? null;
  }

  const currentMarker = (collection: string, key: string) =>
    currentIn(
      collection,
      key,
      (scope, own) => keys.marker(scope, own),
      (item, of) => markerFromBase(keys, item, of),
    );
  const currentZone = (collection: string, key: string) =>
    currentIn(
      collection,
      key,
      (scope, own) => keys.zone(scope, own),
      (item, of) => zoneFromItem(keys, item, of),
    );

  return {
    collectionOfScope: (scope) => collections.ofScope(scope),
    collection: (key) => collections.get(key, lagging),
    collectionPage: (wanted) => collections.page(wanted),
    currentMarker,
    currentZone,
    async node(name) {
      if (name.type === 'collection') return collections.get(name.key, current);
      return (name.type === 'zone' ? currentZone : currentMarker)(name.collection, name.key);
    },
    async markerByGlobalId(text) {
      const globalId = readUuid(text);
      const found = globalId && (await findGlobalId(db, globalId, call));
      const name = found && keys.parseMarker(found);
      if (!name) return null;
      const collection = await collections.ofScope(name.scope);
      const marker = collection === undefined ? null : await currentMarker(collection, name.key);
      // The index may still contain a deleted marker.
      return marker?.globalId === globalId ? marker : null;
    },
    forgetCollection: (key) => collections.forget(key),
  };
}
