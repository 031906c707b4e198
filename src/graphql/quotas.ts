import { limitExceeded } from '../errors.js';
import { blockName } from '../loaders/cell-cache.js';
import { markersIn } from '../map/collection.js';
import type { Collection } from '../model/collection.js';
import { QUOTA_ADVICE } from '../model/quotas.js';
import { getBlocks } from '../store/cell/blocks.js';
import type { ConditionalChange } from '../store/request/conditional-write.js';
import type { RequestContext } from './context.js';

/** What is stored of the number of markers of a collection: read at most every two seconds, and never while changes are followed. */
async function storedCount({ services, work, map }: RequestContext, collection: Collection) {
  const { db, cellCache, trust } = services;
  const scope = db.keys.scope(collection);
  // Before the count, which may have more.
  const asOf = await trust.asOf().catch(() => null);
  const name = blockName(scope, '');
  const token = cellCache.begin();
  const cached = cellCache.get(name);
  const [read] = cached ? [] : await getBlocks(db, scope, [''], work);
  const block = cached ?? (read && cellCache.put(name, read, token));
  const recent = await map.loaders.recent.cells(collection);
  return { stored: block ? markersIn(recent.over(block)) : 0, asOf: asOf ?? 0 };
}

type Created = ConditionalChange | { readonly written: readonly ConditionalChange[] };

/** Creates markers of a collection within the quota of the principal, see `Grant.admit`. Throws LIMIT_EXCEEDED. */
export async function createdWithin<T extends Created>(
  context: RequestContext,
  collection: Collection,
  create: (collection: Collection) => Promise<T>,
): Promise<T> {
  const { access, services } = context;
  const { key, grant } = collection;
  const scope = services.db.keys.scope(collection);
  const most = access?.quotas.markersPerCollection;
  let admitted = 0;
  let created = 0;
  const admit = async (wanted: number) => {
    if (most === undefined || wanted <= admitted) return;
    const { stored, asOf } = await storedCount(context, collection);
    const count = await services.markerCounts.admit(scope, stored, asOf, wanted - admitted, most);
    if (count > most) {
      // Who sees only some of the markers is not told how many there are.
      const reading = access?.grant('read', key);
      const value = reading && reading.rows === undefined ? count : `more than ${most}`;
      throw limitExceeded(`number of markers of collection ${key}`, value, most, QUOTA_ADVICE);
    }
    admitted = wanted;
  };
  try {
    const result = await create(grant ? { ...collection, grant: { ...grant, admit } } : collection);
    const made: Created = result;
    created = ('written' in made ? made.written : [made]).filter(({ before }) => before === undefined).length;
    return result;
  } finally {
    services.markerCounts.changed(scope, created - admitted);
  }
}
