import type { Log } from '../log.js';
import { spreadOf } from '../model/spread.js';
import { collectionOfCode, getCollections } from '../store/collection/collections.js';
import { beginSpread } from '../store/collection/spread.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import type { HotPartition } from './hot-keys.js';

/**
 * Begins to spread the prefixes among these partition keys that take at least `threshold` write units a second, unless
 * they are spread or their collection's layout is being changed.
 */
export async function spreadHotPrefixes(
  database: Database,
  hot: readonly HotPartition[],
  threshold: number,
  log: Log,
): Promise<void> {
  const { keys } = database;
  const call = newCall();
  for (const { index, key: pk, writeUnits } of hot) {
    if (writeUnits < threshold || (index !== 'geoA' && index !== 'geoB')) continue;
    const { entity, parts } = keys.namePartition(index, pk) ?? {};
    const { scope, prefix } = parts ?? {};
    if (entity !== 'marker' || typeof scope !== 'string' || typeof prefix !== 'string') continue;
    const key = keys.style === 'readable' ? scope : await collectionOfCode(database, scope, call);
    const [collection] = key === undefined ? [] : await getCollections(database, [key], call, { consistent: true });
    const isInUse = collection && `geo${collection.geoSlot}` === index && collection.layoutChange === undefined;
    if (!isInUse || spreadOf(collection, prefix) !== undefined) continue;
    try {
      await beginSpread(database, collection.key, prefix, call);
      log.info({ collection: collection.key, prefix, writeUnits: Math.round(writeUnits) }, 'Spreading a hot prefix');
    } catch (err) {
      log.warn({ err, collection: collection.key, prefix }, 'Cannot spread a hot prefix');
    }
  }
}
