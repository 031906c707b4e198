import type { Map as MapLibre } from 'maplibre-gl';

import type { Bounds, MapCluster } from '../../src/client/public.js';

/** A cluster that never falls apart stands in one place: closer than this shows no more of it. */
const CLOSE_ENOUGH = 16;
const NEVER_APART = 30;

type Box = [[west: number, south: number], [east: number, north: number]];
const boxOf = ({ west, south, east, north }: Bounds): Box => [[west, south], [east < west ? east + 360 : east, north]]; // prettier-ignore

/** What is on the screen; longitudes may run on beyond 180. */
export function boundsOf(map: MapLibre): Bounds {
  const bounds = map.getBounds();
  return { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() };
}

/** To where a cluster falls apart; to all of it where it never does. */
export function flyInto(map: MapLibre, { position, bounds }: MapCluster, zoom = NEVER_APART): void {
  const closer = map.getZoom() + 1;
  if (zoom < NEVER_APART) map.flyTo({ center: position, zoom: Math.max(zoom, closer) });
  else map.fitBounds(boxOf(bounds), { padding: 80, maxZoom: Math.max(CLOSE_ENOUGH, closer) });
}

/** Begins with all of a rectangle on the screen. */
export function beginWith(map: MapLibre, bounds: Bounds): void {
  map.fitBounds(boxOf(bounds), { animate: false, padding: 24, maxZoom: 13 });
}
