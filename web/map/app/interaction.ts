import type { Map as MapLibre } from 'maplibre-gl';

import type { MapCluster } from '../../../src/client/public.js';
import type { Address } from '../address/address.js';
import { byId } from '../dom/element.js';
import type { Status } from '../dom/status.js';
import { EditMode } from '../edit/edit-mode.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { Selection } from '../panel/selection.js';
import { createPlacesPanel, type PlacesPanel } from '../places/places-panel.js';
import { createHover } from '../pointer/hover.js';
import { followPointer } from '../pointer/pointer.js';
import { flyInto } from '../view/fly.js';

export interface InteractionOptions {
  readonly map: MapLibre;
  readonly layers: () => readonly CollectionLayer[];
  readonly status: Status;
  readonly address: () => Address;
  /** Called when the card is opened, closed or shows something else. */
  readonly onCard: () => void;
  /** Called when edit mode is turned on or off. */
  readonly onEdit: (on: boolean) => void;
}

/** Handles what users choose on the map or in the list of places: opens a card, edits, or zooms into a cluster. */
export interface Interaction {
  readonly selection: Selection;
  readonly edit: EditMode;
  readonly places: PlacesPanel;
}

/** Connects pointer, list of places, card and edit mode. */
export function createInteraction({ map, layers, status, address, onCard, onEdit }: InteractionOptions): Interaction {
  const selection = new Selection(map, {
    layers,
    buttonsFor: (marker) => edit.buttonsFor(marker),
    onChange: onCard,
    onError: (message) => status.show(message),
  });
  const openMarker = ({ id, name, key }: { readonly id: string; readonly name: string | null; readonly key: string }) =>
    void selection.open(id, name ?? key);
  const edit: EditMode = new EditMode({
    map,
    place: byId('edit'),
    layers,
    status,
    showCard: (content) => selection.show(content),
    openMarker,
    onSet(on) {
      onEdit(on);
      document.body.classList.toggle('editing', on);
      selection.refresh();
    },
  });

  async function expand(layer: CollectionLayer, cluster: MapCluster): Promise<void> {
    const found = await layer.expand(cluster).catch(() => undefined);
    if (found?.marker) return openMarker(found.marker);
    address().write('coming');
    flyInto(map, cluster, found?.zoom);
  }

  const onCluster = (layer: CollectionLayer, cluster: MapCluster) => void expand(layer, cluster);
  followPointer(map, layers, {
    onHover: createHover(map, layers),
    onMarker: (id, name) => void selection.open(id, name),
    onCluster,
    onZone: (id, name) => void selection.open(id, name),
    onGround(position, onZone) {
      if (edit.on) edit.clickedAt(position);
      else if (!onZone) selection.show(undefined);
      return edit.on;
    },
  });
  return { selection, edit, places: createPlacesPanel(map, layers, { onMarker: openMarker, onCluster }) };
}
