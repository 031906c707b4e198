import { Marker, type Map as MapLibre } from 'maplibre-gl';

import { element } from '../dom/element.js';
import type { Status } from '../dom/status.js';

/** Width in meters of 512 px at zoom 0. */
const WORLD_M = 40_075_017;
const CLOSEST = 15;
const MESSAGES: Readonly<Record<number, string>> = {
  1: "The browser is not allowed to share your position. Allow it in the browser's settings for this page.",
  2: 'Your position is unavailable.',
  3: 'Could not determine your position in time.',
};

/** Browsers share the position only with pages served over HTTPS or from this machine. */
export const canLocate = isSecureContext && 'geolocation' in navigator;

/** Returns a function that asks the browser for the user's position, flies there and marks it with a dot. */
export function createLocate(map: MapLibre, status: Status): () => void {
  const dot = new Marker({ element: element('div', { class: 'here', role: 'img', 'aria-label': 'Your position' }) });
  return () =>
    navigator.geolocation.getCurrentPosition(
      ({ coords: { longitude: lng, latitude: lat, accuracy } }) => {
        dot.setLngLat([lng, lat]).addTo(map);
        // Fits the circle of its accuracy on the screen.
        const zoom = Math.log2((WORLD_M * Math.cos((lat * Math.PI) / 180)) / Math.max(accuracy, 1) / 2);
        map.flyTo({ center: [lng, lat], zoom: Math.max(1, Math.min(CLOSEST, zoom)) });
      },
      ({ code }) => status.show(MESSAGES[code] ?? 'Your position is unavailable.'),
      { timeout: 20_000, maximumAge: 60_000 },
    );
}
