import type { Collection } from '../../model/collection.js';
import type { ObjectStore } from '../../objects/object-store.js';
import type { Database } from '../database.js';
import { deleteReadItems } from '../request/conditional-delete.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { queryResponses } from '../table/query-responses.js';
import { dropGeometry, scopeOfObject } from './zone-geometry.js';
import { coverKeys } from './zone-item.js';
import { queryZones } from './zones.js';

const ZONES_AT_A_TIME = 100;
/** Leftovers of interrupted puts, in every object store. */
const HALF_WRITTEN = '.writing/';
/** Number of objects compared with items at a time. */
const OBJECTS_AT_A_TIME = 10_000;

/**
 * Removes all zones of a collection that is no longer written to, each after its covers and before its object. Whatever
 * an interruption leaves is found by a later run, or by a sweep in the case of objects. Items are removed only in the
 * incarnation that was read.
 */
export async function removeZones(database: Database, collection: Collection, call: Call): Promise<void> {
  let after: string | undefined;
  do {
    const some = { after, limit: ZONES_AT_A_TIME, consistent: true };
    const { items, zones, next } = await queryZones(database, collection, some, call);
    await deleteReadItems(
      database,
      zones.flatMap((zone) => coverKeys(database.keys, zone)),
      call,
    );
    await deleteReadItems(database, items, call);
    for (const { geometry } of zones) await dropGeometry(database.geometry, geometry);
    after = next;
  } while (after !== undefined);
}

/** Names of the objects for a collection's zones. */
async function objectsIn(database: Database, scope: string, call: Call): Promise<Set<string>> {
  const names = new Set<string>();
  const pk = database.keys.zonesPartition(scope);
  const attributes = ['geometry.object'];
  const request = rangeRequest(database, { index: 'entities', pk, consistent: true, attributes });
  for await (const items of queryResponses(database, request, call)) {
    for (const { geometry } of items) {
      const { object } = (geometry ?? {}) as { readonly object?: unknown };
      if (typeof object === 'string') names.add(object);
    }
  }
  return names;
}

/** The result of a sweep: the number of this table's objects checked, and the number removed. */
export interface Swept {
  readonly objects: number;
  readonly removed: number;
}

/**
 * Removes this table's objects that no zone refers to and that are older than `before`, which must be longer ago than
 * any request lasts, because a request may be about to write the item for its object. Items are read after the objects
 * are listed, by Query, one collection after the other. Objects left by interrupted puts are also removed.
 */
export async function sweepObjects(database: Database, objects: ObjectStore, before: Date, call: Call): Promise<Swept> {
  let looked = 0;
  let removed = 0;
  let byScope = new Map<string, string[]>();
  let collected = 0;
  const compare = async () => {
    for (const [scope, names] of byScope) {
      const used = await objectsIn(database, scope, call);
      for (const name of names) {
        if (used.has(name)) continue;
        await objects.remove(name);
        removed += 1;
      }
    }
    byScope = new Map();
    collected = 0;
  };
  for await (const { name, modifiedAt } of objects.list()) {
    call.signal?.throwIfAborted();
    const scope = scopeOfObject(database.tables, name);
    if (scope !== undefined) looked += 1;
    if (modifiedAt >= before) continue;
    if (name.startsWith(HALF_WRITTEN)) await objects.remove(name);
    if (scope === undefined) continue;
    const names = byScope.get(scope) ?? [];
    byScope.set(scope, names);
    names.push(name);
    collected += 1;
    if (collected >= OBJECTS_AT_A_TIME) await compare();
  }
  await compare();
  return { objects: looked, removed };
}
