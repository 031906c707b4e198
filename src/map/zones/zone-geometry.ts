import { LEAST_VERTICES } from '../../geo/simplify.js';
import { MOST_ZONE_VERTICES } from '../../geo/zone-geometry.js';
import type { Zone } from '../../model/zone.js';
import type { MapContext } from '../context.js';
import { readWhole } from '../page.js';

/**
 * The GeoJSON of a zone's geometry, with at most `maxVertices` positions. Throws BAD_USER_INPUT for fewer
 * than 4, UNAVAILABLE if it cannot be read.
 */
export async function zoneGeometry(
  { loaders }: MapContext,
  zone: Zone,
  maxVertices: number | null | undefined,
): Promise<Buffer> {
  const most = maxVertices ?? undefined;
  if (most !== undefined) readWhole('maxVertices', most, LEAST_VERTICES, MOST_ZONE_VERTICES);
  const geometry = await loaders.zoneGeometry(zone);
  const whole = most === undefined || zone.geometry.vertices <= most;
  const json = whole ? geometry.json : await geometry.simplified(most);
  loaders.countGeometry(json.length);
  return json;
}
