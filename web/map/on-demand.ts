import type { Map as MapLibre } from 'maplibre-gl';

import type { Address } from './address.js';
import { byId } from './element.js';
import { flyToBounds, flyToPosition } from './fly.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import type { Selection } from './panel/selection.js';
import type { Seen } from './seen.js';
import type { Status } from './status.js';
import type { SearchBox } from './search/search-box.js';

/** What the first load of the page leaves out. */
export interface OnDemand {
  search(): void;
  /** Shows the keys. */
  keys(): void;
  /** Says that a part could not be loaded. */
  missing(): void;
}

export interface OnDemandOptions {
  readonly map: MapLibre;
  readonly layers: () => readonly CollectionLayer[];
  readonly seen: Seen;
  readonly selection: Selection;
  readonly address: () => Address;
  readonly status: Status;
}

/** Single places are drawn from here on. */
const PLACE_ZOOM = 9;
const POSITION_ZOOM = 12;

/** Loads parts of the page when they are first used. */
export function createOnDemand({ map, layers, seen, selection, address, status }: OnDemandOptions): OnDemand {
  let box: SearchBox | undefined;

  async function search(): Promise<void> {
    const { SearchBox } = await import('./search/search-box.js');
    box ??= new SearchBox({
      place: byId('search'),
      layers,
      seen,
      onMarker({ id, name, key, position }) {
        void selection.openMarker(id, name ?? key);
        flyToPosition(map, position, PLACE_ZOOM);
      },
      onPosition(position) {
        selection.openPosition(position);
        flyToPosition(map, position, POSITION_ZOOM);
      },
      onZone({ id, name, bounds }) {
        address().write('coming');
        flyToBounds(map, bounds);
        void selection.openZone(id, name ?? '');
      },
    });
    box.open();
  }

  const missing = () => status.show('This part of the page could not be loaded. Reload the page.');
  return {
    search: () => void search().catch(missing),
    keys: () => void import('./help/keys-dialog.js').then(({ showKeys }) => showKeys()).catch(missing),
    missing,
  };
}
