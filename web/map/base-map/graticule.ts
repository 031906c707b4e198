import type { FeatureCollection } from 'geojson';
import type { GeoJSONSource, LayerSpecification, Map as MapLibre } from 'maplibre-gl';

import { REGULAR } from './fonts.js';
import type { Palette } from './palette.js';

export const GRATICULE = 'graticule';
export const noLines: FeatureCollection = { type: 'FeatureCollection', features: [] };

/** Degrees between lines: the smallest step with at least `MIN_SPACING` px between two meridians is used. */
const STEPS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const MIN_SPACING = 180;
/** The graticule appears where the screen may show too few coasts and borders for orientation. */
const MIN_ZOOM = 6;
const MAX_LAT = 85;

/** Lines of latitude and longitude, labeled with their degrees. */
export function graticuleLayers(palette: Palette): LayerSpecification[] {
  const shown = (opacity: number) => ['interpolate', ['linear'], ['zoom'], MIN_ZOOM, 0, MIN_ZOOM + 1.5, opacity];
  return [
    {
      id: 'graticule',
      source: GRATICULE,
      type: 'line',
      minzoom: MIN_ZOOM,
      paint: { 'line-color': palette.grid, 'line-width': 0.7, 'line-opacity': shown(0.55) as never },
    },
    {
      id: 'graticule-degrees',
      source: GRATICULE,
      type: 'symbol',
      minzoom: MIN_ZOOM,
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 420,
        'text-field': ['get', 'degrees'],
        'text-font': [REGULAR],
        'text-size': 10,
        'text-offset': [0, -0.7],
      },
      paint: {
        'text-color': palette.label,
        'text-halo-color': palette.halo,
        'text-halo-width': 1,
        'text-opacity': shown(0.75) as never,
      },
    },
  ];
}

const places = (step: number) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
const degrees = (value: number, step: number, [positive, negative]: readonly [string, string]) =>
  `${Math.abs(value).toFixed(places(step))}° ${value < 0 ? negative : positive}`;

/** Multiples of a step that cover the range between two numbers. */
function multiples(from: number, to: number, step: number): number[] {
  const first = Math.floor(from / step);
  return Array.from({ length: Math.ceil(to / step) - first + 1 }, (_, at) => (first + at) * step);
}

function lines(map: MapLibre): FeatureCollection {
  const zoom = map.getZoom();
  if (zoom < MIN_ZOOM) return noLines;
  const pxPerDegree = (512 * 2 ** zoom) / 360;
  const step = STEPS.find((each) => each * pxPerDegree >= MIN_SPACING) ?? 10;
  const bounds = map.getBounds();
  const [west, east] = [bounds.getWest() - step, bounds.getEast() + step];
  const south = Math.max(-MAX_LAT, bounds.getSouth() - step);
  const north = Math.min(MAX_LAT, bounds.getNorth() + step);
  const line = (coordinates: number[][], text: string) => ({
    type: 'Feature' as const,
    geometry: { type: 'LineString' as const, coordinates },
    properties: { degrees: text },
  });
  const wrapped = (lng: number) => ((((lng + 180) % 360) + 360) % 360) - 180;
  return {
    type: 'FeatureCollection',
    features: [
      ...multiples(west, east, step).map(
        (lng) =>
        line([[lng, south], [lng, north]], degrees(wrapped(lng), step, ['E', 'W'])), // prettier-ignore
      ),
      ...multiples(south, north, step).map(
        (lat) =>
        line([[west, lat], [east, lat]], degrees(lat, step, ['N', 'S'])), // prettier-ignore
      ),
    ],
  };
}

/** Draws the graticule and updates it when the map moves. */
export function addGraticule(map: MapLibre): void {
  const draw = () => void map.getSource<GeoJSONSource>(GRATICULE)?.setData(lines(map));
  map.on('moveend', draw);
  draw();
}
