import { badInput } from '../../errors.js';
import { LEAST_VERTICES } from '../../geo/simplify.js';
import { MOST_ZONE_VERTICES } from '../../geo/zone-geometry.js';
import type { Loaders } from '../../loaders/loaders.js';
import type { Zone } from '../../model/zone.js';
import type { MapContext } from '../context.js';
import { readWhole } from '../page.js';

/** The coarsest tolerance in degrees: a pixel of a map on which the world is 36 px wide. */
const MOST_TOLERANCE = 10;

/** The requested detail of a geometry: at most one of the two, by default everything. */
export interface Detail {
  /** Maximum number of positions, at least 4. */
  readonly maxVertices?: number | null | undefined;
  /** Size of the smallest detail in degrees, more than 0. */
  readonly tolerance?: number | null | undefined;
}

type Load = (zone: Zone) => Promise<Buffer>;

/** How to load a zone's GeoJSON, from a client's arguments. Throws BAD_USER_INPUT. */
function readDetail(loaders: Loaders, { maxVertices, tolerance }: Detail): Load {
  if (tolerance != null) {
    if (maxVertices != null) throw badInput('tolerance', tolerance, 'omitted if maxVertices is given');
    if (!(tolerance >= 0 && tolerance <= MOST_TOLERANCE)) {
      throw badInput('tolerance', tolerance, `0 to ${MOST_TOLERANCE} degrees`);
    }
    if (tolerance > 0) return (zone) => loaders.coarseGeometry(zone, tolerance);
  }
  const most = maxVertices ?? Infinity;
  if (maxVertices != null) readWhole('maxVertices', maxVertices, LEAST_VERTICES, MOST_ZONE_VERTICES);
  return async (zone) => {
    const loaded = await loaders.zoneGeometry(zone);
    return zone.geometry.vertices <= most ? loaded.json : loaded.simplified(most);
  };
}

/**
 * The GeoJSON of a zone's geometry. Throws BAD_USER_INPUT for an invalid detail, UNAVAILABLE if the geometry cannot be
 * read.
 */
export async function zoneGeometry({ loaders }: MapContext, zone: Zone, detail: Detail): Promise<Buffer> {
  const json = await readDetail(loaders, detail)(zone);
  loaders.countGeometry(json.length);
  return json;
}
