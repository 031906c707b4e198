import { CellportError, limitExceeded } from '../../errors.js';
import type { Area, Bounds } from '../../geo/bounds.js';
import { canonicalLng, readPoint, type Point } from '../../geo/point.js';
import type { Shape } from '../../geo/polygon.js';
import { boundsMeet, relationToBox, shapeMeets } from '../../geo/zone-area.js';
import { coversOfPoint } from '../../geo/zone-cover.js';
import { shapeIsArea } from '../../geo/zone-geometry.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { PartitionRange } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import type { Zone } from '../../model/zone.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import type { MarkerFilterInput } from '../../read/filter.js';
import { countInRegion } from '../cells/count.js';
import { readConnection, type ConnectionArguments, type MarkerConnection } from '../connection.js';

const ADVICE = 'this position has more zones smaller than 5 km than can be read at once';

const boxContains = ({ west, south, east, north }: Bounds, { lng, lat }: Point) =>
  west <= lng && lng <= east && south <= lat && lat <= north;

/**
 * The keys, in order, of the zones with a cover in these ranges whose box is accepted; undefined if a range has more
 * covers than can be read at once.
 */
export async function keysOfCovers(
  { loaders, limits }: MapContext,
  ranges: readonly PartitionRange[],
  accept: (box: Bounds) => boolean,
): Promise<string[] | undefined> {
  const lists = await Promise.all(ranges.map((range) => loaders.zones.entries(range, limits.itemsPerField)));
  if (!lists.every((entries) => entries !== undefined)) return undefined;
  const accepted = lists.flat().filter(({ box }) => accept(box));
  return [...new Set(accepted.map(({ key }) => key))].sort(compareBytes);
}

/** The existing zones that are accepted, tested concurrently, because large geometries are in an object store. */
export async function acceptedZones(
  zones: readonly (Zone | null)[],
  accept: (zone: Zone) => Promise<boolean>,
): Promise<Zone[]> {
  const existing = zones.filter((zone) => zone !== null);
  const verdicts = await Promise.all(existing.map(accept));
  return existing.filter((_, index) => verdicts[index]);
}

async function shapeOf({ loaders, turn }: MapContext, zone: Zone): Promise<Shape> {
  const shape = await (await loaders.zones.geometry(zone)).shape;
  await turn();
  return shape;
}

/**
 * The zones of a collection that contain a position, edges included, in key order. Takes at most three Query calls (one
 * more for each MB of covers in one cell), one batch of the zones whose bounding boxes contain the position, and an
 * exact test. A line contains only positions on it. Throws BAD_USER_INPUT naming the invalid coordinate, and
 * UNAVAILABLE if the geometry of a candidate zone cannot be read.
 */
export async function zonesAt(context: MapContext, collection: Collection, asked: Point): Promise<readonly Zone[]> {
  const { loaders, keys, limits } = context;
  const { lng, lat } = readPoint('point', asked.lng, asked.lat);
  const point = { lng: canonicalLng(lng), lat };
  const scope = keys.scope(collection);
  const ranges = coversOfPoint(point).map((cell) => keys.zoneRange(scope, cell, cell));
  const near = await keysOfCovers(context, ranges, (box) => boxContains(box, point));
  if (!near) throw limitExceeded('zonesAt', 'more than can be read at once', `${limits.itemsPerField} zones`, ADVICE);
  const zones = await loaders.zones.load(collection, near);
  return acceptedZones(zones, async (zone) => (await shapeOf(context, zone)).contains(point));
}

/**
 * Whether a zone intersects an area. Its geometry is read only if its bounding box is partly inside the area; if that
 * fails, the zone is assumed to intersect it, and its field `geometry` reports the failure.
 */
export async function isZoneIn(context: MapContext, zone: Zone, area: Area): Promise<boolean> {
  try {
    return boundsMeet(zone.bounds, area) ?? shapeMeets(await shapeOf(context, zone), area);
  } catch (error) {
    if (error instanceof CellportError && error.code === 'UNAVAILABLE') return true;
    throw error;
  }
}

/**
 * A connection of the collection's markers inside a zone, edges included, that match the filter, in geohash order. A
 * line has none. Throws UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneMarkers(
  context: MapContext,
  zone: Zone,
  collectionKey: string,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  const shape = await loaded.shape;
  const of = ['zone', zone.collection, zone.key, zone.geometry.sha256];
  const cover = shapeIsArea(loaded.geometry) ? await loaded.cover : [];
  const accept = ({ position }: MapMarker) => shape.contains(position);
  return readConnection(context, { collection, of, cover, accept, filter }, input);
}

/**
 * The number of a collection's markers inside a zone, edges included; 0 for a line. Exact once the stream has been
 * read. Throws LIMIT_EXCEEDED, and UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneCount(context: MapContext, zone: Zone, collectionKey: string): Promise<number> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  if (!shapeIsArea(loaded.geometry)) return 0;
  const [shape, cover] = [await loaded.shape, await loaded.cover];
  const relationTo = (box: Bounds) => relationToBox(shape, box);
  const region = { area: shape.area, relationTo, contains: (point: Point) => shape.contains(point), cover };
  return countInRegion(context, collection, region, 'count');
}
