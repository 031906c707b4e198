import { badInput, notFound } from '../errors.js';
import type { Bounds } from '../geo/bounds.js';
import type { Collection } from '../model/collection.js';
import { isCounted } from '../model/grant.js';
import { readInstant } from '../model/instant.js';
import { firstExpiry, type MapMarker, type Properties } from '../model/marker.js';
import { requireCollection, type MapContext } from '../read/context.js';
import type { MarkerFilterInput } from '../read/filter.js';
import { collectionBounds, collectionMarkers } from './collection.js';
import { readOn, type ConnectionArguments } from './connection.js';
import { drawnProperties, markerFeature, type PointFeature } from './features.js';
import { markerProperties, viewportMarkers } from './markers.js';
import { BBOX, readBbox } from './tiles/snapped-map.js';
import { readViewport } from './viewport.js';

/** The most items of a page. */
export const MOST_ITEMS = 10_000;

const WORLD: Bounds = { west: -180, south: -90, east: 180, north: 90 };

/** The bounding box of a collection; the world if it is empty, or if all of a principal's markers would have to be read. */
export const extentOf = async (context: MapContext, collection: Collection): Promise<Bounds> =>
  (isCounted(collection) ? await collectionBounds(context, collection) : null) ?? WORLD;

/** A collection and its bounding box. Throws NOT_FOUND. */
export async function readExtent(context: MapContext, key: string) {
  const collection = await requireCollection(context, key);
  return { collection, extent: await extentOf(context, collection) };
}

/** Some markers of a collection as Features, and the cursor of the next ones; null if there are none. */
export interface ItemsPage {
  readonly features: readonly PointFeature[];
  readonly next: string | null;
  /** As in `firstExpiry`. */
  readonly expiresAt: number;
}

export interface ItemsRequest {
  readonly collection: string;
  /** Four numbers as in `readBbox`, or six with heights, which markers do not have; undefined for everywhere. */
  readonly bbox: string | undefined;
  readonly filter: MarkerFilterInput | undefined;
  readonly first: number;
  readonly after: string | undefined;
}

/** A Feature whose ID is the marker's key, as its URL has it. */
const itemOf = (marker: MapMarker, properties: Properties): PointFeature => ({
  ...markerFeature(marker, properties),
  id: marker.key,
});

const BOX = `${BBOX}; or six, with a height after each latitude`;

/** The bounding box of a text that may have heights, which must be numbers. Throws BAD_USER_INPUT. */
function readBox(text: string): Bounds {
  const numbers = text.split(',');
  if (numbers.length !== 6) return readBbox(text, BOX);
  const pick = (...indexes: readonly number[]) => readBbox(indexes.map((index) => numbers[index]).join(','), BOX, text);
  // Read as if they were latitudes: the lower one is first, too.
  pick(0, 2, 3, 5);
  return pick(0, 1, 3, 4);
}

/** A page of a collection's markers, with the properties that maps draw. Throws BAD_USER_INPUT and NOT_FOUND. */
export async function readItems(
  context: MapContext,
  { collection: key, bbox, filter, first, after }: ItemsRequest,
  isLate: () => boolean,
): Promise<ItemsPage> {
  const bounds = bbox === undefined ? undefined : readBox(bbox);
  const wide = { ...context, limits: { ...context.limits, maxFirst: Math.max(MOST_ITEMS, context.limits.maxFirst) } };
  const collection = await requireCollection(context, key);
  const read = (input: ConnectionArguments) =>
    bounds === undefined
      ? collectionMarkers(wide, collection, input, filter)
      : viewportMarkers(wide, readViewport({ bounds, zoom: 0 }), key, input, filter);
  const forget = () => context.loaders.forget();
  const markers: MapMarker[] = [];
  let next: string | null = after ?? null;
  // Clients may take a page that is not full for the last one, although it has a next one.
  do {
    const { nodes, pageInfo } = await readOn({ first: first - markers.length, after: next }, read, isLate, forget);
    markers.push(...nodes);
    next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (next !== null && markers.length < first && !isLate());
  const { mapProperties } = collection;
  const features = markers.map((marker) => itemOf(marker, drawnProperties(marker, mapProperties)));
  return { features, next, expiresAt: firstExpiry(markers) };
}

/** A marker with all of its properties, and when it expires, as in `firstExpiry`. Throws NOT_FOUND. */
export async function readItem(context: MapContext, collection: string, key: string) {
  await requireCollection(context, collection);
  const marker = await context.loaders.entities.marker(collection, key);
  if (marker === null) throw notFound('item', key);
  return { feature: itemOf(marker, await markerProperties(context, marker)), expiresAt: firstExpiry([marker]) };
}

const DATETIME = 'an RFC 3339 instant, or an interval such as 2026-11-01T00:00:00Z/..';

/** Validates an instant or interval. Markers have no time, so all of them are in any. Throws BAD_USER_INPUT. */
export function checkDatetime(text: string): void {
  const ends = text.split('/');
  const instants = ends.map((end) =>
    ends.length === 2 && (end === '..' || end === '') ? null : readInstant('datetime', end, DATETIME),
  );
  const [from = null, to = null] = instants;
  if (ends.length > 2 || (from !== null && to !== null && from > to)) {
    throw badInput('datetime', text, DATETIME);
  }
}
