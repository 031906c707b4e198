import { levelAt } from '../../client/tiles.js';
import { badInput } from '../../errors.js';
import { normalizeBounds, type Bounds } from '../../geo/bounds.js';
import { clusterArea } from '../../geo/cluster-windows.js';
import { firstExpiry } from '../../model/marker.js';
import { clusterPrecision } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { advising } from '../../read/find-markers.js';
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

/** What a bounding box must be. */
export const BBOX = 'four numbers of degrees with commas: west, south, east, north';

/**
 * A bounding box as OGC writes it: west, south, east, north; west > east crosses the antimeridian. Throws BAD_USER_INPUT,
 * which names what is `allowed`, and the text `given` if the box is a part of that.
 */
export function readBbox(text: string, allowed = BBOX, given = text): Bounds {
  const numbers = text.split(',').map((each) => readNumber('bbox', each.trim(), -1e6, 1e6, allowed));
  const [west, south, east, north] = numbers;
  if (west === undefined || south === undefined || east === undefined || north === undefined || numbers.length > 4) {
    throw badInput('bbox', given, allowed);
  }
  if (south > north) throw badInput('bbox', given, 'with the lower latitude, and height, first');
  return { west, south, east, north };
}

/** A division of `size` degrees from `least` on into tiles: where one begins, which is exact, and the place of a position among them. */
function division(least: number, size: number, count: number) {
  const edge = (tile: number) => least + (tile * size) / count;
  const place = (degrees: number) => {
    const tile = ((degrees - least) / size) * count;
    // What is next to an edge is rounded to it.
    return Number.isInteger(tile) ? tile + Math.sign(degrees - edge(tile)) / 2 : tile;
  };
  return { edge, place };
}

/** What a map shows, widened to whole tiles. */
export interface SnappedMap {
  readonly viewport: Viewport;
  /** Its bounding box, as text; the same for all maps with these tiles. */
  readonly bbox: string;
}

/**
 * A bounding box and a zoom, widened to the grid of tiles that `cellport/client` loads. Unlike a tile, it has the markers on
 * all of its edges. Throws BAD_USER_INPUT.
 */
export function snappedMap(bboxText: string, zoomText: string): SnappedMap {
  const { west, south, east, north } = normalizeBounds('bbox', readBbox(bboxText)).bounds;
  const zoom = levelAt(readNumber('zoom', zoomText, MIN_ZOOM, MAX_ZOOM, `a number from ${MIN_ZOOM} to ${MAX_ZOOM}`));
  const count = 2 ** zoom;
  const [columns, rows] = [division(-180, 360, count), division(-90, 180, count)];
  const from = Math.floor(columns.place(west));
  const width = Math.max(1, Math.ceil(columns.place(east)) + (west > east ? count : 0) - from);
  const column = width < count ? from % count : 0;
  const row = Math.min(count - 1, Math.floor(rows.place(south)));
  const bounds = {
    west: columns.edge(column),
    south: rows.edge(row),
    east: columns.edge(column + Math.min(count, width)),
    north: rows.edge(Math.max(row + 1, Math.ceil(rows.place(north)))),
  };
  return { viewport: readViewport({ bounds, zoom }), bbox: Object.values(bounds).join(',') };
}

/** The area whose cells decide what a viewport shows. */
export const areaOfClusters = ({ area, zoom }: Viewport) =>
  clusterArea(area, clusterPrecision(zoom), { zoom, distance: DEFAULT_RADIUS });

const MAP_ADVICE = 'use a smaller bbox, or filter only by category and mapProperties';

/**
 * The markers of a viewport, or clusters if there are more than the limit, as the JSON of a FeatureCollection, and until when
 * none of them expires. Throws LIMIT_EXCEEDED.
 */
export async function mapFeatures(context: MapContext, viewport: Viewport, question: ContentQuestion) {
  // Markers on its western and southern edges are in cells beside it: 8 by 8 cells become 9 by 9.
  const limits = { ...context.limits, queryCalls: context.limits.queryCalls + 17 };
  const content = await viewportContent({ ...context, limits }, viewport, question).catch(
    advising(question.field, context.limits, MAP_ADVICE),
  );
  const body = await contentText(context, content, question.collection);
  return { body, expiresAt: firstExpiry(content.markers) };
}
