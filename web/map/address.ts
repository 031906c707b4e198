import type { Map as MapLibre } from 'maplibre-gl';

import { type PageState, readHash, writeHash } from './url-hash.js';

export interface Address {
  /** Keeps the address true. With `step`, the way back leads to what was there before. */
  write(how?: 'step'): void;
}

/** Keeps what the page shows in its address, and goes where the address says. */
export function keepAddress(map: MapLibre, now: () => PageState, go: (state: PageState) => void): Address {
  let written = location.hash;
  let stepping = false;
  const write = (how?: 'step') => {
    const { lng, lat } = map.getCenter();
    const hash = writeHash({ ...now(), at: { zoom: map.getZoom(), lat, lng } });
    // A step that begins where the page is leads to wherever it comes to rest.
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
