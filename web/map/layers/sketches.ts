import type { ExpressionSpecification, FilterSpecification, SymbolLayerSpecification } from 'maplibre-gl';

import { REGULAR, STRONG } from '../base-map/fonts.js';
import { BELOW_NAMES, BELOW_ROOMS } from '../base-map/names.js';
import { accentOf, PALETTES, type Theme } from '../base-map/palette.js';
import type { Sketch } from '../base-map/sketch.js';

/** Layers for markers and clusters, bottom first. */
export function pointSketches(accent: number, theme: Theme): Sketch[] {
  const color = accentOf(accent, theme);
  const { halo } = PALETTES[theme];
  const paper = theme === 'light' ? '#ffffff' : '#10161b';
  const ink = theme === 'light' ? '#2b3238' : '#e3e9ee';
  const isCluster: FilterSpecification = ['==', ['get', 'kind'], 'cluster'];
  const scale: ExpressionSpecification = ['coalesce', ['get', 'scale'], 1];
  const isMarker: FilterSpecification = ['!=', ['get', 'kind'], 'cluster'];
  const count: SymbolLayerSpecification['layout'] = {
    'text-field': ['get', 'text'],
    'text-font': [STRONG],
    'text-size': ['interpolate', ['linear'], ['get', 'size'], 0.3, 11, 5, 14],
    'text-allow-overlap': true,
  };
  return [
    {
      name: 'clusters',
      before: BELOW_ROOMS,
      type: 'circle',
      filter: isCluster,
      layout: { 'circle-sort-key': ['get', 'count'] },
      paint: {
        'circle-color': color,
        'circle-opacity': theme === 'light' ? 0.9 : 0.85,
        // The smallest circle fits two digits; the largest, including its rim, is as wide as the distance between
        // clusters.
        'circle-radius': ['interpolate', ['linear'], ['get', 'size'], 0.3, 10, 5, 24],
        'circle-stroke-color': color,
        'circle-stroke-width': ['interpolate', ['linear'], ['get', 'size'], 0.3, 3, 5, 6],
        'circle-stroke-opacity': 0.22,
      },
    },
    {
      name: 'counts',
      before: BELOW_ROOMS,
      type: 'symbol',
      filter: isCluster,
      layout: { ...count, 'text-ignore-placement': true },
      paint: { 'text-color': paper, 'text-opacity': 1 },
    },
    {
      name: 'markers',
      before: BELOW_ROOMS,
      type: 'circle',
      filter: isMarker,
      // Small circles stay visible on large ones.
      layout: { 'circle-sort-key': ['-', scale] },
      paint: {
        'circle-color': ['to-color', ['get', 'tint'], color],
        'circle-opacity': 1,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 3, ['*', 4, scale], 10, ['*', 6.5, scale]],
        'circle-stroke-color': paper,
        'circle-stroke-width': 1.6,
        'circle-stroke-opacity': 1,
      },
    },
    {
      name: 'names',
      before: BELOW_ROOMS,
      type: 'symbol',
      filter: isMarker,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [REGULAR],
        'text-size': ['interpolate', ['linear'], ['zoom'], 4, 11, 12, 13.5],
        'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
        'text-radial-offset': ['*', 0.8, ['max', 1, ['*', 0.8, scale]]],
        'text-justify': 'auto',
        'text-max-width': 9,
        'text-padding': 2,
        'symbol-sort-key': ['-', ['get', 'weight']],
      },
      paint: { 'text-color': ink, 'text-halo-color': halo, 'text-halo-width': 1.4, 'text-opacity': 1 },
    },
    {
      name: 'rooms',
      type: 'symbol',
      filter: isCluster,
      // Invisible: keeps names off the circle.
      layout: { ...count, 'text-padding': 12 },
      paint: { 'text-opacity': 0 },
    },
  ];
}

/** Layers for zones: outlines with a light fill, below the names of countries. */
export function zoneSketches(accent: number, theme: Theme): Sketch[] {
  const color = accentOf(accent, theme);
  return [
    { name: 'zone-fill', before: BELOW_NAMES, type: 'fill', paint: { 'fill-color': color, 'fill-opacity': 0.07 } },
    {
      name: 'zone-line',
      before: BELOW_NAMES,
      type: 'line',
      layout: { 'line-join': 'round' },
      paint: { 'line-color': color, 'line-width': 1.4, 'line-opacity': 0.75 },
    },
  ];
}
