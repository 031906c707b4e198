import {
  AttributionControl,
  LngLat,
  Map as MapLibre,
  MercatorCoordinate,
  ScaleControl,
  setWorkerUrl,
  type TransformConstrainFunction,
} from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';

import { MIN_ZOOM, type PageState } from '../address/url-hash.js';
import { addGraticule } from '../base-map/graticule.js';
import { sayWhatIsMissing, sayWhereItEnds, showNote } from '../base-map/note.js';
import type { OwnBase } from '../base-map/own-base.js';
import type { Theme } from '../base-map/palette.js';
import { paintLayer } from '../base-map/sketch.js';
import { baseLayers, baseStyle } from '../base-map/style.js';
import { byId } from '../dom/element.js';

// MapLibre looks for its worker next to its own file, which has another name in the build.
setWorkerUrl(new URL(workerUrl, location.href).href);

/** Edge of the world at zoom 0, in px. */
const WORLD_PX = 512;

/**
 * Lets the map be zoomed out until the world fits the shorter edge of the screen. By default, MapLibre keeps it higher
 * than the screen, of which a phone then shows half. The world can be moved up and down as long as it stays in view.
 */
const withinWorld: TransformConstrainFunction = ({ lng, lat }, wanted) => {
  const { clientWidth: width, clientHeight: height } = byId('map');
  const zoom = Math.max(wanted, Math.log2(Math.min(width, height) / WORLD_PX));
  const half = height / 2 / (WORLD_PX * 2 ** zoom);
  const [from, to] = half < 0.5 ? [half, 1 - half] : [1 - half, half];
  const y = Math.min(Math.max(MercatorCoordinate.fromLngLat([lng, lat]).y, from), to);
  return { center: new LngLat(lng, new MercatorCoordinate(0, y).toLngLat().lat), zoom };
};

/** The base map's layers in a theme, if it has themes. */
let layersOf: OwnBase['layersOf'] = baseLayers;

/**
 * Reads the base map of CELLPORT_STYLE_URL, which the server writes into the page; undefined if there is none or it
 * cannot be read.
 */
async function readOwnBase(theme: Theme): Promise<OwnBase | undefined> {
  const url = document.querySelector<HTMLMetaElement>('meta[name="cellport-style"]')?.content;
  if (url === undefined) return undefined;
  try {
    return await (await import('../base-map/own-base.js')).readOwnBase(url, theme);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    showNote(`Could not load the base map of CELLPORT_STYLE_URL (${message}). Using the built-in one.`);
    return undefined;
  }
}

/** Opens a map with only the base map; resolves once it has loaded. */
export async function openMap(theme: Theme, at: PageState['at'], still: boolean): Promise<MapLibre> {
  const own = await readOwnBase(theme);
  if (own) layersOf = own.layersOf;
  const map = new MapLibre({
    container: 'map',
    style: own?.style ?? baseStyle(theme),
    center: at ?? [12, 28],
    zoom: at?.zoom ?? Math.min(1.4, Math.log2(innerWidth / WORLD_PX)),
    minZoom: MIN_ZOOM,
    maxZoom: 20,
    pitchWithRotate: false,
    dragRotate: false,
    touchPitch: false,
    attributionControl: false,
    transformConstrain: withinWorld,
    fadeDuration: still ? 0 : 250,
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(
    // Not repeated beside the built-in base map, whose attribution contains it: one line fits a phone.
    new AttributionControl({ compact: innerWidth < 720, customAttribution: 'GeoNames (CC BY 4.0)' }),
    'bottom-right',
  );
  map.addControl(new ScaleControl({ maxWidth: 110 }), 'bottom-right');
  // A missing font only leaves a gap. Errors of data requests are reported where they occur.
  map.on('error', ({ error }) => console.warn(error.message));
  sayWhatIsMissing(map);
  await map.once('load');
  if (own) return map;
  addGraticule(map);
  sayWhereItEnds(map);
  return map;
}

/** Repaints the base map in another theme. */
export function repaintBase(map: MapLibre, theme: Theme): void {
  for (const { id, paint } of layersOf(theme)) paintLayer(map, id, paint);
}
