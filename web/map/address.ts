import type { Map as MapLibre } from 'maplibre-gl';

import { type PageState, readHash, writeHash } from './url-hash.js';

export interface Address {
  /** Updates the address. With `step`, the back button returns to the previous state. */
  write(how?: 'step'): void;
}

/** Keeps the page's state in its address, and follows the address when it changes. */
export function keepAddress(map: MapLibre, now: () => PageState, go: (state: PageState) => void): Address {
  let written = location.hash;
  let stepping = false;
  const write = (how?: 'step') => {
    const { lng, lat } = map.getCenter();
    const hash = writeHash({ ...now(), at: { zoom: map.getZoom(), lat, lng } });
    // A step whose address has not changed yet takes effect with the next change, when the map has come to rest.
    stepping ||= how === 'step';
    if (hash === written) return;
    written = hash;
    if (stepping) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
    stepping = false;
  };
  globalThis.addEventListener('popstate', () => {
    if (location.hash === written) return;
    written = location.hash;
    go(readHash(location.hash));
  });
  return { write };
}
