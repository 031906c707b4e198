import { Marker, type Map as MapLibre } from 'maplibre-gl';

import { element } from '../dom/element.js';

const DURATION_MS = 1_400;
/** Maximum number of rings at once: an import would fill the map with them. */
const MAX_AT_ONCE = 12;

/** Returns a function that briefly draws a ring around a position where something has changed. */
export function createPulse(map: MapLibre): (position: { readonly lng: number; readonly lat: number }) => void {
  let shown = 0;
  return ({ lng, lat }) => {
    if (shown >= MAX_AT_ONCE) return;
    shown += 1;
    const ring = element('div', { class: 'pulse', 'aria-hidden': 'true' }, element('i'));
    const marker = new Marker({ element: ring }).setLngLat([lng, lat]).addTo(map);
    setTimeout(() => {
      marker.remove();
      shown -= 1;
    }, DURATION_MS);
  };
}
