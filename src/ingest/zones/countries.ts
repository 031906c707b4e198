import { createRequire } from 'node:module';

import { feature } from 'topojson-client';
import type { GeometryCollection, GeometryObject, Topology } from 'topojson-specification';

import type { Position } from '../../geo/antimeridian.js';
import { closedAtPole, hasExtent } from '../../geo/atlas-rings.js';
import type { Collection } from '../../model/collection.js';
import { readItem } from '../../store/request/conditional-change.js';
import type { CollectionInput } from '../../store/collection/collection-item.js';
import { mapConcurrently } from '../../store/request/concurrency.js';
import { CellportError } from '../../errors.js';
import type { Database } from '../../store/database.js';
import type { Call } from '../../store/request/meter.js';
import { readZonePage } from '../../store/zone/zone-index.js';
import type { ZoneInput } from '../../store/zone/zone-draft.js';
import { createZone } from '../../store/zone/zones.js';
import { countryName } from './country-names.js';

export const COUNTRIES_COLLECTION: CollectionInput = {
  key: 'countries',
  name: 'Countries of the world',
  description:
    'Borders at 1:10 million. Keys are ISO 3166-1 numbers, or names of countries without one. Data: Natural Earth, public domain.',
  code: 'Co',
};

type Countries = GeometryCollection<{ readonly name: string }>;
type GeoJson = { readonly type: 'Polygon' | 'MultiPolygon'; readonly coordinates: unknown };
type Rings = readonly (readonly Position[])[];

/** A country; its border is built from arcs on demand. */
export interface Country extends Required<Pick<ZoneInput, 'name' | 'properties'>> {
  readonly key: string;
  readonly geometry: () => { readonly type: 'MultiPolygon'; readonly coordinates: readonly Rings[] };
}

const slug = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Opens all countries of the npm package world-atlas. */
export function openCountries(): readonly Country[] {
  const require = createRequire(import.meta.url);
  const topology = require('world-atlas/countries-10m.json') as Topology<{
    countries: Countries;
  }>;
  const taken = new Set<string>();
  return topology.objects.countries.geometries.map((geometryObject) => {
    const country = geometryObject as GeometryObject & { readonly properties: { readonly name: string } };
    const { name } = country.properties;
    const iso = country.id === undefined ? undefined : String(country.id);
    const key = iso === undefined || taken.has(iso) ? slug(name) : iso;
    taken.add(key);
    return {
      key,
      name: countryName(name),
      properties: iso === undefined ? {} : { iso },
      geometry() {
        const { geometry } = feature(topology, country) as unknown as { readonly geometry: GeoJson };
        const polygons = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as Rings[];
        const coordinates = polygons
          .filter(([outer]) => outer !== undefined && hasExtent(outer))
          .map((rings) => rings.filter(hasExtent).map(closedAtPole));
        return { type: 'MultiPolygon', coordinates };
      },
    };
  });
}

const AT_A_TIME = 4;
const PAGE = 100;

export interface CountriesOptions {
  readonly database: Database;
  readonly collection: Collection;
  readonly now: () => Date;
  readonly call: Call;
}

/**
 * Creates missing countries; returns their number. The last country is created after all others: if it exists, the load
 * was complete, and countries that a user has deleted since are not created again.
 */
export async function loadCountries(
  { database, collection, now, call }: CountriesOptions,
  countries: readonly Country[],
): Promise<number> {
  const last = countries.at(-1);
  const { keys } = database;
  if (last === undefined || (await readItem(database, keys.zone(keys.scope(collection), last.key), call))) return 0;
  const existing = new Set<string>();
  let after: string | undefined;
  do {
    const page = await readZonePage(database, collection, { after, limit: PAGE, consistent: true }, call);
    for (const { key } of page.zones) existing.add(key);
    after = page.next;
  } while (after !== undefined);
  let created = 0;
  async function create({ geometry, ...country }: Country): Promise<void> {
    call.signal?.throwIfAborted();
    try {
      const input = { ...country, geometry: geometry() };
      await createZone(database, collection, input, now().toISOString(), call);
      created += 1;
    } catch (error) {
      // Created by a concurrent load.
      if (!(error instanceof CellportError && error.code === 'CONFLICT')) throw error;
    }
  }
  const missing = countries.filter(({ key }) => key !== last.key && !existing.has(key));
  await mapConcurrently(missing, AT_A_TIME, create);
  await create(last);
  return created;
}
