import { GeoJSONVT, type GeoJSONVTOptions, type GeoJSONVTTile } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature, GeoJsonProperties } from 'geojson';

import { countryNames, outlines } from './countries.js';
import { places } from './places.js';
import { regionBorders } from './regions.js';
import { lakes, rivers } from './waters.js';

/** Highest zoom with tiles; the map enlarges them beyond it. At 8,192 units per tile, a unit is 150 m at the equator. */
export const TILES_TO_ZOOM = 5;
const EXTENT = 8192;
const OPTIONS: GeoJSONVTOptions = {
  maxZoom: TILES_TO_ZOOM,
  indexMaxZoom: TILES_TO_ZOOM,
  indexMaxPoints: 0,
  extent: EXTENT,
  buffer: 128,
  tolerance: 6,
};

/** Omits features whose property `from` is a higher zoom. The deepest tiles serve all higher zooms. */
function shownAt(zoom: number, tile: GeoJSONVTTile): GeoJSONVTTile {
  if (zoom === TILES_TO_ZOOM) return tile;
  return {
    ...tile,
    features: tile.features.filter(
      ({ tags }: { readonly tags: GeoJsonProperties }) => Number(tags?.['from'] ?? 0) <= zoom,
    ),
  };
}

/** The base map as vector tiles, each with its non-empty layers. */
export function* makeTiles(): Generator<{ readonly path: string; readonly bytes: Uint8Array }> {
  const layers: Readonly<Record<string, Feature[]>> = {
    ...outlines(),
    lakes: lakes(),
    rivers: rivers(),
    regions: regionBorders(),
    countries: countryNames(),
    places: places(),
  };
  const indexes = Object.entries(layers).map(
    ([name, features]) => [name, new GeoJSONVT({ type: 'FeatureCollection', features }, OPTIONS)] as const,
  );
  for (let z = 0; z <= TILES_TO_ZOOM; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const tiles = indexes.flatMap(([name, index]) => {
          const tile = index.getTile(z, x, y);
          return tile === null ? [] : [[name, shownAt(z, tile)] as const];
        });
        const filled = tiles.filter(([, { features }]) => features.length > 0);
        yield {
          path: `${z}/${x}/${y}.pbf`,
          bytes: fromGeojsonVt(Object.fromEntries(filled), { version: 2, extent: EXTENT }),
        };
      }
    }
  }
}
