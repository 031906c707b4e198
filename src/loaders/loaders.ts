import type { Keyspace } from '../keys/keyspace.js';
import type { CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { Marker } from '../model/marker.js';
import type { BlockPlan } from '../plan/blocks.js';
import type { Database, Item } from '../store/database.js';
import type { Call } from '../store/meter.js';
import type { CellCache } from './cell-cache.js';
import type { CollectionCache } from './collection-cache.js';

/** What one caller gets of a range. */
export interface RangeAnswer {
  /** In the order of their sort keys; the first ones of the range where it is not complete. */
  readonly items: readonly Item[];
  readonly complete: boolean;
  /** Query calls whose pages held or may have held part of it. */
  readonly calls: number;
}

export interface MarkerName {
  readonly collection: Collection;
  readonly key: string;
}

/** Reads of one request: what is asked for in one tick is read together. */
export interface Loaders {
  collection(key: string): Promise<Collection | null>;
  /** The base item, in one BatchGetItem with others of the same tick. */
  marker(name: MarkerName): Promise<Marker | null>;
  range(range: KeyRange, limit?: number): Promise<RangeAnswer>;
  /** Cell blocks under a plan's ranges, those without markers left out; from the cache where it holds them. */
  blocks(scope: string, plan: BlockPlan): Promise<CellBlock[]>;
  /** One block by its parent, in one BatchGetItem with others of the same tick. */
  block(scope: string, parent: string): Promise<CellBlock>;
}

export interface LoadersOptions {
  readonly db: Database;
  readonly cellCache: CellCache;
  readonly collectionCache: CollectionCache;
  readonly call: Call;
  /** Most Query calls of this request under way at once. */
  readonly concurrency: number;
}

/** The loaders of one request. */
export function createLoaders(_options: LoadersOptions): Loaders & { readonly keys: Keyspace } {
  throw new Error('not built yet');
}
