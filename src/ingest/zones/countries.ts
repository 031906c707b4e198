import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

import { CellportError } from '../../errors.js';
import type { Position } from '../../geo/antimeridian.js';
import type { Collection } from '../../model/collection.js';
import type { Properties } from '../../model/marker.js';
import { loadOptional } from '../../optional-package.js';
import type { CollectionInput } from '../../store/collection/collection-item.js';
import type { Call } from '../../store/database.js';
import { readItem } from '../../store/request/conditional-write.js';
import { mapConcurrently } from '../../store/request/pacing.js';
import { createZone, queryZones } from '../../store/zone/zones.js';

/**
 * Closes a ring around a pole along the antimeridian: in world-atlas, such a ring circles the globe. Other rings are
 * returned unchanged.
 */
export function closedAtPole(ring: readonly Position[]): readonly Position[] {
  const jumps = ring.flatMap(([lng], index) =>
    index > 0 && Math.abs(lng - (ring[index - 1]?.[0] ?? lng)) > 180 ? [index] : [],
  );
  const [jump] = jumps;
  if (jump === undefined || jumps.length % 2 === 0) return ring;
  const [from = 0] = ring[jump - 1] ?? [];
  const [, lat = 0] = ring[jump] ?? [];
  const [side, pole] = [from > 0 ? 180 : -180, lat < 0 ? -90 : 90];
  return [...ring.slice(0, jump), [side, lat], [side, pole], [-side, pole], [-side, lat], ...ring.slice(jump)];
}

/** Whether a ring has more than one position: rounding in world-atlas reduced some islands to a point. */
export const hasExtent = (ring: readonly Position[]) =>
  ring.some(([lng, lat]) => lng !== ring[0]?.[0] || lat !== ring[0]?.[1]);

/** Names that world-atlas abbreviates in other ways than those below, or that have changed since. */
const NAMES: Readonly<Record<string, string>> = {
  Macedonia: 'North Macedonia',
  eSwatini: 'Eswatini',
  'Antigua and Barb.': 'Antigua and Barbuda',
  'Bosnia and Herz.': 'Bosnia and Herzegovina',
  'Dem. Rep. Congo': 'Democratic Republic of the Congo',
  'Faeroe Is.': 'Faroe Islands',
  'Fr. S. Antarctic Lands': 'French Southern and Antarctic Lands',
  'S. Geo. and the Is.': 'South Georgia and the South Sandwich Islands',
  'St. Vin. and Gren.': 'Saint Vincent and the Grenadines',
};

const WORDS: Readonly<Record<string, string>> = {
  'Br.': 'British',
  'Eq.': 'Equatorial',
  'Fr.': 'French',
  'I.': 'Island',
  'Is.': 'Islands',
  'N.': 'Northern',
  'Rep.': 'Republic',
  'S.': 'South',
  'St.': 'Saint',
  'Ter.': 'Territory',
  'W.': 'Western',
};

/** The full English name of a country, from its name in world-atlas. */
export function countryName(name: string): string {
  return (
    NAMES[name] ??
    name
      .split(' ')
      .map((word) => WORDS[word] ?? word)
      .join(' ')
  );
}

export const COUNTRIES_COLLECTION: CollectionInput = {
  key: 'countries',
  name: 'Countries of the world',
  description:
    'Borders at 1:10 million. Keys are ISO 3166-1 numbers, or names of countries without one. Data: Natural Earth, public domain.',
  code: 'Co',
};

type Atlas = Topology<{ readonly countries: GeometryCollection<{ readonly name: string }> }>;
type Entry = Atlas['objects']['countries']['geometries'][number] & { readonly properties: { readonly name: string } };
type GeoJson = { readonly type: 'Polygon' | 'MultiPolygon'; readonly coordinates: unknown };
type Rings = readonly (readonly Position[])[];

interface Border {
  readonly type: 'MultiPolygon';
  readonly coordinates: readonly Rings[];
}

/** A country; its border is built from arcs on demand. */
export interface Country {
  readonly key: string;
  readonly name: string;
  readonly properties: Properties;
  readonly geometry: () => Border;
  /** The same border, then those at 1:50 million and 1:110 million, unless the country is too small for that scale. */
  readonly borders: () => Iterable<Border>;
}

const slug = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** All countries of the npm package world-atlas by key, at a scale in millions. */
function openAtlas(scale: 10 | 50 | 110): { readonly atlas: Atlas; readonly entries: ReadonlyMap<string, Entry> } {
  const atlas = loadOptional('the countries', 'world-atlas', `/countries-${scale}m.json`) as Atlas;
  const entries = new Map<string, Entry>();
  for (const entry of atlas.objects.countries.geometries as readonly Entry[]) {
    const iso = entry.id === undefined ? undefined : String(entry.id);
    entries.set(iso === undefined || entries.has(iso) ? slug(entry.properties.name) : iso, entry);
  }
  return { atlas, entries };
}

function borderOf(atlas: Atlas, entry: Entry): Border {
  const { geometry } = feature(atlas, entry) as unknown as { readonly geometry: GeoJson };
  const polygons = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as Rings[];
  const coordinates = polygons
    .filter(([outer]) => outer !== undefined && hasExtent(outer))
    .map((rings) => rings.filter(hasExtent).map(closedAtPole));
  return { type: 'MultiPolygon', coordinates };
}

/** Opens all countries, at 1:10 million. */
export function openCountries(): readonly Country[] {
  const detailed = openAtlas(10);
  return [...detailed.entries].map(([key, entry]) => {
    const geometry = () => borderOf(detailed.atlas, entry);
    return {
      key,
      name: countryName(entry.properties.name),
      properties: entry.id === undefined ? {} : { iso: String(entry.id) },
      geometry,
      *borders() {
        yield geometry();
        for (const scale of [50, 110] as const) {
          const { atlas, entries } = openAtlas(scale);
          const coarse = entries.get(key);
          if (coarse !== undefined) yield borderOf(atlas, coarse);
        }
      },
    };
  });
}

const AT_A_TIME = 4;
const ZONES_A_RESPONSE = 100;

export interface CountriesOptions {
  readonly collection: Collection;
  readonly now: () => Date;
  readonly call: Call;
}

/**
 * Creates missing countries; returns their number. Without an object store, borders that are too large for an item are
 * coarser. The last country is created after all others: if it exists, the load was complete, and countries that a user
 * has deleted since are not created again.
 */
export async function loadCountries(
  { collection, now, call }: CountriesOptions,
  countries: readonly Country[],
): Promise<number> {
  const last = countries.at(-1);
  const { keys } = call.db;
  if (last === undefined || (await readItem(call, keys.zone(keys.scope(collection), last.key)))) return 0;
  const existing = new Set<string>();
  let after: string | undefined;
  do {
    const { zones, next } = await queryZones(call, collection, { after, limit: ZONES_A_RESPONSE, consistent: true });
    for (const { key } of zones) existing.add(key);
    after = next;
  } while (after !== undefined);
  let created = 0;
  async function create({ key, name, properties, borders }: Country): Promise<void> {
    call.signal?.throwIfAborted();
    let refused: CellportError | undefined;
    for (const geometry of borders()) {
      try {
        await createZone(call, collection, { key, name, properties, geometry }, now().toISOString());
        created += 1;
        return;
      } catch (error) {
        if (!(error instanceof CellportError)) throw error;
        // Created by a concurrent load.
        if (error.code === 'CONFLICT') return;
        if (error.code !== 'LIMIT_EXCEEDED') throw error;
        refused = error;
      }
    }
    throw refused;
  }
  const missing = countries.filter(({ key }) => key !== last.key && !existing.has(key));
  await mapConcurrently(missing, AT_A_TIME, create);
  await create(last);
  return created;
}
