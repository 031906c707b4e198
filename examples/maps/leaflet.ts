// Cities as markers or clusters on a Leaflet map: pass the map's bounds to `createViewport`, and draw its state.

import 'leaflet/dist/leaflet.css';

import { createViewport } from 'cellport/client';
import { circleMarker, geoJSON, layerGroup, map as leaflet, type CircleMarker } from 'leaflet';

import { land } from './land.js';

const map = leaflet('map', { preferCanvas: true, minZoom: 2 });
geoJSON(land, {
  interactive: false,
  style: { color: '#c9c3b4', weight: 1, fillColor: '#f7f5f0', fillOpacity: 1 },
}).addTo(map);
const drawn = layerGroup().addTo(map);

// Leaflet draws each circle once: unwrapped, those beyond the antimeridian are where the user looks.
const viewport = createViewport({ url: '/graphql', collection: 'cities', unwrap: true });

viewport.subscribe(({ clusters, markers }) => {
  drawn.clearLayers();
  const add = (circle: CircleMarker) => void circle.addTo(drawn);
  for (const cluster of clusters) {
    const { position, count } = cluster;
    const radius = 4 + 3 * Math.log(count);
    const circle = circleMarker(position, { radius, stroke: false, fillColor: '#2563eb', fillOpacity: 0.75 });
    add(circle.bindTooltip(`${count} cities`));
    circle.on(
      'click',
      () => void viewport.expand(cluster).then(({ zoom }) => map.flyTo(position, Math.min(zoom + 1, 18))),
    );
  }
  for (const { position, name } of markers) {
    const circle = circleMarker(position, {
      radius: 5,
      color: '#fff',
      weight: 1.5,
      fillColor: '#dc2626',
      fillOpacity: 1,
    });
    // As a string, it would be HTML.
    add(circle.bindPopup(Object.assign(document.createElement('span'), { textContent: name })));
  }
});

map.on('move', () => {
  const bounds = map.getBounds();
  const edges = { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() };
  // Leaflet's world is 256 px wide at zoom 0, Cellport's 512.
  viewport.view(edges, map.getZoom() - 1);
});
map.setView([50, 10], 5);
