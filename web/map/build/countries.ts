import { createRequire } from 'node:module';
import type { Feature, Geometry, MultiPolygon } from 'geojson';
import { merge, mesh } from 'topojson-client';
import type { MultiPolygon as Arcs, GeometryCollection, Topology } from 'topojson-specification';

import { atOnce } from '../../../src/geo/steps.js';
import { readZoneGeometry } from '../../../src/geo/zone-geometry.js';
import { closedAtPole, hasExtent, openCountries } from '../../../src/ingest/zones/countries.js';
import { labelPoint } from './label-point.js';

type World = Topology<{ countries: GeometryCollection<{ readonly name: string }> }>;

const bare = (geometry: Geometry): Feature => ({ type: 'Feature', geometry, properties: {} });

/** world-atlas does not cut geometries that cross the antimeridian. */
function cutAtAntimeridian(geometry: object): MultiPolygon {
  return atOnce(readZoneGeometry('geometry', geometry)).geometry as unknown as MultiPolygon;
}

/** Land without borders, and the borders between countries (coasts are not borders). */
export function outlines(): { readonly land: Feature[]; readonly borders: Feature[] } {
  const world = createRequire(import.meta.url)('world-atlas/countries-10m.json') as World;
  const { countries } = world.objects;
  const shapes = countries.geometries.filter(({ type }) => type !== null) as Arcs[];
  // One feature per polygon, so that a tile holds only the islands it shows.
  const land = merge(world, shapes).coordinates.flatMap((rings) => {
    const closed = (rings as [number, number][][]).filter(hasExtent).map(closedAtPole);
    return closed.length === 0 ? [] : [bare(cutAtAntimeridian({ type: 'MultiPolygon', coordinates: [closed] }))];
  });
  return { land, borders: [bare(mesh(world, countries, (one, other) => one !== other))] };
}

/** From this zoom on, the name of a country appears however small the country is. */
const ALL_NAMES_FROM = 6;
/** Width in px from which a country's name is shown below that zoom. */
const WIDTH_FOR_NAME = 40;

/** The names of the countries, each placed in the middle of its largest part, with the room available there. */
export function countryNames(): Feature[] {
  return openCountries().flatMap(({ name, geometry }) => {
    const place = labelPoint(cutAtAntimeridian(geometry()));
    if (place === undefined) return [];
    const { position, room } = place;
    const from = Math.min(ALL_NAMES_FROM, Math.ceil(Math.log2(WIDTH_FOR_NAME / (0.512 * room))));
    return [{ ...bare({ type: 'Point', coordinates: position }), properties: { name, room, from } }];
  });
}
