import type { Feature, FeatureCollection } from 'geojson';
import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
  Subscription,
  SymbolLayerSpecification,
} from 'maplibre-gl';

import { ringOf } from '../../../src/client/geojson.js';
import { outlineOf } from './cells.js';
import { labelsOf } from './range-labels.js';
import type { Shape, ViewCost } from './view-cost.js';

/** Colors of the current theme. */
export interface Colors {
  readonly read: string;
  readonly cached: string;
  readonly requested: string;
  readonly halo: string;
}

/** The key ranges and pages, drawn on the map. */
export interface RangeLayers {
  draw(shapes: readonly Shape[], regions: ViewCost['regions']): void;
  /** Highlights these shapes only. */
  highlight(ids: readonly number[]): void;
  repaint(): void;
  remove(): void;
}

const RANGES = 'explain-ranges';
const LABELS = 'explain-labels';
const FILL = 'explain-fill';
/** The page's layer below all names; without it, the first layer with text. */
const NAMES = 'below-names';
type Font = NonNullable<NonNullable<SymbolLayerSpecification['layout']>['text-font']>;

const collection = (features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features });

/** The outline of a shape, and its cells as lines. */
function featuresOf({ id, cells, cached }: Shape): Feature[] {
  const properties = { id, cached };
  return [
    {
      type: 'Feature',
      geometry: { type: 'MultiPolygon', coordinates: outlineOf(cells).map((outline) => [outline]) },
      properties: { ...properties, kind: 'range' },
    },
    {
      type: 'Feature',
      geometry: { type: 'MultiLineString', coordinates: cells.map(ringOf) },
      properties: { ...properties, kind: 'cells' },
    },
  ];
}

const areaOf = ({ cells }: Shape) =>
  cells.reduce((sum, { west, south, east, north }) => sum + (east - west) * (north - south), 0);

function layers({ read, cached, requested, halo }: Colors, font: Font | undefined): LayerSpecification[] {
  const isCached: ExpressionSpecification = ['get', 'cached'];
  const color: ExpressionSpecification = ['case', isCached, cached, read];
  const isOn: ExpressionSpecification = ['boolean', ['feature-state', 'on'], false];
  const of = (kind: string, and?: ExpressionSpecification): ExpressionSpecification => [
    'all',
    ['==', ['get', 'kind'], kind],
    ...(and ? [and] : []),
  ];
  const outline = (width: number): ExpressionSpecification => ['case', isOn, width + 2, width];
  return [
    {
      id: FILL,
      source: RANGES,
      type: 'fill',
      filter: of('range'),
      paint: {
        'fill-color': color,
        'fill-opacity': ['case', isOn, 0.3, isCached, 0.055, 0.11],
        'fill-antialias': false,
      },
    },
    {
      id: 'explain-cells',
      source: RANGES,
      type: 'line',
      filter: of('cells'),
      paint: { 'line-color': color, 'line-width': 0.6, 'line-opacity': ['case', isOn, 0.7, 0.32] },
    },
    {
      id: 'explain-requested',
      source: RANGES,
      type: 'line',
      filter: of('requested'),
      paint: { 'line-color': requested, 'line-width': 1, 'line-opacity': 0.55, 'line-dasharray': [2, 3] },
    },
    {
      id: 'explain-cached',
      source: RANGES,
      type: 'line',
      filter: of('range', isCached),
      layout: { 'line-join': 'miter' },
      paint: { 'line-color': cached, 'line-width': outline(1.6), 'line-dasharray': [3.5, 2] },
    },
    {
      id: 'explain-read',
      source: RANGES,
      type: 'line',
      filter: of('range', ['!', isCached]),
      layout: { 'line-join': 'miter' },
      paint: { 'line-color': read, 'line-width': outline(1.9) },
    },
    ...(font === undefined
      ? []
      : [
          {
            id: LABELS,
            source: LABELS,
            type: 'symbol' as const,
            layout: {
              'text-field': ['get', 'text'],
              'text-font': font,
              'text-size': 11,
              'text-anchor': ['get', 'anchor'],
              'text-offset': ['get', 'offset'],
              'text-padding': 1,
              'symbol-sort-key': ['get', 'order'],
            },
            paint: { 'text-color': color, 'text-halo-color': halo, 'text-halo-width': 1.6 },
          } satisfies LayerSpecification,
        ]),
  ];
}

/** Draws ranges on a map whose style is loaded. `onPoint` gets the ID of the range under the pointer. */
export function createRangeLayers(
  map: MapLibre,
  colors: () => Colors,
  onPoint: (id: number | undefined) => void,
): RangeLayers {
  let drawn: readonly Shape[] = [];
  let lit: readonly number[] = [];
  let following: readonly Subscription[] = [];

  const source = (id: string) => map.getSource<GeoJSONSource>(id);
  const ids = () => layers(colors(), []).map(({ id }) => id);

  function ensure(): void {
    if (source(RANGES)) return;
    map.addSource(RANGES, { type: 'geojson', data: collection([]), promoteId: 'id', tolerance: 0 });
    map.addSource(LABELS, { type: 'geojson', data: collection([]) });
    const symbols = map.getStyle().layers.filter((layer) => layer.type === 'symbol');
    const font = symbols.find((layer) => layer.layout?.['text-font'] !== undefined)?.layout?.['text-font'];
    for (const layer of layers(colors(), font)) map.addLayer(layer);
    following = [map.on('mousemove', FILL, point), map.on('mouseleave', FILL, leave), map.on('moveend', drawLabels)];
  }

  /** Moves the ranges above all other layers, except those with text. */
  function lift(): void {
    const { layers: all } = map.getStyle();
    const names = all.find(({ id }) => id === NAMES) ?? all.find(({ id, type }) => type === 'symbol' && id !== LABELS);
    for (const id of ids()) if (map.getLayer(id)) map.moveLayer(id, id === LABELS ? undefined : names?.id);
  }

  function drawLabels(): void {
    void source(LABELS)?.setData(collection(labelsOf(map, drawn)));
  }

  const point = ({ features = [] }: { readonly features?: readonly Pick<Feature, 'properties'>[] }) =>
    onPoint(features[0]?.properties?.['id'] as number | undefined);
  const leave = () => onPoint(undefined);

  const api: RangeLayers = {
    draw(shapes, regions) {
      ensure();
      lift();
      api.highlight([]);
      drawn = shapes;
      // Small ranges above large ones, so that the pointer reaches all of them.
      const ordered = shapes.toSorted((a, b) => areaOf(b) - areaOf(a));
      const requested = regions.map((region) => ({
        type: 'Feature' as const,
        geometry: { type: 'LineString' as const, coordinates: ringOf(region) },
        properties: { kind: 'requested' },
      }));
      void source(RANGES)?.setData(collection([...ordered.flatMap(featuresOf), ...requested]));
      drawLabels();
    },
    highlight(these) {
      if (!source(RANGES)) return;
      for (const id of lit) map.setFeatureState({ source: RANGES, id }, { on: false });
      lit = these;
      for (const id of lit) map.setFeatureState({ source: RANGES, id }, { on: true });
    },
    repaint() {
      for (const { id, paint = {} } of layers(colors(), [])) {
        if (!map.getLayer(id)) continue;
        for (const [name, value] of Object.entries(paint)) map.setPaintProperty(id, name as never, value as never);
      }
    },
    remove() {
      if (!source(RANGES)) return;
      for (const each of following) each.unsubscribe();
      for (const id of ids()) if (map.getLayer(id)) map.removeLayer(id);
      for (const id of [RANGES, LABELS]) map.removeSource(id);
      lit = [];
    },
  };
  return api;
}
