import { notFound } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { Loaders } from './loaders.js';
import type { SearchContext } from './search.js';

/** The context for answering a map's queries; one per request. */
export interface MapContext extends SearchContext {
  readonly loaders: Loaders;
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
