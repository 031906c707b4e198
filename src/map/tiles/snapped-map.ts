import { levelAt, tileBounds, tilesOver } from '../../client/tiles.js';
import { badInput } from '../../errors.js';
import type { Bounds } from '../../geo/bounds.js';
import { clusterArea } from '../../geo/cluster-windows.js';
import { firstExpiry } from '../../model/marker.js';
import { clusterPrecision } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { DEFAULT_RADIUS } from '../cells/clusters.js';
import { viewportContent, type ContentQuestion } from '../content.js';
import { contentText } from '../features.js';
import { MAX_ZOOM, MIN_ZOOM, readViewport, type Viewport } from '../viewport.js';

const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;

/** The number in a text. Throws BAD_USER_INPUT naming `field`. */
function readNumber(field: string, text: string, least: number, most: number, allowed: string): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw badInput(field, text, allowed);
  return value;
}

/** A bounding box as OGC writes it: west, south, east, north; west > east crosses the antimeridian. Throws BAD_USER_INPUT. */
export function readBbox(text: string): Bounds {
  const allowed = 'four numbers of degrees with commas: west, south, east, north';
  const numbers = text.split(',').map((each) => readNumber('bbox', each.trim(), -1e6, 1e6, allowed));
  const [west, south, east, north] = numbers;
  if (west === undefined || south === undefined || east === undefined || north === undefined || numbers.length > 4) {
    throw badInput('bbox', text, allowed);
  }
  if (south > north) throw badInput('bbox', text, 'with a south that is at most its north');
  return { west, south, east: east < west ? east + 360 : east, north };
}

/** Less than the smallest tile, in degrees. */
const INSIDE = 1e-9;

/** What a map shows, widened to whole tiles. */
export interface SnappedMap {
  readonly viewport: Viewport;
  /** Its bounding box, as text; the same for all maps with these tiles. */
  readonly bbox: string;
}

/** A bounding box and a zoom, widened to the grid of tiles that `cellport/client` loads. Throws BAD_USER_INPUT. */
export function snappedMap(bboxText: string, zoomText: string): SnappedMap {
  const { west, south, east, north } = readBbox(bboxText);
  const zoom = readNumber('zoom', zoomText, MIN_ZOOM, MAX_ZOOM, `a number from ${MIN_ZOOM} to ${MAX_ZOOM}`);
  const level = levelAt(zoom);
  // The line between two tiles belongs to the western or southern one.
  const bounds = { west, south, east: Math.max(west, east - INSIDE), north: Math.max(south, north - INSIDE) };
  const rect = tilesOver(bounds, level, 0, level);
  const [lng, lat] = [(x: number) => (x * 360) / 2 ** level - 180, (y: number) => (y * 180) / 2 ** level - 90];
  const { column, row, columns, rows } = rect;
  return {
    viewport: readViewport({ bounds: tileBounds(rect), zoom: level }),
    bbox: [lng(column), lat(row), lng(column + columns), lat(row + rows)].join(','),
  };
}

/** The area whose cells decide what a viewport shows. */
export const areaOfClusters = ({ area, zoom }: Viewport) =>
  clusterArea(area, clusterPrecision(zoom), { zoom, distance: DEFAULT_RADIUS });

/**
 * The markers of a viewport, or clusters if there are more than the limit, as the JSON of a FeatureCollection, and until when
 * none of them expires. Throws LIMIT_EXCEEDED.
 */
export async function mapFeatures(context: MapContext, viewport: Viewport, question: ContentQuestion) {
  const content = await viewportContent(context, viewport, question);
  const body = await contentText(context, content, question.collection);
  return { body, expiresAt: firstExpiry(content.markers) };
}
