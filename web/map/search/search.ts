import type { Map as MapLibre } from 'maplibre-gl';

import type { Bounds } from '../../../src/client/public.js';
import { readBounds } from '../api/collections.js';
import { byId } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Selection } from '../panel/selection.js';
import { flyToBounds, flyToPosition, POSITION_ZOOM } from '../view/fly.js';
import type { Seen } from '../view/seen.js';
import { createResultsOnMap } from './results-on-map.js';
import { findResults, type SearchOptions } from './results.js';
import { SearchBox } from './search-box.js';

export interface MapSearchOptions {
  readonly map: MapLibre;
  readonly layers: () => readonly CollectionLayer[];
  readonly seen: Seen;
  readonly selection: Selection;
  /** Turns a layer on. */
  readonly showLayer: (layer: CollectionLayer) => void;
  /** Called before the map flies, if that is a step in the browser's history. */
  readonly onStep: () => void;
}

/** Returns a function that opens the search box: choosing a result flies there and opens its card. */
export function createSearch({ map, layers, seen, selection, showLayer, onStep }: MapSearchOptions): () => void {
  let box: SearchBox | undefined;
  const options: SearchOptions = {
    map,
    layers,
    seen,
    onMarker({ id, name, key, position }) {
      void selection.open(id, name ?? key);
      flyToPosition(map, position);
    },
    onPosition(position) {
      selection.openPosition(position);
      flyToPosition(map, position, POSITION_ZOOM);
    },
    onZone: ({ id, name, key }) => void selection.open(id, name ?? key, true),
    onCollection(layer) {
      const wasOn = layer.drawn !== 'off';
      showLayer(layer);
      const fly = (bounds: Bounds | null) => {
        if (!bounds) return;
        // To show the layer was a step already.
        if (wasOn) onStep();
        flyToBounds(map, bounds);
      };
      void readBounds(layer.collection.key).then(fly, () => undefined);
    },
  };
  return () => {
    box ??= new SearchBox({
      place: byId('search'),
      find: (text, signal) => findResults(text, options, signal),
      onResults: createResultsOnMap(map),
    });
    box.open();
  };
}
