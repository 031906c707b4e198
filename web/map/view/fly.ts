import type { Map as MapLibre } from 'maplibre-gl';

import type { Bounds, MapCluster } from '../../../src/client/public.js';
import { SMALL } from '../dom/sheets.js';

/** A cluster that never splits has all its markers at one position: zooming in further shows nothing new. */
const CLOSE_ENOUGH = 16;
const NEVER_SPLITS = 30;

type Box = [[west: number, south: number], [east: number, north: number]];
const boxOf = ({ west, south, east, north }: Bounds): Box => [[west, south], [east < west ? east + 360 : east, north]]; // prettier-ignore

/** Flies to the zoom at which a cluster splits, or to the whole cluster if it never does. */
export function flyInto(map: MapLibre, { position, bounds }: MapCluster, zoom = NEVER_SPLITS): void {
  const closer = map.getZoom() + 1;
  if (zoom < NEVER_SPLITS) map.flyTo({ center: position, zoom: Math.max(zoom, closer) });
  else map.fitBounds(boxOf(bounds), { padding: 80, maxZoom: Math.max(CLOSE_ENOUGH, closer) });
}

const MARGIN = 24;
/** Width of the tools, which cover the right edge of a small map. */
const TOOLS_PX = 56;

/** Shows an entire bounding box without animation, next to a panel that covers the right or lower part of the map. */
export function fitWithoutAnimation(map: MapLibre, bounds: Bounds, panel?: HTMLElement): void {
  const tools = matchMedia(SMALL).matches ? TOOLS_PX : 0;
  const { left, top, width } = panel?.getBoundingClientRect() ?? { left: innerWidth, top: innerHeight, width: 0 };
  const isBelow = width === innerWidth;
  const padding = {
    top: MARGIN,
    left: MARGIN,
    right: MARGIN + Math.max(tools, isBelow ? 0 : innerWidth - left),
    bottom: MARGIN + (isBelow ? innerHeight - top : 0),
  };
  map.fitBounds(boxOf(bounds), { animate: false, padding, maxZoom: 13 });
}

/** Individual places are drawn from this zoom on. */
const PLACE_ZOOM = 9;
/** For positions without a place. */
export const POSITION_ZOOM = 12;

/** Flies to a position, and zooms in to at least `zoom`. */
export function flyToPosition(map: MapLibre, position: MapCluster['position'], zoom = PLACE_ZOOM): void {
  map.flyTo({ center: position, zoom: Math.max(map.getZoom(), zoom) });
}

/** Flies to an entire bounding box. */
export function flyToBounds(map: MapLibre, bounds: Bounds): void {
  map.fitBounds(boxOf(bounds), { padding: 60 });
}
