import { INDEXES } from '../../keys/indexes.js';
import type { SortRange } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { Place } from '../../model/place.js';
import type { Call, Item } from '../database.js';
import { queryResponse } from '../table/query-responses.js';
import { mapMarkerFromIndex } from './marker-item.js';

/** A range of one partition of the index of places. */
export interface PlaceQuery {
  readonly pk: string;
  /** Bounds of the sort keys, both included; the whole partition if omitted. */
  readonly range?: SortRange | undefined;
  /** The sort key of an entry after which the page begins; the entry may no longer exist. */
  readonly after?: string | undefined;
  /** Maximum number of items in the page. */
  readonly limit: number;
}

/** A marker as stored in the index of places. */
export interface MarkerAtPlace {
  /** Its sort key. */
  readonly position: string;
  readonly marker: MapMarker & { readonly place: Place };
}

/** Some markers in the index of places. */
export interface PlaceMarkers {
  /** Sorted by sort key. */
  readonly markers: readonly MarkerAtPlace[];
  /** The sort key after which there may be more. */
  readonly next: string | undefined;
}

/** Markers by place, from one Query. */
export async function queryPlaceMarkers(
  call: Call,
  collection: Collection,
  { pk, range, after, limit }: PlaceQuery,
): Promise<PlaceMarkers> {
  const { keys } = call.db;
  const { pk: partition, sk: sort } = INDEXES.place;
  const keyOf = (sortKey: string): Item => {
    const { key = '' } = keys.parsePlaceSort(sortKey) ?? {};
    return { ...keys.marker(keys.scope(collection), key), [partition]: pk, [sort]: sortKey };
  };
  const start = after === undefined ? undefined : keyOf(after);
  const { Items = [], LastEvaluatedKey } = await queryResponse(call, { index: 'place', pk, ...range, limit }, start);
  const markers = Items.flatMap((item): MarkerAtPlace[] => {
    const sortKey = String(item[sort]);
    const marker = mapMarkerFromIndex(keys, item, collection.key);
    const place = keys.parsePlace({ pk, sk: sortKey });
    return marker && place ? [{ position: sortKey, marker: { ...marker, place } }] : [];
  });
  return { markers, next: LastEvaluatedKey && String(LastEvaluatedKey[sort]) };
}
