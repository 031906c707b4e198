import type { Zone } from '../model/zone.js';
import type { MapContext } from './context.js';
import { JsonText } from './json-text.js';

/** A zone's geometry as it goes into an answer. Throws UNAVAILABLE where it cannot be read. */
export async function zoneGeometry(
  { loaders }: MapContext,
  zone: Zone,
  _maxVertices: number | null | undefined,
): Promise<JsonText> {
  const { json } = await loaders.zoneGeometry(zone);
  loaders.countGeometry(json.length);
  return new JsonText(json);
}
