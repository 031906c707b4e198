import type { Key } from '../keys/document-id.js';
import type { NodeId } from '../keys/ids.js';
import type { Keyspace } from '../keys/keyspace.js';
import { isCollectionKey } from '../keys/validate.js';
import type { Collection } from '../model/collection.js';
import { seen } from '../model/grant.js';
import type { Marker, Zone } from '../model/marker.js';
import type { Call, Item } from '../store/database.js';
import { markerFromBase } from '../store/marker/marker-item.js';
import { readUuid } from '../store/marker/marker-keys.js';
import { hasSource } from '../store/source/source-mapping.js';
import { queryResponse } from '../store/table/query-responses.js';
import { zoneFromItem } from '../store/zone/zone-item.js';
import type { CollectionLoader } from './collection-loader.js';
import { ifPossible } from './impossible-keys.js';
import type { MarkerLoader } from './marker-loader.js';

/** Loads entities by name for one request; null for those that do not exist. Those requested in one tick are read in one batch. */
export class EntityLoader {
  readonly #collections: CollectionLoader;
  readonly #markers: Pick<MarkerLoader, 'load'>;
  readonly #call: Call;

  constructor(call: Call, collections: CollectionLoader, markers: Pick<MarkerLoader, 'load'>) {
    this.#collections = collections;
    this.#markers = markers;
    this.#call = call;
  }

  /** A marker as of its last write; null if it or its collection does not exist. */
  marker(collectionKey: string, key: string): Promise<Marker | null> {
    const ofSource = (collection: Collection) => this.#markers.load({ collection, key });
    const asSeen = (keys: Keyspace, item: Item, collection: Collection) =>
      seen(collection, markerFromBase(keys, item, collection.key) ?? null);
    return this.#load(collectionKey, (scope) => this.#call.db.keys.marker(scope, key), asSeen, ofSource);
  }

  /** A zone as of its last write; null if it or its collection does not exist. */
  zone(collectionKey: string, key: string): Promise<Zone | null> {
    return this.#load(
      collectionKey,
      (scope) => this.#call.db.keys.zone(scope, key),
      (keys, item, collection) => zoneFromItem(keys, item, collection.key) ?? null,
      async () => null,
    );
  }

  /** The object with an ID; a marker or zone as of its last write. */
  async node(name: NodeId): Promise<Collection | Marker | Zone | null> {
    if (name.type === 'collection') return this.#collections.get(name.key, this.#collections.current);
    return name.type === 'zone' ? this.zone(name.collection, name.key) : this.marker(name.collection, name.key);
  }

  /** A marker by its global ID; a marker created just now may not be found yet. */
  async markerByGlobalId(text: string): Promise<Marker | null> {
    const globalId = readUuid(text);
    const found = globalId && (await findGlobalId(this.#call, globalId));
    const name = found && this.#call.db.keys.parseMarker(found);
    if (!name) return null;
    const collection = await this.#collections.ofScope(name.scope);
    const marker = collection === undefined ? null : await this.marker(collection, name.key);
    // The index may still contain a deleted marker.
    return marker?.globalId === globalId ? marker : null;
  }

  /** The object under a collection's key, as of its last write. */
  async #load<T>(
    collectionKey: string,
    make: (scope: string) => Key,
    parse: (keys: Keyspace, item: Item, collection: Collection) => T | null,
    ofSource: (collection: Collection) => Promise<T | null>,
  ): Promise<T | null> {
    const { keys } = this.#call.db;
    const { current } = this.#collections;
    async function load(scope: string): Promise<Item | undefined> {
      const key = ifPossible(() => make(scope));
      return key && current.load(key);
    }
    // With readable keys, the collection's key is its scope, so both are read together.
    const isScope =
      keys.style === 'readable' && isCollectionKey(collectionKey) && this.#collections.allows(collectionKey, 'read');
    const early = isScope ? load(collectionKey) : undefined;
    const [collection] = await Promise.all([this.#collections.get(collectionKey, current), early]);
    if (!collection) return null;
    if (hasSource(collection)) return ofSource(collection);
    const item = await (early ?? load(keys.scope(collection)));
    return item === undefined ? null : parse(keys, item, collection);
  }
}

/** The key of the item with a global ID, eventually consistent; undefined if there is none. */
async function findGlobalId(call: Call, globalId: string): Promise<Key | undefined> {
  const { Items: [item] = [] } = await queryResponse(call, { index: 'global', pk: globalId, limit: 1 });
  return item && { pk: String(item['pk']), sk: String(item['sk']) };
}
