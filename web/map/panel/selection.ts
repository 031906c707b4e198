import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

import { DETAILS, type Marker, type MarkerDetails } from '../documents.js';
import { byId } from '../element.js';
import { request } from '../graphql.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { PageState } from '../url-hash.js';
import { loadingCard, markerCard, positionCard } from './card.js';
import { followReadings } from './follow-readings.js';
import { createZoneSelection } from './zone-selection.js';

const SOURCE = 'selected';

const isZone = (id: string) => id.startsWith('zone::');

export interface Selection {
  /** The marker, zone or position whose card is open, for the page's address. */
  readonly address: Pick<PageState, 'place' | 'pin'>;
  /** Opens the card that an address names, or closes the card. */
  go(address: Pick<PageState, 'place' | 'pin'>): void;
  openMarker(id: string, name?: string): Promise<void>;
  openPosition(position: Marker['position']): void;
  openZone(id: string, name?: string): Promise<void>;
  /** Shows other content in the card; undefined closes the card. */
  show(content: readonly Node[] | undefined): void;
  /** Loads the marker of the card again. */
  refresh(): void;
}

export interface SelectionOptions {
  readonly layers: () => readonly CollectionLayer[];
  readonly buttonsFor: (marker: MarkerDetails) => readonly Node[];
  readonly onChange: () => void;
  readonly onError: (message: string) => void;
}

/** The card with details, and the ring around its marker. */
export function createSelection(map: MapLibre, { layers, buttonsFor, onChange, onError }: SelectionOptions): Selection {
  const card = byId('card');
  let id: string | undefined;
  let pin: Marker['position'] | undefined;
  let before: Element | null = null;
  let unfollow: () => void = () => undefined;

  const zone = createZoneSelection(map, layers);
  map.addSource(SOURCE, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } });
  map.addLayer({
    id: SOURCE,
    source: SOURCE,
    type: 'circle',
    paint: {
      'circle-radius': 12,
      'circle-opacity': 0,
      'circle-stroke-width': 3,
      'circle-stroke-color': '#e79a2b',
    },
  });

  function ring(position: Marker['position'] | undefined): void {
    const points = position ? [[position.lng, position.lat]] : [];
    void map.getSource<GeoJSONSource>(SOURCE)?.setData({ type: 'MultiPoint', coordinates: points });
    if (position) map.moveLayer(SOURCE);
  }

  function show(content: readonly Node[] | undefined): void {
    const focused = card.contains(document.activeElement);
    if (content !== undefined && card.hidden) before = document.activeElement;
    card.hidden = content === undefined;
    card.replaceChildren(...(content ?? []));
    document.body.classList.toggle('with-card', content !== undefined);
    // Keyboard users continue where they opened the card.
    if (content === undefined && focused && before instanceof HTMLElement) before.focus();
  }

  /** Sets the marker of the card, or none. */
  function setId(next: string | undefined): void {
    unfollow();
    const isMarker = next !== undefined && !isZone(next);
    unfollow = isMarker ? followReadings(next, () => void read(next)) : () => undefined;
    id = next;
    pin = undefined;
    if (!isMarker) ring(undefined);
    zone.clear();
  }

  /** Shows a card that the user has asked for. */
  function open(content: readonly Node[]): void {
    show(content);
    card.focus();
    onChange();
  }

  const close = () => {
    setId(undefined);
    show(undefined);
    onChange();
  };

  async function read(wanted: string): Promise<void> {
    try {
      const { marker } = await request<{ readonly marker: MarkerDetails | null }>(DETAILS, { id: wanted });
      if (id !== wanted) return;
      if (marker === null) return close();
      ring(marker.position);
      // The card is replaced; keep its scroll position and focus.
      const at = card.scrollTop;
      const focused = [...card.querySelectorAll('button')].findIndex((each) => each === document.activeElement);
      show(markerCard(marker, close, buttonsFor(marker)));
      card.scrollTop = at;
      if (focused >= 0) card.querySelectorAll('button')[focused]?.focus();
    } catch (error) {
      if (id !== wanted) return;
      close();
      onError(error instanceof Error ? error.message : String(error));
    }
  }

  async function openZone(wanted: string, name = ''): Promise<void> {
    setId(wanted);
    open(loadingCard(name, close));
    try {
      const content = await zone.open(wanted, close);
      if (id !== wanted) return;
      if (content === undefined) return close();
      show(content);
    } catch (error) {
      if (id !== wanted) return;
      close();
      onError(error instanceof Error ? error.message : String(error));
    }
  }

  async function openMarker(wanted: string, name = ''): Promise<void> {
    setId(wanted);
    open(loadingCard(name, close));
    await read(wanted);
  }

  function openPosition({ lng, lat }: Marker['position']): void {
    setId(undefined);
    pin = { lng, lat };
    ring(pin);
    open(positionCard(pin, close));
  }

  return {
    get address() {
      return { ...(id !== undefined && { place: id }), ...(pin && { pin }) };
    },
    go({ place, pin: at }) {
      if (place !== undefined) {
        if (place !== id) void (isZone(place) ? openZone : openMarker)(place);
      } else if (at) openPosition(at);
      else if (id !== undefined || pin) close();
    },
    openMarker,
    openPosition,
    openZone,
    show(content) {
      if (content === undefined) return close();
      setId(undefined);
      show(content);
      onChange();
    },
    refresh() {
      if (id !== undefined && !isZone(id)) void read(id);
    },
  };
}
