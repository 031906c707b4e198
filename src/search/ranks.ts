import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import { itemOfImage } from '../store/request/wire.js';
import type { StreamRecord } from '../stream/change.js';
import { scopeOf } from './document.js';

export type RankList = readonly (readonly [scope: string, property: string | null])[];

/** By which property search ranks the markers of each collection. */
export class Ranks {
  readonly #keys: Keyspace;
  readonly #listCollections: () => Promise<readonly Collection[]>;
  #byScope = new Map<string, string | null>();

  /** `listCollections` returns all collections in use, strongly consistent. */
  constructor(keys: Keyspace, listCollections: () => Promise<readonly Collection[]>) {
    this.#keys = keys;
    this.#listCollections = listCollections;
  }

  get byScope(): ReadonlyMap<string, string | null> {
    return this.#byScope;
  }

  list(): RankList {
    return [...this.#byScope];
  }

  restore(list: RankList): void {
    this.#byScope = new Map(list);
  }

  /** Reads the ranks of all collections. Whether one that was known is ranked by another property now. */
  async read(): Promise<boolean> {
    const before = this.#byScope;
    const collections = await this.#listCollections();
    this.#byScope = new Map(collections.map((collection) => [this.#keys.scope(collection), collection.rankBy]));
    return [...this.#byScope].some(([scope, property]) => before.has(scope) && before.get(scope) !== property);
  }

  /**
   * Updates the ranking property of a collection from its record, or from the table if the record is outdated. Returns
   * whether a known collection is now ranked by another property.
   */
  async learn({ keys: named, after }: StreamRecord): Promise<boolean> {
    const keys = this.#keys;
    const { pk, sk } = itemOfImage(named);
    const key = { pk: String(pk), sk: String(sk) };
    const scope = scopeOf(keys, key);
    if (scope === undefined) return false;
    if (keys.parseCollection(key) === undefined) {
      if (after === undefined || this.#byScope.has(scope)) return false;
      const changed = await this.read();
      if (!this.#byScope.has(scope)) this.#byScope.set(scope, null);
      return changed;
    }
    const collection = after && collectionFromItem(keys, itemOfImage(after));
    if (!collection) return false;
    const name = keys.scope(collection);
    const known = this.#byScope.get(name);
    // Older records may be outdated.
    if (known !== undefined && known !== collection.rankBy) return this.read();
    this.#byScope.set(name, collection.rankBy);
    return false;
  }
}
