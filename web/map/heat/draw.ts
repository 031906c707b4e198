import type { Feature, FeatureCollection } from 'geojson';
import type { DataDrivenPropertyValueSpecification, ExpressionSpecification } from 'maplibre-gl';

import { ringOf } from '../../../src/client/geojson.js';
import type { MapCell } from '../../../src/client/public.js';
import { BELOW_NAMES } from '../base-map/names.js';
import { accentOf, type Theme } from '../base-map/palette.js';
import type { Sketch } from '../base-map/sketch.js';
import { deviationOf, WORLD_PX } from './kernel.js';
import { shareOf, valueOfShare, type Scale } from './scale.js';

/** MapLibre's kernel of radius 1 has a standard deviation of a third and this height. */
const RADII = 3;
const HEIGHT = 1 / Math.sqrt(2 * Math.PI);

/** Opacity by share of the scale. */
const OPACITIES = [0, 0.18, 0.34, 0.5, 0.64, 0.76, 0.86, 0.92] as const;
/** How far the strongest color is mixed with black on a light map, or with white on a dark one. */
const DEEPEST = { light: 0.62, dark: 0.7 };

/** The color for a share of the scale, 0 to 1. */
function colorAt(share: number, accent: number, theme: Theme): string {
  const at = share * (OPACITIES.length - 1);
  const [low = 0, high = low] = OPACITIES.slice(Math.floor(at), Math.floor(at) + 2);
  const opacity = low + (high - low) * (at - Math.floor(at));
  const deep = DEEPEST[theme] * Math.max(0, 2 * share - 1);
  const end = theme === 'light' ? 0 : 255;
  const hex = accentOf(accent, theme);
  const channels = [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16));
  const mixed = channels.map((channel) => Math.round(channel + (end - channel) * deep));
  return `rgba(${[...mixed, opacity.toFixed(3)].join(',')})`;
}

const STEPS = 16;
const shares = Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS);

/** The scale as a CSS background for the legend, from zero to the top. */
export const gradientOf = (accent: number, theme: Theme): string =>
  `linear-gradient(to right, ${shares.map((share) => colorAt(share, accent, theme)).join(', ')})`;

/** Layers for a heatmap. */
export function heatSketches(accent: number, theme: Theme): Sketch[] {
  const stops = shares.flatMap((share) => [valueOfShare(share), colorAt(share, accent, theme)]);
  const radius = (zoom: number) => [zoom, ['*', 2 ** zoom, ['get', 'reach']]] as const;
  return [
    {
      name: 'heat',
      before: BELOW_NAMES,
      type: 'heatmap',
      paint: {
        'heatmap-weight': ['get', 'weight'],
        'heatmap-radius': [
          'interpolate',
          ['exponential', 2],
          ['zoom'],
          ...radius(-2),
          ...radius(24),
        ] as unknown as DataDrivenPropertyValueSpecification<number>,
        'heatmap-color': [
          'interpolate',
          ['linear'],
          ['heatmap-density'],
          ...stops,
        ] as unknown as ExpressionSpecification,
        'heatmap-opacity': 1,
      },
    },
  ];
}

/** Layers for the cells themselves, in the colors of the heatmap. */
export function cellSketches(accent: number, theme: Theme): Sketch[] {
  const stops = shares.flatMap((share) => [share, colorAt(share, accent, theme)]);
  return [
    {
      name: 'cells',
      before: BELOW_NAMES,
      type: 'fill',
      paint: {
        'fill-color': ['interpolate', ['linear'], ['get', 'share'], ...stops] as unknown as ExpressionSpecification,
        'fill-opacity': 1,
        'fill-antialias': false,
      },
    },
  ];
}

/** Cells as features for both kinds of layers: a kernel at the centroid, or the cell itself. */
export function heatFeatures(cells: readonly MapCell[], { top }: Scale, as: 'heat' | 'cells'): FeatureCollection {
  const feature = (cell: MapCell): Feature =>
    as === 'heat'
      ? {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [cell.centroid.lng, cell.centroid.lat] },
          properties: { weight: cell.count / top / HEIGHT, reach: RADII * deviationOf(cell) * WORLD_PX },
        }
      : {
          type: 'Feature',
          geometry: { type: 'Polygon', coordinates: [ringOf(cell.bounds)] },
          properties: { share: shareOf(cell.count, top) },
        };
  return { type: 'FeatureCollection', features: cells.map(feature) };
}
