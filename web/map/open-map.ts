import { AttributionControl, Map as MapLibre, ScaleControl, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';

import { baseLayers, baseStyle } from './base-map/style.js';
import { addGraticule } from './base-map/graticule.js';
import type { Theme } from './base-map/palette.js';
import { paintLayer } from './layers/paint.js';
import type { PageState } from './url-hash.js';

// MapLibre looks for its worker beside its own file, which has another name in the build.
setWorkerUrl(new URL(workerUrl, location.href).href);

/** Opens a map with only the base map on it. Resolves once it has loaded. */
export async function openMap(theme: Theme, at: PageState['at'], still: boolean): Promise<MapLibre> {
  const map = new MapLibre({
    container: 'map',
    style: baseStyle(theme),
    center: at ?? [12, 28],
    zoom: at?.zoom ?? 1.4,
    minZoom: 0.6,
    maxZoom: 20,
    pitchWithRotate: false,
    dragRotate: false,
    touchPitch: false,
    attributionControl: false,
    fadeDuration: still ? 0 : 250,
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new AttributionControl({ compact: innerWidth < 720 }), 'bottom-right');
  map.addControl(new ScaleControl({ maxWidth: 110 }), 'bottom-right');
  // A missing tile or font only leaves a gap. Errors of data requests are reported where they are made.
  map.on('error', ({ error }) => console.warn(error.message));
  await map.once('load');
  addGraticule(map);
  return map;
}

/** Repaints the base map in a theme. */
export function repaintBase(map: MapLibre, theme: Theme): void {
  for (const { id, paint } of baseLayers(theme)) paintLayer(map, id, paint);
}
