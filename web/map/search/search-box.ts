import './search.css';
import type { MapMarker, MapZone } from '../../../src/client/public.js';
import { element } from '../element.js';
import { icon } from '../icons.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { countOf } from '../numbers.js';
import { positionText } from '../position-text.js';
import type { Seen } from '../seen.js';
import { type Position, readCoordinates } from './coordinates.js';
import { findNames } from './names.js';

const MOST_ROWS = 8;

export interface SearchOptions {
  readonly place: HTMLElement;
  readonly layers: () => readonly CollectionLayer[];
  readonly seen: Seen;
  readonly onMarker: (marker: MapMarker) => void;
  readonly onZone: (zone: MapZone, layer: CollectionLayer) => void;
  readonly onPosition: (position: Position) => void;
}

/** A result. */
interface Row {
  readonly title: string;
  readonly detail: string;
  readonly go: () => void;
}

const READ_AS = {
  first: 'Latitude, longitude',
  second: 'Longitude, latitude',
};

/** Everything with a name that the page has loaded. Large numbers among its properties make a marker come first. */
function loaded({ layers, seen, onMarker, onZone }: SearchOptions) {
  return layers().flatMap((layer) => {
    const { name: collection } = layer.collection;
    const markers = seen.of(layer).map((marker) => {
      const numbers = Object.values(marker.properties as object).filter((value) => typeof value === 'number');
      const detail = marker.category === null ? collection : `${marker.category} · ${collection}`;
      return { name: marker.name ?? marker.key, weight: Math.max(0, ...numbers), detail, go: () => onMarker(marker) };
    });
    const zones = layer.states
      .flatMap((state) => state.zones)
      .map((zone) => ({ name: zone.name ?? zone.key, weight: 0, detail: collection, go: () => onZone(zone, layer) }));
    return [...markers, ...zones];
  });
}

function rowsFor(text: string, options: SearchOptions): readonly Row[] {
  const positions = readCoordinates(text).map(({ position, latitude }) => ({
    title: positionText(position),
    detail: latitude ? READ_AS[latitude] : 'Position',
    go: () => options.onPosition(position),
  }));
  const named = findNames(text, loaded(options), MOST_ROWS - positions.length);
  return [...positions, ...named.map(({ name, detail, go }) => ({ title: name, detail, go }))];
}

/** The search box: a combobox whose list has what is loaded and, for coordinates, their positions. */
export class SearchBox {
  readonly #options: SearchOptions;
  readonly #input = element('input', {
    type: 'search',
    role: 'combobox',
    placeholder: 'Name, or 48.2, 16.37',
    'aria-label': 'Search for a name or coordinates',
    'aria-autocomplete': 'list',
    'aria-controls': 'found',
    'aria-expanded': 'false',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Results' });
  readonly #note = element('p', { role: 'status' });
  #rows: readonly Row[] = [];
  #active = 0;
  #before: Element | null = null;

  constructor(options: SearchOptions) {
    this.#options = options;
    const { place } = options;
    place.replaceChildren(element('label', {}, icon('search'), this.#input), this.#list, this.#note);
    this.#input.addEventListener('input', () => this.#search());
    this.#input.addEventListener('keydown', (event) => this.#onKey(event));
    place.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && place.contains(relatedTarget))) place.hidden = true;
    });
    // The input keeps the focus while a result is clicked.
    this.#list.addEventListener('pointerdown', (event) => event.preventDefault());
  }

  open(): void {
    const { place } = this.#options;
    if (place.hidden) this.#before = document.activeElement;
    place.hidden = false;
    this.#search();
    this.#input.focus();
    this.#input.select();
  }

  #close(): void {
    if (this.#before instanceof HTMLElement) this.#before.focus();
    else this.#input.blur();
    this.#options.place.hidden = true;
  }

  #go(row: Row | undefined): void {
    if (row === undefined) return;
    this.#close();
    row.go();
  }

  #onKey(event: KeyboardEvent): void {
    const count = this.#rows.length;
    const step = { ArrowDown: 1, ArrowUp: count - 1 }[event.key];
    if (step !== undefined && count > 0) this.#setActive((this.#active + step) % count);
    else if (event.key === 'Enter') this.#go(this.#rows[this.#active]);
    else if (event.key === 'Escape') this.#close();
    else return;
    event.preventDefault();
  }

  #setActive(index: number): void {
    this.#active = index;
    for (const [at, item] of [...this.#list.children].entries())
      item.setAttribute('aria-selected', String(at === index));
    this.#list.children[index]?.scrollIntoView({ block: 'nearest' });
    if (this.#rows.length > 0) this.#input.setAttribute('aria-activedescendant', `found-${index}`);
    else this.#input.removeAttribute('aria-activedescendant');
  }

  #search(): void {
    this.#rows = rowsFor(this.#input.value, this.#options);
    this.#list.replaceChildren(
      ...this.#rows.map((row, index) => {
        const item = element(
          'li',
          { role: 'option', id: `found-${index}` },
          row.title,
          element('small', {}, row.detail),
        );
        item.addEventListener('click', () => this.#go(row));
        return item;
      }),
    );
    this.#input.setAttribute('aria-expanded', String(this.#rows.length > 0));
    this.#setActive(0);
    const among = countOf(loaded(this.#options).length, 'name');
    const hint = `Searches ${among} that this page has loaded. Zoom in to load more.`;
    const isSearching = this.#input.value.trim() !== '';
    this.#note.textContent = isSearching && this.#rows.length === 0 ? `Nothing found. ${hint}` : hint;
  }
}
