import type { LayerSpecification } from 'maplibre-gl';

import { REGULAR } from './fonts.js';
import { APPEARED } from './ground.js';
import type { Palette } from './palette.js';

/** A layer without content, above the ground and below all names: areas are drawn below it. */
export const BELOW_NAMES = 'below-names';
export const belowNames: LayerSpecification = {
  id: BELOW_NAMES,
  type: 'background',
  layout: { visibility: 'none' },
};

/**
 * A layer without content, above all collections and below the room that their clusters take up. MapLibre places the
 * text of upper layers first, so names keep off the clusters of every collection, not only of those above their own.
 */
export const BELOW_ROOMS = 'below-rooms';
export const belowRooms: LayerSpecification = { ...belowNames, id: BELOW_ROOMS };

const base = { source: 'base', type: 'symbol' } as const;
/** Names of countries are hidden beyond this zoom, where a name in the middle of a country is of no help. */
const COUNTRIES_TO_ZOOM = 9;

/**
 * Where a country's name may be placed: in its middle, or above or below whatever is there, such as a cluster, or on
 * large scales beside it. Offsets are in ems of the name.
 */
const ABOVE_OR_BELOW = ['center', [0, 0], ...[1.2, 2, 2.8].flatMap((far) => ['bottom', [0, -far], 'top', [0, far]])];
const BESIDE = ['left', [2, 0], 'right', [-2, 0]];
const BESIDE_FROM_ZOOM = 4;

/** Layers for the names of countries and places, bottom first: upper ones are placed before lower ones. */
export function nameLayers(palette: Palette): LayerSpecification[] {
  return [
    belowNames,
    {
      ...base,
      id: 'place-names',
      'source-layer': 'places',
      filter: APPEARED,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [REGULAR],
        'text-size': ['interpolate', ['linear'], ['zoom'], 3, 10, 7, 12, 12, 14],
        'text-max-width': 8,
        // Beside the marker that a collection may have there.
        'text-variable-anchor': ['top', 'bottom'],
        'text-radial-offset': 0.5,
        // Away from a marker of the same place, whose name is beside it.
        'text-padding': 10,
        'symbol-sort-key': ['get', 'rank'],
      },
      paint: { 'text-color': palette.place, 'text-halo-color': palette.halo, 'text-halo-width': 1.2 },
    },
    {
      ...base,
      id: 'country-names',
      'source-layer': 'countries',
      maxzoom: COUNTRIES_TO_ZOOM,
      filter: APPEARED,
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
        'text-padding': 4,
        'text-variable-anchor-offset': [
          'step',
          ['zoom'],
          ['literal', ABOVE_OR_BELOW],
          BESIDE_FROM_ZOOM,
          ['literal', [...ABOVE_OR_BELOW, ...BESIDE]],
        ],
        'symbol-sort-key': ['-', ['get', 'room']],
      },
      paint: {
        'text-color': palette.label,
        'text-halo-color': palette.halo,
        'text-halo-width': 1.2,
        'text-opacity': ['interpolate', ['linear'], ['zoom'], COUNTRIES_TO_ZOOM - 1, 0.95, COUNTRIES_TO_ZOOM, 0],
      },
    },
  ];
}
