import { notFound } from '../errors.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Loaders } from '../loaders/loaders.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';

/** What one field or one page may take. */
export type MapLimits = Pick<Limits, 'maxFirst' | 'rangesPerPage' | 'itemsPerField'>;

/** What every question of a map is answered from: made once for a request. */
export interface MapContext {
  readonly loaders: Loaders;
  readonly keys: Keyspace;
  readonly limits: MapLimits;
  /** Whether the cells are known to be complete and close behind the markers, so that they may keep a plan from reading. */
  readonly countsTrusted: () => boolean;
}

/** The collection of this key. Throws NOT_FOUND if it does not exist. */
export async function requireCollection({ loaders }: MapContext, key: string): Promise<Collection> {
  const collection = await loaders.collection(key);
  if (!collection) throw notFound('collection', key);
  return collection;
}
