import type { Map as MapLibre } from 'maplibre-gl';

import type { MapMarker } from '../../../src/client/public.js';
import { ViewportError } from '../../../src/client/public.js';
import { DETAILS, type Marker, type MarkerDetails } from '../documents.js';
import { button, element } from '../element.js';
import { request } from '../graphql.js';
import { icon } from '../icons.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Status } from '../status.js';
import { allowDrag } from './drag.js';
import { History, type Step } from './history.js';
import { addMarker, deleteMarker, moveMarker } from './writes.js';

type Position = Marker['position'];

/** Error codes for users who may not write. */
const REFUSED_CODES = new Set(['UNAUTHENTICATED', 'UNAUTHORIZED', 'FORBIDDEN', 'GRAPHQL_VALIDATION_FAILED']);

interface EditOptions {
  readonly map: MapLibre;
  /** Element for the edit buttons. */
  readonly place: HTMLElement;
  readonly layers: () => readonly CollectionLayer[];
  readonly status: Status;
  /** Shows something in the card, or closes it. */
  readonly showCard: (content: readonly Node[] | undefined) => void;
  /** Called when edit mode is turned on or off. */
  readonly onSet: (on: boolean) => void;
}

/** What to tell the user about a failed write. */
function messageOf(error: unknown, code: string): string {
  if (REFUSED_CODES.has(code)) return 'You do not have permission to edit on this server.';
  if (code === 'CONFLICT')
    return 'Not saved: somebody else changed it in the meantime. The map shows the current state.';
  if (code === 'NOT_FOUND') return 'Not saved: somebody else deleted it.';
  return `Not saved: ${error instanceof Error ? error.message : String(error)}`;
}

/** The form that asks for the name of a new marker, and its input field. */
function nameForm(collection: string, onAdd: (name: string) => void, onCancel: () => void) {
  const name = element('input', { name: 'name', required: '', maxlength: '200', autocomplete: 'off' });
  const add = element('button', { class: 'act', type: 'submit' }, 'Add');
  const form = element(
    'form',
    {},
    element('h2', {}, `New place in ${collection}`),
    element('label', {}, 'Name', name),
    element('div', { class: 'buttons' }, button({}, onCancel, 'Cancel'), add),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onAdd(name.value.trim());
  });
  return { form, name };
}

/** Adding, moving and deleting markers, with undo. */
export class EditMode {
  readonly #options: EditOptions;
  readonly #history = new History(() => this.#draw());
  #on = false;
  /** Key of the collection for new markers. */
  #target: string | undefined;
  /** The marker being dragged, read when the drag begins: its version detects changes by others. */
  #dragged: Promise<MarkerDetails | null> | undefined;

  constructor(options: EditOptions) {
    this.#options = options;
    allowDrag({
      map: options.map,
      layers: options.layers,
      isOn: () => this.#on,
      onBegin: ({ id }) => {
        const reading = request<{ readonly marker: MarkerDetails | null }>(DETAILS, { id });
        this.#dragged = reading.then(({ marker }) => marker);
        this.#dragged.catch(() => undefined);
      },
      onDrop: (layer, _marker, position) => void this.#drop(layer, position),
    });
    document.addEventListener('keydown', (event) => {
      const typing = event.target instanceof HTMLInputElement;
      if (!this.#on || typing || event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
      event.preventDefault();
      void this.#undo();
    });
  }

  get on(): boolean {
    return this.#on;
  }

  set(on: boolean): void {
    this.#on = on;
    this.#draw();
    this.#options.onSet(on);
  }

  /** Offers the collections that there are now. */
  redraw(): void {
    if (this.#on) this.#draw();
  }

  /** Asks for the name of a new marker at a position. */
  clickedAt({ lng, lat }: Position): void {
    const { showCard, status } = this.#options;
    const layer = this.#targetLayer();
    if (!layer) return status.show('To add a place, turn on a layer that shows places.');
    const position = { lng: Number(lng.toFixed(6)), lat: Number(lat.toFixed(6)) };
    const add = (name: string) => {
      showCard(undefined);
      void this.#attempt(() => addMarker(layer, name, position));
    };
    const { form, name } = nameForm(layer.collection.name, add, () => showCard(undefined));
    showCard([form]);
    name.focus();
  }

  /** Buttons for the card of a marker; none if edit mode is off. */
  buttonsFor(marker: MarkerDetails): readonly Node[] {
    const { map, layers, showCard } = this.#options;
    const layer = layers().find(({ collection }) => collection.key === marker.collection.key);
    if (!this.#on || !layer) return [];
    const act = (write: () => Promise<Step>) => {
      showCard(undefined);
      void this.#attempt(write);
    };
    const { lng, lat } = map.getCenter().wrap();
    const move = button({}, () => act(() => moveMarker(layer, marker, { lng, lat })), 'Move to center');
    const bin = button({ class: 'danger' }, () => act(() => deleteMarker(layer, marker)), icon('bin'), 'Delete');
    return [element('div', { class: 'buttons' }, move, bin)];
  }

  /** Layers that draw places individually. */
  #editable(): readonly CollectionLayer[] {
    return this.#options
      .layers()
      .filter(
        ({ drawn, collection }) => drawn === 'points' && (collection.count > 0 || collection.zones.nodes.length === 0),
      );
  }

  #targetLayer(): CollectionLayer | undefined {
    const layers = this.#editable();
    return layers.find(({ collection }) => collection.key === this.#target) ?? layers[0];
  }

  /** Runs a write. If it fails, tells the user why. Returns whether it succeeded. */
  async #attempt(write: () => Promise<Step | void>): Promise<boolean> {
    try {
      const step = await write();
      if (step) this.#history.add(step);
      return true;
    } catch (error) {
      const code = error instanceof ViewportError ? error.code : '';
      if (REFUSED_CODES.has(code)) this.set(false);
      this.#options.status.show(messageOf(error, code));
      return false;
    }
  }

  async #drop(layer: CollectionLayer, position: MapMarker['position']): Promise<void> {
    const reading = this.#dragged;
    const isMoved = await this.#attempt(async () => {
      const marker = await reading;
      if (!marker) throw new ViewportError('the marker was deleted', 'NOT_FOUND');
      return moveMarker(layer, marker, position);
    });
    if (!isMoved) layer.refresh();
  }

  async #undo(): Promise<void> {
    const { last } = this.#history;
    if (last === undefined) return;
    this.#options.showCard(undefined);
    if (await this.#attempt(() => this.#history.undo())) this.#options.status.show(`Undid: ${last.label}`);
  }

  #draw(): void {
    const { map, place } = this.#options;
    place.hidden = !this.#on;
    if (!this.#on) return;
    const { last } = this.#history;
    const choices = this.#editable().map(({ collection: { key, name } }) => element('option', { value: key }, name));
    const select = element('select', { 'aria-label': 'Collection for new places' }, ...choices);
    select.value = this.#targetLayer()?.collection.key ?? '';
    select.addEventListener('change', () => (this.#target = select.value));
    const label = last ? `Undo: ${last.label}` : 'Nothing to undo';
    const undo = button({ 'aria-label': label, title: label }, () => void this.#undo(), icon('undo'), 'Undo');
    undo.disabled = last === undefined;
    place.replaceChildren(
      element('p', {}, 'Click to add, drag to move'),
      ...(choices.length > 1 ? [select] : []),
      button({}, () => this.clickedAt(map.getCenter().wrap()), icon('plus'), 'Add at center'),
      undo,
      button({ class: 'act' }, () => this.set(false), 'Done'),
    );
  }
}
