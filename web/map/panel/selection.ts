import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

import type { PageState } from '../address/url-hash.js';
import { DETAILS, type Marker, type MarkerDetails } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { byId } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { flyToBounds, flyToPosition, POSITION_ZOOM } from '../view/fly.js';
import { loadingCard, markerCard, positionCard } from './card.js';
import { followReadings } from './follow-readings.js';
import { createZoneSelection } from './zone-selection.js';

const SOURCE = 'selected';

type SelectionAddress = Pick<PageState, 'place' | 'pin'>;

const isZone = (id: string) => id.startsWith('zone::');

export interface SelectionOptions {
  readonly layers: () => readonly CollectionLayer[];
  readonly buttonsFor: (marker: MarkerDetails) => readonly Node[];
  readonly onChange: () => void;
  readonly onError: (message: string) => void;
}

/** The ring around the selected marker or position. */
function createRing(map: MapLibre): (position: Marker['position'] | undefined) => void {
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
  return (position) => {
    const points = position ? [[position.lng, position.lat]] : [];
    void map.getSource<GeoJSONSource>(SOURCE)?.setData({ type: 'MultiPoint', coordinates: points });
    if (position) map.moveLayer(SOURCE);
  };
}

/** The card with details, and the ring around its marker. */
export class Selection {
  readonly #map: MapLibre;
  readonly #options: SelectionOptions;
  readonly #card = byId('card');
  readonly #ring;
  readonly #zone;
  #id: string | undefined;
  #pin: Marker['position'] | undefined;
  #before: Element | null = null;
  #unfollow: () => void = () => undefined;

  constructor(map: MapLibre, options: SelectionOptions) {
    this.#map = map;
    this.#options = options;
    this.#zone = createZoneSelection(map, options.layers);
    this.#ring = createRing(map);
  }

  /** The marker, zone or position whose card is open, for the page's address. */
  get address(): SelectionAddress {
    return { ...(this.#id !== undefined && { place: this.#id }), ...(this.#pin && { pin: this.#pin }) };
  }

  /**
   * Opens the card that an address names, and flies there if asked to, or closes the card. Resolves with whether what it
   * names exists.
   */
  async go({ place, pin }: SelectionAddress, flies: boolean): Promise<boolean> {
    if (place !== undefined) {
      return place === this.#id || this.#openCard(place, '', flies);
    }
    if (pin) {
      this.openPosition(pin);
      if (flies) flyToPosition(this.#map, pin, POSITION_ZOOM);
    } else if (this.#id !== undefined || this.#pin) this.#close();
    return true;
  }

  /** Opens the card of a marker or zone, and flies there if asked to. */
  async open(wanted: string, name: string, flies = false): Promise<void> {
    if (!(await this.#openCard(wanted, name, flies))) this.#options.onError(`${name} does not exist any more`);
  }

  openPosition({ lng, lat }: Marker['position']): void {
    this.#setId(undefined);
    this.#pin = { lng, lat };
    this.#ring(this.#pin);
    this.#open(positionCard(this.#pin, this.#close));
  }

  /** Shows other content in the card; undefined closes it. */
  show(content: readonly Node[] | undefined): void {
    if (content === undefined) return this.#close();
    this.#setId(undefined);
    this.#fill(content);
    this.#options.onChange();
  }

  /** Reloads the card's marker, if it is among these. */
  refresh(changed?: readonly { readonly id: string }[]): void {
    const id = this.#id;
    if (id === undefined || isZone(id) || changed?.every((each) => each.id !== id)) return;
    void this.#read(id);
  }

  #fill(content: readonly Node[] | undefined): void {
    const card = this.#card;
    const focused = card.contains(document.activeElement);
    if (content !== undefined && card.hidden) this.#before = document.activeElement;
    card.hidden = content === undefined;
    card.replaceChildren(...(content ?? []));
    document.body.classList.toggle('with-card', content !== undefined);
    // Keyboard users continue where they opened the card.
    if (content === undefined && focused && this.#before instanceof HTMLElement) this.#before.focus();
  }

  /** Sets the card's marker; undefined for none. */
  #setId(next: string | undefined): void {
    this.#unfollow();
    const isMarker = next !== undefined && !isZone(next);
    this.#unfollow = isMarker ? followReadings(next, () => void this.#read(next)) : () => undefined;
    this.#id = next;
    this.#pin = undefined;
    if (!isMarker) this.#ring(undefined);
    this.#zone.clear();
  }

  /** Shows a card at the user's request. */
  #open(content: readonly Node[]): void {
    this.#fill(content);
    this.#card.focus();
    this.#options.onChange();
  }

  readonly #close = (): void => {
    this.#setId(undefined);
    this.#fill(undefined);
    this.#options.onChange();
  };

  /** Resolves with whether what the card is about exists. */
  #openCard(wanted: string, name: string, flies: boolean): Promise<boolean> {
    this.#setId(wanted);
    this.#open(loadingCard(name, this.#close));
    return isZone(wanted) ? this.#readZone(wanted, flies) : this.#read(wanted, flies);
  }

  /**
   * Closes the card if its subject, by the result of `work`, does not exist, and if something went wrong, which it
   * reports; unless it shows something else by then.
   */
  async #unlessReplaced(wanted: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      const exists = await work();
      if (!exists && this.#id === wanted) this.#close();
      return exists;
    } catch (error) {
      if (this.#id !== wanted) return true;
      this.#close();
      this.#options.onError(error instanceof Error ? error.message : String(error));
      return true;
    }
  }

  #readZone(wanted: string, flies: boolean): Promise<boolean> {
    return this.#unlessReplaced(wanted, async () => {
      const zone = await this.#zone.open(wanted, this.#close);
      if (this.#id !== wanted || zone === undefined) return zone !== undefined;
      this.#fill(zone.card);
      if (flies) flyToBounds(this.#map, zone.bounds);
      return true;
    });
  }

  #read(wanted: string, flies = false): Promise<boolean> {
    return this.#unlessReplaced(wanted, async () => {
      const { marker } = await request<{ readonly marker: MarkerDetails | null }>(DETAILS, { id: wanted });
      if (this.#id !== wanted || marker === null) return marker !== null;
      this.#ring(marker.position);
      if (flies) flyToPosition(this.#map, marker.position);
      // The card is replaced; keep its scroll position and focus.
      const card = this.#card;
      const at = card.scrollTop;
      const focused = [...card.querySelectorAll('button')].findIndex((each) => each === document.activeElement);
      this.#fill(markerCard(marker, this.#close, this.#options.buttonsFor(marker)));
      card.scrollTop = at;
      if (focused >= 0) card.querySelectorAll('button')[focused]?.focus();
      return true;
    });
  }
}
