import { notFound } from '../errors.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Loaders } from './loaders.js';
import type { Collection } from '../model/collection.js';
import type { Limits } from '../model/limits.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { Turn } from '../scheduling/turns.js';

/** The limits that make up the budget of one field or page. */
export type MapLimits = Pick<Limits, 'maxFirst' | 'queryCalls' | 'itemsPerField'>;

/** The context for answering a map's queries; one per request. */
export interface MapContext {
  readonly loaders: Loaders;
  readonly keys: Keyspace;
  readonly limits: MapLimits;
  /** Await between steps of long work. */
  readonly turn: Turn;
  /** For work whose result other requests share: it continues when this one ends. */
  readonly scheduler: Scheduler;
}

/** The collection of this key. Throws NOT_FOUND if it does not exist. */
export async function requireCollection({ loaders, turn }: MapContext, key: string): Promise<Collection> {
  const collection = await loaders.collections.get(key);
  if (!collection) throw notFound('collection', key);
  // All fields that wait for the same collection resume at once, and each makes its plan next.
  await turn();
  return collection;
}
