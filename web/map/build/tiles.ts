import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { GeoJSONVT, type GeoJSONVTOptions } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature, FeatureCollection, Geometry } from 'geojson';
import { feature, merge, mesh } from 'topojson-client';
import type { GeometryCollection, MultiPolygon, Polygon, Topology } from 'topojson-specification';

import { closedAtPole, hasExtent } from '../../../src/geo/atlas-rings.js';
import { readZoneGeometry } from '../../../src/geo/zone-geometry.js';
import { labelPoint } from './label-point.js';

type Countries = GeometryCollection<{ readonly name: string }>;
type World = Topology<{ countries: Countries }>;

/** Highest zoom with tiles; the map enlarges them beyond it. At 8,192 units per tile, a unit is 150 m at the equator. */
export const TILES_TO_ZOOM = 5;
const EXTENT = 8192;

function readWorld(scale: '10m' | '50m'): World {
  const path = createRequire(import.meta.url).resolve(`world-atlas/countries-${scale}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as World;
}

const collectionOf = (features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features });
const bare = (geometry: Geometry): Feature => ({ type: 'Feature', geometry, properties: {} });

/** Land without borders, and the borders between countries (coasts are not borders). */
function outlines(world: World): { readonly land: FeatureCollection; readonly borders: FeatureCollection } {
  const { countries } = world.objects;
  const shapes = countries.geometries.filter(({ type }) => type !== null) as (Polygon | MultiPolygon)[];
  // One feature per polygon, so that a tile holds only the islands it shows. The source is not cut at the antimeridian.
  const islands = merge(world, shapes).coordinates.flatMap((rings) => {
    const closed = (rings as [number, number][][]).filter(hasExtent).map(closedAtPole);
    if (closed.length === 0) return [];
    const { geometry } = readZoneGeometry('land', { type: 'MultiPolygon', coordinates: [closed] });
    return [bare(geometry as unknown as Geometry)];
  });
  const shared = mesh(world, countries, (one, other) => one !== other);
  return { land: collectionOf(islands), borders: collectionOf([bare(shared)]) };
}

/** The names of the countries, each in the middle of its largest part, with the room there is for it. */
function labels(world: World): FeatureCollection {
  const { features } = feature(world, world.objects.countries);
  return collectionOf(
    features.flatMap(({ geometry, properties }) => {
      const place = labelPoint(geometry);
      if (place === undefined) return [];
      const { name } = properties;
      return [{ ...bare({ type: 'Point', coordinates: place.position }), properties: { name, room: place.room } }];
    }),
  );
}

/** The base map as vector tiles with the layers `land`, `borders` and `labels`. */
export function* makeTiles(): Generator<{ readonly path: string; readonly bytes: Uint8Array }> {
  const options: GeoJSONVTOptions = {
    maxZoom: TILES_TO_ZOOM,
    indexMaxZoom: TILES_TO_ZOOM,
    extent: EXTENT,
    buffer: 128,
    tolerance: 6,
  };
  const layers = Object.entries({ ...outlines(readWorld('10m')), labels: labels(readWorld('50m')) });
  const indexes = layers.map(([name, data]) => [name, new GeoJSONVT(data, { ...options, indexMaxPoints: 0 })] as const);
  for (let z = 0; z <= TILES_TO_ZOOM; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const tiles = indexes.flatMap(([name, index]) => {
          const tile = index.getTile(z, x, y);
          return tile === null ? [] : [[name, tile] as const];
        });
        yield {
          path: `${z}/${x}/${y}.pbf`,
          bytes: fromGeojsonVt(Object.fromEntries(tiles), { version: 2, extent: EXTENT }),
        };
      }
    }
  }
}
