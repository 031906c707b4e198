import { CellportError, limitExceeded } from '../../errors.js';
import type { Area, Bounds } from '../../geo/bounds.js';
import { type Point, canonicalLng } from '../../geo/point.js';
import { boundsMeet, shapeMeets } from '../../geo/zone-area.js';
import { coversOfPoint } from '../../geo/zone-cover.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { Collection } from '../../model/collection.js';
import type { Zone } from '../../model/zone.js';
import type { MapContext } from '../context.js';

const ADVICE = 'this position has more zones smaller than 5 km than can be read at once';

const boxContains = ({ west, south, east, north }: Bounds, { lng, lat }: Point) =>
  west <= lng && lng <= east && south <= lat && lat <= north;

/**
 * The zones of a collection that contain a position, edges included, in key order. Takes at most three Query calls (one
 * more for each MB of covers in one cell), one batch of the zones whose bounding boxes contain the position, and an
 * exact test. A line contains only positions on it. Throws UNAVAILABLE if the geometry of a candidate zone cannot be
 * read.
 */
export async function zonesAt(
  context: MapContext,
  collection: Collection,
  { lng, lat }: Point,
): Promise<readonly Zone[]> {
  const { loaders, keys, limits, turn } = context;
  const point = { lng: canonicalLng(lng), lat };
  const scope = keys.scope(collection);
  const lists = await Promise.all(
    coversOfPoint(point).map((cell) => loaders.zoneEntries(keys.zoneRange(scope, cell, cell), limits.itemsPerField)),
  );
  const near = new Set<string>();
  for (const entries of lists) {
    if (!entries)
      throw limitExceeded('zonesAt', 'more than can be read at once', `${limits.itemsPerField} zones`, ADVICE);
    for (const { key, box } of entries) if (boxContains(box, point)) near.add(key);
  }
  const zones = (await loaders.zones(collection, [...near].sort(compareBytes))).filter((zone) => zone !== null);
  // Concurrently, because large geometries are in an object store.
  const inside = await Promise.all(
    zones.map(async (zone) => {
      const shape = await (await loaders.zoneGeometry(zone)).shape;
      await turn();
      return shape.contains(point);
    }),
  );
  return zones.filter((_, index) => inside[index]);
}

/**
 * Whether a zone intersects an area. Its geometry is read only if its bounding box is partly inside the area; if that
 * fails, the zone is assumed to intersect it, and its field `geometry` reports the failure.
 */
export async function isZoneIn({ loaders, turn }: MapContext, zone: Zone, area: Area): Promise<boolean> {
  try {
    const byBounds = boundsMeet(zone.bounds, area);
    if (byBounds !== undefined) return byBounds;
    const shape = await (await loaders.zoneGeometry(zone)).shape;
    await turn();
    return shapeMeets(shape, area);
  } catch (error) {
    if (error instanceof CellportError && error.code === 'UNAVAILABLE') return true;
    throw error;
  }
}
