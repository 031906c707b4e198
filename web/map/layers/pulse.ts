import { type Map as MapLibre, Marker } from 'maplibre-gl';

import { element } from '../element.js';

const LASTS_MS = 1_400;
/** More at once than anybody can look at are left out: an import would set the map on fire. */
const AT_ONCE = 12;

/** Draws a ring around a place for a moment: something changed there. */
export function createPulse(map: MapLibre): (position: { readonly lng: number; readonly lat: number }) => void {
  let shown = 0;
  return ({ lng, lat }) => {
    if (shown >= AT_ONCE) return;
    shown += 1;
    const ring = element('div', { class: 'pulse', 'aria-hidden': 'true' }, element('i'));
    const marker = new Marker({ element: ring }).setLngLat([lng, lat]).addTo(map);
    setTimeout(() => {
      marker.remove();
      shown -= 1;
    }, LASTS_MS);
  };
}
