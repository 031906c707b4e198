// A map with only Explain on it, for its tests.

import { Map as MapLibre, setWorkerUrl, type GeoJSONSource } from 'maplibre-gl';

import 'maplibre-gl/dist/maplibre-gl.css';

import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';

import { createViewport, type Answer, type MapMarker } from '../../../src/client/public.js';
import { createExplain } from '../../../web/map/explain/explain.js';

setWorkerUrl(new URL(workerUrl, location.href).href);

const place = document.querySelector<HTMLElement>('#explain');
if (place === null) throw new Error('the page has lost its place for Explain');
const map = new MapLibre({
  container: 'map',
  style: {
    version: 8,
    sources: {},
    layers: [{ id: 'sea', type: 'background', paint: { 'background-color': '#eee' } }],
  },
  center: [8, 47.5],
  zoom: 7,
  fadeDuration: 0,
});
await map.once('load');
const explain = createExplain(map, place);
explain.setVisible(true);

const answers: { readonly answer: Answer; readonly shown: number; readonly markers: readonly MapMarker[] }[] = [];
const viewport = createViewport({ url: '/graphql', collection: 'parks', explain: true, live: false });
viewport.subscribe(({ answer, markers, clusters }) => {
  if (answer === null || answer === answers.at(-1)?.answer) return;
  const shown = markers.length + clusters.length;
  answers.push({ answer, shown, markers });
  explain.record(answer, { shown, markers });
});
const view = () => {
  const bounds = map.getBounds();
  const [west, east] = [bounds.getWest(), bounds.getEast()];
  viewport.view({ west, south: bounds.getSouth(), east, north: bounds.getNorth() }, map.getZoom());
};
map.on('move', view);
view();

// Read by the tests.
Object.assign(globalThis, {
  tested: {
    map,
    answers,
    explain,
    drawn: () => map.getSource<GeoJSONSource>('explain-ranges')?.getData(),
  },
});
