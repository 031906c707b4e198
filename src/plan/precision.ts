import { LONGEST_GEOHASH, lngBits } from '../geo/geohash.js';

/** The width of the world in px at zoom 0, as MapLibre counts zooms. */
const WORLD_PX = 512;

/** Cells are drawn at least this wide. Lengths differ by 4 or 8 times in width, so the widest is under 192 px. */
const NARROWEST_PX = 24;

/**
 * The length, 1 to 12, of the geohashes whose cells a map shows at a zoom: the finest that is at least 24 px wide. It is
 * under 192 px wide from about zoom -1 to 28.
 */
export function precisionForZoom(zoom: number): number {
  const world = WORLD_PX * 2 ** zoom;
  let precision = LONGEST_GEOHASH;
  while (precision > 1 && world / 2 ** lngBits(precision) < NARROWEST_PX) precision--;
  return precision;
}
