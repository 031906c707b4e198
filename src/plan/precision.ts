import { LONGEST_GEOHASH, lngBits } from '../geo/geohash.js';

/** The width of the world in px at zoom 0, as MapLibre counts zooms. */
const WORLD_PX = 512;

/** Cells are drawn at least this wide. Lengths differ by 4 or 8 times in width, so the widest is under 192 px. */
const NARROWEST_PX = 24;

/** Clusters of the world are made from finer cells: there are only 1,024 blocks of these, which stay in the cache. */
const CLUSTERED_PX = 12;
const FINER_UP_TO = 3;

/** The length of the cells from which clusters are made: coarser ones would show through as a grid. */
export function clusterPrecision(zoom: number): number {
  const finer = finestOf(zoom, CLUSTERED_PX);
  return Math.max(precisionForZoom(zoom), Math.min(finer, FINER_UP_TO));
}

/**
 * The length, 1 to 12, of the geohashes whose cells a map shows at a zoom: the finest that is at least 24 px wide. It is
 * under 192 px wide from about zoom -1 to 28.
 */
export const precisionForZoom = (zoom: number): number => finestOf(zoom, NARROWEST_PX);

/** The longest geohashes whose cells are at least so wide. */
function finestOf(zoom: number, px: number): number {
  const world = WORLD_PX * 2 ** zoom;
  let precision = LONGEST_GEOHASH;
  while (precision > 1 && world / 2 ** lngBits(precision) < px) precision--;
  return precision;
}
