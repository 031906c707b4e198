import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';

import type { Palette } from './palette.js';

/**
 * Natural Earth's lines are accurate to about a kilometer: beyond this zoom they fade out, to suggest no more than
 * that.
 */
export const COARSE_FROM_ZOOM = 9;
const COARSE: ExpressionSpecification = [
  'interpolate',
  ['linear'],
  ['zoom'],
  COARSE_FROM_ZOOM,
  1,
  COARSE_FROM_ZOOM + 5,
  0.4,
];
/** Whether a feature is shown yet: its property `from` is the zoom at which it appears, see build/tiles.ts. */
export const APPEARED: ExpressionSpecification = ['<=', ['get', 'from'], ['zoom']];

const base = { source: 'base' } as const;

/** Water, land and borders, bottom first. */
export function groundLayers(palette: Palette): LayerSpecification[] {
  const line = { ...base, type: 'line', layout: { 'line-join': 'round', 'line-cap': 'round' } } as const;
  const coastWidth: ExpressionSpecification = ['interpolate', ['linear'], ['zoom'], 1, 0.5, 6, 1.2];
  const coast = { 'line-color': palette.coast, 'line-width': coastWidth, 'line-opacity': COARSE };
  return [
    { id: 'water', type: 'background', paint: { 'background-color': palette.water } },
    { ...base, id: 'land', 'source-layer': 'land', type: 'fill', paint: { 'fill-color': palette.land } },
    {
      ...line,
      id: 'region-borders',
      'source-layer': 'regions',
      filter: APPEARED,
      paint: {
        'line-color': palette.region,
        'line-width': ['interpolate', ['linear'], ['zoom'], 3, 0.6, 8, 1.2],
        'line-opacity': COARSE,
      },
    },
    {
      ...line,
      id: 'rivers',
      'source-layer': 'rivers',
      filter: APPEARED,
      paint: {
        'line-color': palette.river,
        'line-width': [
          'interpolate',
          ['linear'],
          ['zoom'],
          2,
          ['*', 1.2, ['get', 'width']],
          8,
          ['+', 0.6, ['*', 3, ['get', 'width']]],
        ],
        'line-opacity': COARSE,
      },
    },
    {
      ...base,
      id: 'lakes',
      'source-layer': 'lakes',
      type: 'fill',
      filter: APPEARED,
      paint: { 'fill-color': palette.water },
    },
    { ...line, id: 'lake-shores', 'source-layer': 'lakes', filter: APPEARED, paint: coast },
    { ...line, id: 'coast', 'source-layer': 'land', paint: coast },
    {
      ...line,
      id: 'borders',
      'source-layer': 'borders',
      paint: {
        'line-color': palette.border,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 6, 1.5, 12, 2],
      },
    },
  ];
}
