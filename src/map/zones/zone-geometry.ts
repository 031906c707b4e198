import { badInput } from '../../errors.js';
import { LEAST_VERTICES } from '../../geo/simplify.js';
import { MOST_ZONE_VERTICES } from '../../geo/zone-geometry.js';
import type { Zone } from '../../model/marker.js';
import type { MapContext } from '../../read/context.js';
import type { Loaders } from '../../read/loaders.js';
import { readWhole } from '../connection.js';

/** The coarsest tolerance in degrees: a pixel of a map on which the world is 36 px wide. */
const MOST_TOLERANCE = 10;

/** The requested detail of a geometry: at most one of the two, by default everything. */
export interface Detail {
  /** Maximum number of positions, at least 4. */
  readonly maxVertices?: number | null | undefined;
  /** Size of the smallest detail in degrees, more than 0. */
  readonly tolerance?: number | null | undefined;
}

/** A zone's GeoJSON as a client requests it. Throws BAD_USER_INPUT. */
async function load(loaders: Loaders, zone: Zone, { maxVertices, tolerance }: Detail): Promise<Buffer> {
  if (tolerance != null) {
    if (maxVertices != null) throw badInput('tolerance', tolerance, 'omitted if maxVertices is given');
    if (!(tolerance >= 0 && tolerance <= MOST_TOLERANCE)) {
      throw badInput('tolerance', tolerance, `0 to ${MOST_TOLERANCE} degrees`);
    }
    if (tolerance > 0) return loaders.zones.coarseGeometry(zone, tolerance);
  }
  const most = maxVertices ?? Infinity;
  if (maxVertices != null) readWhole('maxVertices', maxVertices, LEAST_VERTICES, MOST_ZONE_VERTICES);
  const loaded = await loaders.zones.geometry(zone);
  return zone.geometry.vertices <= most ? loaded.json : loaded.simplified(most);
}

/**
 * The GeoJSON of a zone's geometry. Throws BAD_USER_INPUT for an invalid detail, UNAVAILABLE if the geometry cannot be
 * read.
 */
export async function zoneGeometry({ loaders }: MapContext, zone: Zone, detail: Detail): Promise<Buffer> {
  const json = await load(loaders, zone, detail);
  loaders.zones.countGeometry(json.length);
  return json;
}
