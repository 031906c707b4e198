import type { Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import type { MapCluster, MapMarker } from '../../../src/client/public.js';
import { byId } from '../dom/element.js';
import { valueText } from '../heat/text.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { drawPlaces, placesIn, summary } from './places-list.js';

/** How long the map must be still before the summary is announced. */
const ANNOUNCE_DELAY_MS = 700;

export interface PlacesPanel {
  readonly open: boolean;
  set(open: boolean): void;
  /** Updates the list after the visible content has changed. */
  update(): void;
}

export interface PlacesActions {
  readonly onMarker: (marker: MapMarker) => void;
  readonly onCluster: (layer: CollectionLayer, cluster: MapCluster) => void;
}

/** The list of places in view, for use without a pointer, and a summary for screen readers. */
export function createPlacesPanel(
  map: MapLibre,
  layers: () => readonly CollectionLayer[],
  { onMarker, onCluster }: PlacesActions,
): PlacesPanel {
  const [panel, spoken] = [byId('places'), byId('shown')];
  let open = false;
  let announcing: ReturnType<typeof setTimeout> | undefined;

  /** The heatmap values that a pointer at the center would show. */
  const heats = () =>
    layers().flatMap(({ heat }) => (heat ? `${valueText(heat, map.getCenter().wrap())} at the center` : []));

  function update(): void {
    const shown = placesIn(boundsOf(map), layers());
    const states = layers().flatMap((layer) => layer.states);
    const isLoading = states.some(({ loading }) => loading);
    const hasFailed = states.some(({ error }) => error !== null);
    const unknown = isLoading ? 'Loading places…' : hasFailed ? 'Places could not be loaded.' : undefined;
    const ifEmpty = unknown ?? 'No places in view. Zoom out or turn on a layer.';
    if (open) drawPlaces(panel, shown, ifEmpty, onMarker, onCluster);
    clearTimeout(announcing);
    // Called again when that has ended.
    if (isLoading) return;
    const text = shown.length === 0 && hasFailed ? ifEmpty : summary(shown, layers());
    announcing = setTimeout(() => (spoken.textContent = [text, ...heats()].join('. ')), ANNOUNCE_DELAY_MS);
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
