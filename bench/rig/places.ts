import type { Bounds } from '../../src/geo/bounds.js';
import { latToY, lngToX, xToLng, yToLat } from '../../src/geo/mercator.js';
import { randomFrom } from '../../test/support/random.js';
import type { BenchMarker } from './points.js';

/** A map of 1280x800 px. */
export interface View {
  readonly name: string;
  readonly zoom: number;
  /** As a map client sends it: not wrapped, and possibly wider than the world. */
  readonly bounds: Bounds;
}

const PLACES: readonly (readonly [name: string, lng: number, lat: number])[] = [
  ['London', -0.12, 51.5],
  ['Tokyo', 139.75, 35.68],
  ['São Paulo', -46.63, -23.55],
  ['Manhattan', -73.98, 40.76],
  ['the Sahara', 10, 23],
  ['the Pacific', -140, 5],
  ['Fiji', 179.5, -17.5],
  ['Svalbard', 15.6, 78.22],
  ['Greenwich', 0, 51.4779],
  ['(0, 0)', 0, 0],
  ['Poznań', 16.93, 52.41],
];
const ZOOMS = [2, 5, 8, 11, 14, 18];

/** A map of 1280x800 px around a place. */
export function viewOf(name: string, lng: number, lat: number, zoom: number): View {
  const x = lngToX(lng, zoom);
  const y = latToY(lat, zoom);
  const bounds = {
    west: xToLng(x - 640, zoom),
    south: yToLat(y + 400, zoom),
    east: xToLng(x + 640, zoom),
    north: yToLat(y - 400, zoom),
  };
  return { name, zoom, bounds };
}

/** 66 maps: eleven places, dense and sparse ones and some at the edges of the world, at six zooms from 2 to 18. */
export const fixedViews = (): View[] =>
  PLACES.flatMap(([name, lng, lat]) => ZOOMS.map((zoom) => viewOf(name, lng, lat, zoom)));

/** Maps near random markers, at zooms 2 to 18, slightly off-center. */
export function viewsAbout(markers: readonly BenchMarker[], count: number, seed: number): View[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, index) => {
    const zoom = 2 + Math.floor(random() * 33) / 2;
    const { position } = markers[Math.floor(random() * markers.length)] ?? { position: { lng: 0, lat: 0 } };
    const shift = 500 / 2 ** zoom;
    return viewOf(
      `view ${index}`,
      position.lng + (random() - 0.5) * shift,
      position.lat + ((random() - 0.5) * shift) / 2,
      zoom,
    );
  });
}
