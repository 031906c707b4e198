import type { PartitionRange } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { Zone } from '../../model/zone.js';
import type { Database, Item } from '../database.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';
import { queryResponses } from '../table/query-responses.js';
import { zoneEntryOf, zoneFromItem, type ZoneEntry } from './zone-item.js';

/** The covers in a range of the geo index, from one Query per MB; undefined if there are more than `most`. */
export async function readZoneEntries(
  database: Database,
  range: PartitionRange,
  most: number,
  call: Call,
): Promise<ZoneEntry[] | undefined> {
  const entries: ZoneEntry[] = [];
  for await (const items of queryResponses(
    database,
    rangeRequest(database, { index: 'geoA', ...range }),
    call,
    most + 1,
  )) {
    entries.push(...items.flatMap((item) => zoneEntryOf(database.keys, item) ?? []));
  }
  return entries.length > most ? undefined : entries;
}

/** Some of a collection's zones in key order, from one Query; `next` is the key after which there may be more. */
export async function queryZones(
  database: Database,
  collection: Collection,
  { after, limit, consistent = false }: { after: string | undefined; limit: number; consistent?: boolean },
  call: Call,
): Promise<{ readonly items: readonly Item[]; readonly zones: readonly Zone[]; readonly next: string | undefined }> {
  const { keys } = database;
  const scope = keys.scope(collection);
  const behind = after === undefined ? undefined : keys.zone(scope, after).sk;
  const range = { index: 'entities', pk: keys.zonesPartition(scope), behind, limit, consistent } as const;
  const { Items = [], LastEvaluatedKey } = await send(database, 'query', rangeRequest(database, range), call);
  const zones = Items.flatMap((item) => zoneFromItem(keys, item, collection.key) ?? []);
  const last =
    LastEvaluatedKey && keys.parseZone({ pk: String(LastEvaluatedKey['pk']), sk: String(LastEvaluatedKey['sk']) });
  return { items: Items, zones, next: last?.key };
}
