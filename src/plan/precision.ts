import { lngBits, LONGEST_GEOHASH } from '../geo/geohash.js';
import { worldSize } from '../geo/mercator.js';

/**
 * Minimum width of a drawn cell. Widths of successive lengths differ by a factor of 4 or 8, so the maximum is under 192
 * px.
 */
const NARROWEST_PX = 24;

/** Clusters of the world are formed from finer cells: these have only 1,024 blocks, which stay in the cache. */
const CLUSTERED_PX = 12;
const FINER_UP_TO = 3;

/** The geohash length of the cells from which clusters are formed: coarser cells would show through as a grid. */
export function clusterPrecision(zoom: number): number {
  const finer = finestOf(zoom, CLUSTERED_PX);
  return Math.max(precisionForZoom(zoom), Math.min(finer, FINER_UP_TO));
}

/**
 * The geohash length, 1 to 12, of the cells that a map shows at a zoom: the finest that are at least 24 px wide. They
 * are under 192 px wide from about zoom -1 to 28.
 */
export const precisionForZoom = (zoom: number): number => finestOf(zoom, NARROWEST_PX);

/** The greatest geohash length whose cells are at least `px` wide. */
function finestOf(zoom: number, px: number): number {
  const world = worldSize(zoom);
  let precision = LONGEST_GEOHASH;
  while (precision > 1 && world / 2 ** lngBits(precision) < px) precision--;
  return precision;
}
