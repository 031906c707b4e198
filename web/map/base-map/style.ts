import type { LayerSpecification, StyleSpecification } from 'maplibre-gl';

import { REGULAR, fontFaces } from './fonts.js';
import { GRATICULE, graticuleLayers, noLines } from './graticule.js';
import { PALETTES, type Theme } from './palette.js';

/** Set by the build. */
declare const TILES_VERSION: string;

/** Tiles exist up to this zoom, see build/tiles.ts. */
const TILES_TO_ZOOM = 5;
/** Natural Earth's coastline is accurate to about a kilometre: from this zoom on it fades, to claim no more than that. */
const COARSE_FROM_ZOOM = 9;

/** Layers of the base map, bottom first. Themes differ only in paint. */
export function baseLayers(theme: Theme): LayerSpecification[] {
  const palette = PALETTES[theme];
  const base = { source: 'base' } as const;
  return [
    { id: 'water', type: 'background', paint: { 'background-color': palette.water } },
    { ...base, id: 'land', 'source-layer': 'land', type: 'fill', paint: { 'fill-color': palette.land } },
    {
      ...base,
      id: 'coast',
      'source-layer': 'land',
      type: 'line',
      paint: {
        'line-color': palette.coast,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 6, 1.2],
        'line-opacity': ['interpolate', ['linear'], ['zoom'], COARSE_FROM_ZOOM, 1, COARSE_FROM_ZOOM + 5, 0.4],
      },
    },
    {
      ...base,
      id: 'borders',
      'source-layer': 'borders',
      type: 'line',
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': palette.border,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 6, 1.5, 12, 2],
      },
    },
    ...graticuleLayers(palette),
    {
      ...base,
      id: 'country-names',
      'source-layer': 'labels',
      type: 'symbol',
      maxzoom: 8,
      // `room` is in thousandths of the world's width: a name appears when its country is about 40 px wide.
      filter: ['>=', ['*', ['get', 'room'], ['^', 2, ['zoom']]], 80],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [REGULAR],
        'text-size': [
          'interpolate',
          ['linear'],
          ['zoom'],
          1,
          ['interpolate', ['linear'], ['get', 'room'], 20, 9, 120, 12],
          6,
          ['interpolate', ['linear'], ['get', 'room'], 5, 11, 100, 20],
        ],
        'text-letter-spacing': 0.06,
        'text-max-width': 7,
        'text-padding': 6,
        'symbol-sort-key': ['-', ['get', 'room']],
      },
      paint: {
        'text-color': palette.label,
        'text-halo-color': palette.halo,
        'text-halo-width': 1.2,
        'text-opacity': ['interpolate', ['linear'], ['zoom'], 6.5, 0.9, 8, 0],
      },
    },
  ];
}

/** The style of the base map. Tiles and fonts come from the same server as the page. */
export function baseStyle(theme: Theme): StyleSpecification {
  const tiles = new URL(`/map/tiles/${TILES_VERSION}/`, location.href).href;
  return {
    version: 8,
    'font-faces': fontFaces(),
    sources: {
      base: {
        type: 'vector',
        tiles: [`${tiles}{z}/{x}/{y}.pbf`],
        maxzoom: TILES_TO_ZOOM,
        attribution: 'Base map: Natural Earth. Demo cities: GeoNames (CC BY 4.0)',
      },
      [GRATICULE]: { type: 'geojson', data: noLines },
    },
    layers: baseLayers(theme),
  };
}
