import type { Keyspace } from '../../keys/keyspace.js';
import { markersOf, type Newest, type SourceMarker } from '../../sources/marker.js';
import type { Item } from '../database.js';
import { EXPIRY } from '../marker/marker-item.js';
import { valueBytes } from '../request/item-size.js';
import { mappingOf, type SourceCollection } from './source-mapping.js';

/** More than this is not drawn: a page would have too few markers. */
const MOST_DRAWN_BYTES = 8 * 1024;

/** What a source has of a marker, in the form of Cellport's own items, as far as maps draw it, or the reason why it is no marker; neither if it does not match. */
export interface Drawn {
  /** That of the marker; undefined if there is no valid one. */
  readonly key?: string | undefined;
  readonly newest?: Newest;
  readonly item?: Item;
  readonly fault?: string;
}

/** What maps draw of a marker, as in Cellport's own items; what does not fit a page is cut to its key and position. */
function drawnItem(keys: Keyspace, collection: SourceCollection, marker: SourceMarker): Item {
  const { position, name, category, place, properties, key, expiresAt } = marker;
  const fits = valueBytes({ name, category, properties }) <= MOST_DRAWN_BYTES;
  const { pk, sk } = keys.marker(keys.scope(collection), key);
  return {
    pk,
    sk,
    lng: position.lng,
    lat: position.lat,
    mv: 0,
    ...(fits && name !== null ? { name } : {}),
    ...(fits && category !== null ? { category } : {}),
    ...(place.length === 0 ? {} : { place }),
    m: fits ? properties : {},
    mc: fits && mappingOf(collection.source).details.length === 0,
    ...(expiresAt === undefined ? {} : { [EXPIRY]: expiresAt }),
  };
}

/**
 * What maps draw of an item, in the order of its entries. It depends on the item alone, so that what an
 * image has added is what it takes away: an item that has expired counts until it is deleted, and readers leave it out.
 */
export function drawnIn(keys: Keyspace, collection: SourceCollection, item: Item): readonly Drawn[] {
  return markersOf(mappingOf(collection.source), item, -Infinity).map((found) => {
    if (found.kind === 'other') return {};
    const { key, newest } = found;
    if (found.kind === 'rejected') return { key, newest, fault: `${found.reason}: ${found.message}` };
    return { key, newest, item: drawnItem(keys, collection, found) };
  });
}
