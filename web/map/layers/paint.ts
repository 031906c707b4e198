import type {
  CircleLayerSpecification,
  ExpressionSpecification,
  FilterSpecification,
  FillLayerSpecification,
  LineLayerSpecification,
  Map as MapLibre,
  SymbolLayerSpecification,
} from 'maplibre-gl';

import { REGULAR, STRONG } from '../base-map/fonts.js';
import { PALETTES, type Theme, accentOf } from '../base-map/palette.js';

type Painted = CircleLayerSpecification | FillLayerSpecification | LineLayerSpecification | SymbolLayerSpecification;
/** A layer that still lacks its id and source; every opacity is a number, so that it can be faded. */
export type Sketch = Painted extends infer Each
  ? Each extends Painted
    ? Omit<Each, 'id' | 'source'> & { readonly name: string }
    : never
  : never;

/** Paints a layer anew, with what belongs to its type. */
export function paintLayer(map: MapLibre, id: string, paint: object | undefined): void {
  for (const [name, value] of Object.entries(paint ?? {})) {
    map.setPaintProperty(id, name as 'circle-color', value as string);
  }
}

/** Markers and clusters, lowest first. */
export function pointSketches(accentAt: number, theme: Theme): Sketch[] {
  const accent = accentOf(accentAt, theme);
  const { halo } = PALETTES[theme];
  const paper = theme === 'light' ? '#ffffff' : '#10161b';
  const ink = theme === 'light' ? '#2b3238' : '#e3e9ee';
  const isCluster: FilterSpecification = ['==', ['get', 'kind'], 'cluster'];
  const isMarker: FilterSpecification = ['!=', ['get', 'kind'], 'cluster'];
  return [
    {
      name: 'clusters',
      type: 'circle',
      filter: isCluster,
      layout: { 'circle-sort-key': ['get', 'count'] },
      paint: {
        'circle-color': accent,
        'circle-opacity': theme === 'light' ? 0.9 : 0.85,
        // Two digits fit into the least, and a million is three times as wide.
        'circle-radius': ['interpolate', ['linear'], ['get', 'size'], 0.3, 10, 6, 32],
        'circle-stroke-color': accent,
        'circle-stroke-width': ['interpolate', ['linear'], ['get', 'size'], 0.3, 3, 6, 8],
        'circle-stroke-opacity': 0.22,
      },
    },
    {
      name: 'counts',
      type: 'symbol',
      filter: isCluster,
      layout: {
        'text-field': ['get', 'text'],
        'text-font': [STRONG],
        'text-size': ['interpolate', ['linear'], ['get', 'size'], 0.3, 11, 5, 15],
        'text-allow-overlap': true,
        // Names of countries and places keep off the whole circle.
        'text-padding': 12,
      },
      paint: { 'text-color': paper, 'text-opacity': 1 },
    },
    {
      name: 'markers',
      type: 'circle',
      filter: isMarker,
      paint: {
        'circle-color': accent,
        'circle-opacity': 1,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 3, 4, 10, 6.5],
        'circle-stroke-color': paper,
        'circle-stroke-width': 1.6,
        'circle-stroke-opacity': 1,
      },
    },
    {
      name: 'names',
      type: 'symbol',
      filter: isMarker,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [REGULAR],
        'text-size': ['interpolate', ['linear'], ['zoom'], 4, 11, 12, 13.5],
        'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
        'text-radial-offset': 0.8,
        'text-justify': 'auto',
        'text-max-width': 9,
        'text-padding': 2,
        'symbol-sort-key': ['-', ['get', 'weight']],
      },
      paint: { 'text-color': ink, 'text-halo-color': halo, 'text-halo-width': 1.4, 'text-opacity': 1 },
    },
  ];
}

/** Cells of a heatmap: the more markers, the fuller the accent. */
export function cellSketches(accentAt: number, theme: Theme): Sketch[] {
  const accent = accentOf(accentAt, theme);
  const clear = (alpha: number): ExpressionSpecification => [
    'to-color',
    `${accent}${Math.round(alpha * 255)
      .toString(16)
      .padStart(2, '0')}`,
  ];
  return [
    {
      name: 'cells',
      type: 'fill',
      paint: {
        'fill-color': ['interpolate', ['linear'], ['get', 'shade'], 0, clear(0.06), 0.5, clear(0.32), 1, clear(0.92)],
        'fill-opacity': 1,
        'fill-antialias': false,
      },
    },
  ];
}

/** Outlines of zones with a light fill. */
export function zoneSketches(accentAt: number, theme: Theme): Sketch[] {
  const accent = accentOf(accentAt, theme);
  return [
    { name: 'zone-fill', type: 'fill', paint: { 'fill-color': accent, 'fill-opacity': 0.07 } },
    {
      name: 'zone-line',
      type: 'line',
      layout: { 'line-join': 'round' },
      paint: { 'line-color': accent, 'line-width': 1.4, 'line-opacity': 0.75 },
    },
  ];
}
