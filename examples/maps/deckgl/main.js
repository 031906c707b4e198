// Heatmap cells as columns on a deck.gl map: the more cities in a cell, the higher and brighter its column.

import { Deck, MapView, WebMercatorViewport } from '@deck.gl/core';
import { PolygonLayer } from '@deck.gl/layers';
import { createViewport } from 'cellport/client';

const viewport = createViewport({ url: '/graphql', collection: 'cities', content: 'cells' });

const corners = ({ west, south, east, north }) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
];

const layersOf = ({ cells }) => [
  new PolygonLayer({
    id: 'cells',
    data: cells,
    extruded: true,
    getPolygon: ({ bounds }) => corners(bounds),
    getElevation: ({ count, precision }) => (Math.log(1 + count) * 150_000) / 2 ** (2 * (precision - 2)),
    getFillColor: ({ count }) => [80 + Math.min(175, 20 * Math.log(1 + count)), 140, 255, 190],
  }),
];

const deck = new Deck({
  views: new MapView({ repeat: true }),
  initialViewState: { longitude: 10, latitude: 48, zoom: 4, pitch: 40 },
  controller: true,
  layers: [],
  onViewStateChange: ({ viewState }) => show(viewState),
});

/** Passes the map's bounds to the viewport. deck.gl and Cellport count zoom in the same way. */
function show(viewState) {
  const shown = new WebMercatorViewport({ ...viewState, width: innerWidth, height: innerHeight });
  const [west, south, east, north] = shown.getBounds();
  viewport.view({ west, south, east, north }, viewState.zoom);
}

viewport.subscribe((state) => deck.setProps({ layers: layersOf(state) }));
show({ longitude: 10, latitude: 48, zoom: 4, pitch: 40 });
