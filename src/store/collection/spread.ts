import { badInput, CellportError, notFound } from '../../errors.js';
import { isGeohash } from '../../geo/geohash.js';
import type { Collection, SpreadPrefix } from '../../model/collection.js';
import { LAYOUT_LIMITS } from '../../model/limits.js';
import { spreadOf } from '../../model/spread.js';
import type { Call } from '../database.js';
import { changeCollection, requireGeoIndex } from './change-collection.js';

/** Each is found by comparing it with all, and stored in the collection's item. */
const MOST_PREFIXES = 64;
/** How many times as many partitions a spread prefix has. */
const FACTORS = [8, 4, 2];

/** The number of shards of a prefix once it is spread; undefined if there cannot be more. */
function shardsOf({ writeShards }: Collection): number | undefined {
  return FACTORS.map((factor) => factor * writeShards).find((shards) => shards <= LAYOUT_LIMITS.writeShards);
}

/** Replaces the spread prefixes of a collection. */
async function changeSpread(
  call: Call,
  key: string,
  decide: (collection: Collection, spread: readonly SpreadPrefix[]) => readonly SpreadPrefix[],
): Promise<Collection> {
  const spread = (now: Collection) => ({ spread: decide(now, now.spread ?? []) });
  return (await changeCollection(call, key, spread)).collection;
}

/**
 * Begins to spread a prefix of a collection over more partitions; no effect if it is being or has been spread.
 * Readers then read all of them, and `completeSpread` lets writers use them. Throws NOT_FOUND, BAD_USER_INPUT if the
 * prefix has another length than those of the collection, LIMIT_EXCEEDED, or CONFLICT while the layout is being changed.
 */
export function beginSpread(call: Call, key: string, prefix: string): Promise<Collection> {
  const decide = (collection: Collection, spread: readonly SpreadPrefix[]) => {
    const { geoSlot, prefixLength, layoutChange } = collection;
    requireGeoIndex(collection, 'so it has no prefixes to spread');
    if (prefix.length !== prefixLength || (prefix !== '' && !isGeohash(prefix))) {
      throw badInput('prefix', prefix, `a geohash of ${prefixLength} characters, as in the keys of collection ${key}`);
    }
    if (spreadOf(collection, prefix) !== undefined) return spread;
    if (layoutChange !== undefined) {
      const message = `the layout of collection ${key} is being changed; complete that or undo it first`;
      throw new CellportError('CONFLICT', message, { collection: key });
    }
    const shards = shardsOf(collection);
    if (shards === undefined || spread.length >= MOST_PREFIXES) {
      const limit = shards === undefined ? `${LAYOUT_LIMITS.writeShards} shards` : `${MOST_PREFIXES} spread prefixes`;
      const message = `collection ${key} already has the most that are possible: ${limit}`;
      throw new CellportError('LIMIT_EXCEEDED', message, { collection: key });
    }
    return [...spread, { geoSlot, prefix, shards, phase: 'GATHER' } as const];
  };
  return changeSpread(call, key, decide);
}

/** Lets writers spread some prefixes, of which every reader must know. */
export function completeSpread(
  call: Call,
  { key, createdAt }: Collection,
  known: (prefix: SpreadPrefix) => boolean,
): Promise<Collection> {
  const decide = (now: Collection, spread: readonly SpreadPrefix[]) => {
    if (now.createdAt !== createdAt) throw notFound('collection', key);
    return spread.map((each): SpreadPrefix => (known(each) ? { ...each, phase: 'SPREAD' } : each));
  };
  return changeSpread(call, key, decide);
}
