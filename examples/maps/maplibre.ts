// Cities as markers or clusters on a MapLibre map. The source follows the map; layers draw it.

import 'maplibre-gl/dist/maplibre-gl.css';

import { viewportSource } from 'cellport/client';
import { Map as MapLibre, Popup, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';

import { land } from './land.js';

setWorkerUrl(new URL(workerUrl, location.href).href);

const map = new MapLibre({
  container: 'map',
  center: [10, 50],
  zoom: 4,
  style: {
    version: 8,
    sources: { land: { type: 'geojson', data: land } },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-color': '#dbe7ee' } },
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': '#f7f5f0' } },
    ],
  },
});

map.on('load', () => {
  const { id, viewport } = viewportSource(map, { url: '/graphql', collection: 'cities' });

  map.addLayer({
    id: 'clusters',
    type: 'circle',
    source: id,
    filter: ['==', ['get', 'kind'], 'cluster'],
    paint: {
      'circle-color': '#2563eb',
      'circle-opacity': 0.75,
      'circle-radius': ['interpolate', ['linear'], ['ln', ['get', 'count']], 0, 4, 8, 28],
    },
  });
  map.addLayer({
    id: 'clusters-count',
    type: 'symbol',
    source: id,
    filter: ['>', ['coalesce', ['get', 'count'], 0], 1],
    layout: { 'text-field': ['to-string', ['get', 'count']], 'text-font': ['sans-serif'], 'text-size': 12 },
    paint: { 'text-color': '#fff' },
  });
  map.addLayer({
    id: 'markers',
    type: 'circle',
    source: id,
    filter: ['==', ['get', 'kind'], 'marker'],
    paint: { 'circle-color': '#dc2626', 'circle-radius': 5, 'circle-stroke-color': '#fff', 'circle-stroke-width': 1.5 },
  });

  map.on('click', 'clusters', ({ features: [feature] = [], lngLat }) => {
    const cluster = viewport.state.clusters.find(({ geohashes }) => geohashes[0] === feature?.properties['id']);
    if (!cluster) return;
    void viewport.expand(cluster).then(({ zoom }) => map.flyTo({ center: lngLat, zoom: Math.min(zoom, 18) }));
  });
  map.on('click', 'markers', ({ features: [feature] = [], lngLat }) => {
    new Popup().setLngLat(lngLat).setText(String(feature?.properties['name'])).addTo(map);
  });
});
