import { AttributionControl, Map as MapLibre, ScaleControl, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';

import { baseLayers, baseStyle } from './base-map/style.js';
import { followWithGraticule } from './base-map/graticule.js';
import type { Theme } from './base-map/palette.js';
import { paintLayer } from './layers/paint.js';
import type { PageState } from './url-hash.js';

// By itself MapLibre looks for its worker beside its own file, whose name is another one once it is built.
setWorkerUrl(new URL(workerUrl, location.href).href);

/** The map with nothing on it but the base map, once it is ready. */
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
  // Tiles and fonts that do not come leave a gap and no more; what matters is told by those who ask for data.
  map.on('error', ({ error }) => console.warn(error.message));
  await map.once('load');
  followWithGraticule(map);
  return map;
}

/** Paints the base map in a theme. */
export function repaintBase(map: MapLibre, theme: Theme): void {
  for (const { id, paint } of baseLayers(theme)) paintLayer(map, id, paint);
}
