import type { LayerSpecification, StyleSpecification } from 'maplibre-gl';

import { pathOf } from '../../access/server.js';
import { fontFaces } from './fonts.js';
import { GRATICULE, graticuleLayers, noLines } from './graticule.js';
import { groundLayers } from './ground.js';
import { belowRooms, nameLayers } from './names.js';
import { PALETTES, type Theme } from './palette.js';

/** Set by the build. */
declare const TILES_VERSION: string;

/** Tiles exist up to this zoom, see build/tiles.ts. */
const TILES_TO_ZOOM = 5;

/** Layers of the base map, bottom first. Themes differ only in paint. */
export function baseLayers(theme: Theme): LayerSpecification[] {
  const palette = PALETTES[theme];
  return [...groundLayers(palette), ...graticuleLayers(palette), ...nameLayers(palette), belowRooms];
}

/** The style of the base map. Tiles and fonts come from the same server as the page. */
export function baseStyle(theme: Theme): StyleSpecification {
  const tiles = new URL(pathOf(`map/tiles/${TILES_VERSION}/`), location.href).href;
  return {
    version: 8,
    'font-faces': fontFaces(),
    sources: {
      base: {
        type: 'vector',
        tiles: [`${tiles}{z}/{x}/{y}.pbf`],
        maxzoom: TILES_TO_ZOOM,
        attribution: 'Natural Earth, GeoNames (CC BY 4.0)',
      },
      [GRATICULE]: { type: 'geojson', data: noLines },
    },
    layers: baseLayers(theme),
  };
}
