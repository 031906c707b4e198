import type { Map as MapLibre } from 'maplibre-gl';

import type { MapCluster, MapMarker } from '../../src/client/public.js';
import { byId } from './element.js';
import { boundsOf } from './fly.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import { drawPlaces, placesIn, summary } from './places-list.js';

/** Announcements wait until the map stands still. */
const ANNOUNCED_AFTER_MS = 700;

export interface PlacesPanel {
  readonly open: boolean;
  set(open: boolean): void;
  /** Something else is in view. */
  update(): void;
}

export interface PlacesActions {
  readonly onMarker: (marker: MapMarker) => void;
  readonly onCluster: (layer: CollectionLayer, cluster: MapCluster) => void;
}

/** The list of what is in view, for those who do not use a pointer, and how much it is, said aloud by screen readers. */
export function createPlacesPanel(
  map: MapLibre,
  layers: () => readonly CollectionLayer[],
  { onMarker, onCluster }: PlacesActions,
): PlacesPanel {
  const [panel, spoken] = [byId('places'), byId('shown')];
  let open = false;
  let announcing: ReturnType<typeof setTimeout> | undefined;

  function update(): void {
    const shown = placesIn(boundsOf(map), layers());
    if (open) drawPlaces(panel, shown, onMarker, onCluster);
    clearTimeout(announcing);
    announcing = setTimeout(() => (spoken.textContent = summary(shown, layers())), ANNOUNCED_AFTER_MS);
  }
  map.on('moveend', update);

  return {
    get open() {
      return open;
    },
    set(next) {
      open = next;
      panel.hidden = !open;
      update();
    },
    update,
  };
}
