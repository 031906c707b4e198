import type { Map as MapLibre } from 'maplibre-gl';

import { readHash, writeHash, type PageState } from './url-hash.js';

export interface Address {
  /**
   * Updates the page's address. After a `step`, the back button returns to the previous state; `coming` makes the next
   * change a step, once the map has come to rest.
   */
  write(how?: 'step' | 'coming'): void;
  /** Runs a function without creating steps. */
  withoutSteps(run: () => void): void;
}

/** Keeps the page's state in its address, and follows the address when it changes. */
export function keepAddress(map: MapLibre, now: () => PageState, go: (state: PageState) => void): Address {
  let written = location.hash;
  let isComing = false;
  let hasSteps = true;
  const write: Address['write'] = (how) => {
    const { lng, lat } = map.getCenter();
    const hash = writeHash({ ...now(), at: { zoom: map.getZoom(), lat, lng } });
    isComing ||= how === 'coming';
    if (hash === written) return;
    written = hash;
    if (hasSteps && (isComing || how === 'step')) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
    isComing = false;
  };
  globalThis.addEventListener('popstate', () => {
    if (location.hash === written) return;
    written = location.hash;
    isComing = false;
    go(readHash(location.hash));
  });
  return {
    write,
    withoutSteps(run) {
      hasSteps = false;
      run();
      hasSteps = true;
    },
  };
}
