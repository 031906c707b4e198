import { systemClock } from '../clock.js';
import type { Bounds } from '../geo/bounds.js';
import { cellBounds, isGeohash } from '../geo/geohash.js';
import type { HotKey, HotKeys, Metrics } from '../http/metrics.js';
import { processMetrics } from '../http/process-metrics.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { PARTITION_LIMITS } from '../model/dynamodb-limits.js';
import { spreadOf } from '../model/spread.js';
import { collectionOfCode, getCollections } from '../store/collection/collections.js';
import { beginSpread } from '../store/collection/spread.js';
import { ConsumptionSampler } from '../store/consumption/sampler.js';
import { newCall, type Database } from '../store/database.js';
import type { Backend } from './backend.js';

const SHOWN = 10;
const WARN_EVERY_MS = 60_000;
/** Of what one partition key can serve. */
const NEAR = 0.8;

/** The backend with a database whose consumption is sampled from now on. */
export function sampled<T extends Backend>(
  backend: T,
): T & { readonly database: Database & { readonly consumption: ConsumptionSampler } } {
  const { keys, tables } = backend.database;
  // Keys of others' tables may look like ours.
  const scopeOf = (table: string, index: string | null, pk: string) =>
    table.startsWith(tables.entities) ? keys.namePartition(index, pk)?.parts['scope'] : undefined;
  const consumption = new ConsumptionSampler(() => systemClock.now(), scopeOf);
  return { ...backend, database: { ...backend.database, consumption } };
}

/** The write units a second of a partition key of a table (index null) or an index. */
export interface HotPartition {
  readonly index: string | null;
  readonly key: string;
  readonly writeUnits: number;
}

/** What a partition key names, e.g. `marker prefix u3 of collection cities in index geoA`; the key itself if it is not ours. */
export function namesOf(keys: Keyspace, index: string | null, key: string): string {
  const named = keys.namePartition(index, key);
  if (named === undefined) return key;
  const { scope, ...parts } = named.parts;
  const words = named.entity.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const values = Object.entries(parts)
    .map(([name, value]) => [name, [value].flat().join(' / ')])
    .filter(([, value]) => value !== '')
    .map((pair) => pair.join(' '));
  const what = [words, values.join(', ')].filter((text) => text !== '').join(' ');
  return [what, scope && `of collection ${String(scope)}`, index && `in index ${index}`].filter(Boolean).join(' ');
}

/** The area of a key's geohash prefix; null if it has none, or names the whole world. */
export function boundsOf(keys: Keyspace, index: string | null, key: string): Bounds | null {
  const { prefix, partition } = keys.namePartition(index, key)?.parts ?? {};
  const geohash = prefix ?? partition;
  return typeof geohash === 'string' && isGeohash(geohash) ? cellBounds(geohash) : null;
}

/** What helps against a hot key; undefined if nothing does but DynamoDB's own splits. */
function remedyFor(keys: Keyspace, { index, key, writeUnits }: HotKey): string | undefined {
  const entity = keys.namePartition(index, key)?.entity;
  if (index?.startsWith('geo') === true)
    return '`cellport hot --spread` spreads its writes; `cellport advise` compares prefixLength and writeShards';
  if (entity === 'marker' && writeUnits > 0) return 'readingsBucket spreads the readings of a marker';
  if (entity === 'cell' || entity?.startsWith('page') === true) return 'a larger CELLPORT_CACHE_MB saves reads';
  return undefined;
}

const rounded = (units: number) => Math.round(units).toLocaleString('en');

/** Logs one warning if a key is near what one partition key can serve; it names the hottest such key. */
export function warnOfHotKeys({ keys: hot }: HotKeys, keys: Keyspace, log: Log): void {
  const loadOf = ({ readUnits, writeUnits }: HotKey) =>
    Math.max(readUnits / PARTITION_LIMITS.readUnits, writeUnits / PARTITION_LIMITS.writeUnits);
  const near = hot.filter((one) => loadOf(one) >= NEAR).toSorted((a, b) => loadOf(b) - loadOf(a));
  const [hottest, ...others] = near;
  if (hottest === undefined) return;
  const { table, index, key, readUnits, writeUnits } = hottest;
  const remedy = remedyFor(keys, hottest);
  log.warn(
    { table, index, key, readUnits: Math.round(readUnits), writeUnits: Math.round(writeUnits), others: others.length },
    `Hot partition key: ${namesOf(keys, index, key)} takes ${rounded(readUnits)} of ${rounded(PARTITION_LIMITS.readUnits)} read ` +
      `and ${rounded(writeUnits)} of ${rounded(PARTITION_LIMITS.writeUnits)} write units a second, beyond which DynamoDB ` +
      `throttles it until it has split it${remedy === undefined ? '' : `; ${remedy}`}`,
  );
}

/** The metrics of this process and of its sampled database. */
export function metricsOf(consumption: ConsumptionSampler, keys: Keyspace) {
  const registry = processMetrics(consumption);
  return {
    registry: () => registry,
    hotKeys: (): HotKeys => {
      const report = consumption.report(SHOWN);
      const named = report.keys.map((hot) => {
        const { index, key } = hot;
        return { ...hot, names: namesOf(keys, index, key), bounds: boundsOf(keys, index, key) };
      });
      return { ...report, keys: named };
    },
  };
}

/** Looks for hot keys once a minute, and passes them on; returns the function that stops it. */
export function watchHotKeys(
  metrics: Metrics,
  keys: Keyspace,
  log: Log,
  onHotKeys: ((hot: readonly HotKey[]) => Promise<void>) | undefined,
): () => void {
  const look = async () => {
    const hot = await metrics.hotKeys();
    warnOfHotKeys(hot, keys, log);
    await onHotKeys?.(hot.keys);
  };
  const watch = setInterval(() => {
    look().catch((err: unknown) => log.warn({ err }, 'Cannot look after hot keys; retrying in a minute'));
  }, WARN_EVERY_MS).unref();
  return () => clearInterval(watch);
}

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
  const call = newCall(database);
  for (const { index, key: pk, writeUnits } of hot) {
    if (writeUnits < threshold || (index !== 'geoA' && index !== 'geoB')) continue;
    const { entity, parts } = keys.namePartition(index, pk) ?? {};
    const { scope, prefix } = parts ?? {};
    if (entity !== 'marker' || typeof scope !== 'string' || typeof prefix !== 'string') continue;
    const key = keys.style === 'readable' ? scope : await collectionOfCode(call, scope);
    const [collection] = key === undefined ? [] : await getCollections(call, [key], { consistent: true });
    const isInUse = collection && `geo${collection.geoSlot}` === index && collection.layoutChange === undefined;
    if (!isInUse || spreadOf(collection, prefix) !== undefined) continue;
    try {
      await beginSpread(call, collection.key, prefix);
      log.info({ collection: collection.key, prefix, writeUnits: Math.round(writeUnits) }, 'Spreading a hot prefix');
    } catch (err) {
      log.warn({ err, collection: collection.key, prefix }, 'Cannot spread a hot prefix');
    }
  }
}
