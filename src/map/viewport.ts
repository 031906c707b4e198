import { badInput } from '../errors.js';
import { normalizeBounds, type Area, type Bounds } from '../geo/bounds.js';
import { precisionForZoom } from '../plan/precision.js';

/** A map's view: one bounding box at one zoom. */
export interface Viewport {
  readonly area: Area;
  /** MapLibre's zoom: the world is 512 px wide at 0. */
  readonly zoom: number;
  /** Geohash length of its cells. */
  readonly precision: number;
}

export const MIN_ZOOM = -2;
export const MAX_ZOOM = 30;

/** Validates a client's viewport. Throws BAD_USER_INPUT naming the edge or the zoom. */
export function readViewport(input: { readonly bounds: Bounds; readonly zoom: number }): Viewport {
  const { bounds, zoom } = input;
  if (typeof zoom !== 'number' || !(zoom >= MIN_ZOOM && zoom <= MAX_ZOOM)) {
    throw badInput('zoom', zoom, `a number from ${MIN_ZOOM} to ${MAX_ZOOM}`);
  }
  return { area: normalizeBounds('bounds', bounds), zoom: zoom + 0, precision: precisionForZoom(zoom) };
}
