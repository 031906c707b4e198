import type { Map as MapLibre } from 'maplibre-gl';

import { ViewportError, type MapMarker } from '../../../src/client/public.js';
import { DETAILS, type Marker, type MarkerDetails } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { mayWrite } from '../api/permissions.js';
import { button, element } from '../dom/element.js';
import { icon } from '../dom/icons.js';
import type { Status } from '../dom/status.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { allowDrag } from './drag.js';
import { History, type Step } from './history.js';
import { MarkerForm } from './marker-form.js';
import { changesBetween, merge, type Fields } from './merge.js';
import { nameForm } from './name-form.js';
import { addMarker, changeMarker, deleteMarker } from './writes.js';

type Position = Marker['position'];

/** Error codes for users without permission to write. */
const REFUSED_CODES = new Set(['UNAUTHENTICATED', 'UNAUTHORIZED', 'FORBIDDEN', 'GRAPHQL_VALIDATION_FAILED']);

interface EditOptions {
  readonly map: MapLibre;
  /** Container for the edit buttons. */
  readonly place: HTMLElement;
  readonly layers: () => readonly CollectionLayer[];
  readonly status: Status;
  /** Shows content in the card; undefined closes it. */
  readonly showCard: (content: readonly Node[] | undefined) => void;
  /** Shows a marker in the card. */
  readonly openMarker: (marker: MarkerDetails) => void;
  /** Called when edit mode is turned on or off. */
  readonly onSet: (on: boolean) => void;
}

const readMarker = async (id: string) =>
  (await request<{ readonly marker: MarkerDetails | null }>(DETAILS, { id })).marker;

/** The action of a keyboard shortcut: Ctrl+Z, or Ctrl+Shift+Z or Ctrl+Y; on a Mac with Cmd. */
function directionOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): 'undo' | 'redo' | undefined {
  if (!(ctrlKey || metaKey)) return undefined;
  if (key.toLowerCase() === 'z') return shiftKey ? 'redo' : 'undo';
  return key === 'y' ? 'redo' : undefined;
}

/** The message for a failed write. */
function messageOf(error: unknown, code: string): string {
  if (REFUSED_CODES.has(code)) return 'You do not have permission to edit on this server.';
  if (code === 'CONFLICT')
    return 'Not saved: someone else changed it in the meantime. The map shows the current state.';
  if (code === 'NOT_FOUND') return 'Not saved: someone else deleted it.';
  return `Not saved: ${error instanceof Error ? error.message : String(error)}`;
}

/** Adding, changing and deleting markers, with undo and redo. */
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
      layers: () => options.layers().filter(({ collection }) => mayWrite(collection.key)),
      isOn: () => this.#on,
      onBegin: ({ id }) => {
        this.#dragged = readMarker(id);
        this.#dragged.catch(() => undefined);
      },
      onDrop: (layer, position, undo) => void this.#drop(layer, position, undo),
    });
    document.addEventListener('keydown', (event) => {
      const typing = event.target instanceof HTMLInputElement;
      const direction = directionOf(event);
      if (!this.#on || typing || direction === undefined) return;
      event.preventDefault();
      void this.#take(direction);
    });
  }

  get on(): boolean {
    return this.#on;
  }

  /** Turns edit mode on or off; `target` is the key of the collection for new markers. */
  set(on: boolean, target = this.#target): void {
    this.#on = on;
    this.#target = target;
    this.#draw();
    this.#options.onSet(on);
  }

  /** Updates the list of collections. */
  redraw(): void {
    if (this.#on && !mayWrite()) this.set(false);
    else if (this.#on) this.#draw();
  }

  /** Asks for the name of a new marker at a position. */
  clickedAt({ lng, lat }: Position): void {
    const { showCard, status } = this.#options;
    const layer = this.#targetLayer();
    if (!layer) return status.show('To add a place, turn on a layer that you may write, and show it as places.');
    const position = { lng: Number(lng.toFixed(6)), lat: Number(lat.toFixed(6)) };
    const add = (name: string) => {
      showCard(undefined);
      void this.#attempt(() => addMarker(layer, name, position));
    };
    const { form, name } = nameForm(layer.collection.name, add, () => showCard(undefined));
    showCard([form]);
    name.focus();
  }

  /** Opens the form for name, category and properties of a marker. */
  #edit(layer: CollectionLayer, marker: MarkerDetails): void {
    const { showCard, openMarker } = this.#options;
    const close = () => openMarker(marker);
    /** Saves the user's changes in the form on top of the marker's latest known state. */
    const save = async (mine: Fields, current: MarkerDetails) => {
      const changes = changesBetween(current, merge(marker, mine, current));
      if (Object.keys(changes).length === 0) return close();
      try {
        this.#history.add(await changeMarker(layer, current, changes, 'edit'));
        return close();
      } catch (error) {
        const isConflict = error instanceof ViewportError && error.code === 'CONFLICT';
        const theirs = isConflict ? await readMarker(marker.id).catch(() => null) : null;
        if (theirs === null) return this.#report(error);
        return form.showConflict({ theirs, onOverwrite: (now) => void save(now, theirs), onDiscard: close });
      }
    };
    const form = new MarkerForm(marker, { onSave: (mine) => void save(mine, marker), onCancel: close });
    showCard([form.form]);
    form.focus();
  }

  /** Buttons for a marker's card; empty if edit mode is off. */
  buttonsFor(marker: MarkerDetails): readonly Node[] {
    const { map, layers, showCard } = this.#options;
    const layer = layers().find(({ collection }) => collection.key === marker.collection.key);
    if (!this.#on || !layer || !mayWrite(layer.collection.key)) return [];
    const act = (write: () => Promise<Step>) => {
      showCard(undefined);
      void this.#attempt(write);
    };
    const { lng, lat } = map.getCenter().wrap();
    const move = button(
      {},
      () => act(() => changeMarker(layer, marker, { position: { lng, lat } }, 'move')),
      'Move to center',
    );
    const bin = button({ class: 'danger' }, () => act(() => deleteMarker(layer, marker)), 'Delete');
    const edit = button({}, () => this.#edit(layer, marker), 'Edit');
    return [element('div', { class: 'buttons' }, edit, move, bin)];
  }

  /** Layers that draw places individually, and may be written. */
  #editable(): readonly CollectionLayer[] {
    return this.#options
      .layers()
      .filter(
        ({ drawn, collection: { key, count, zones } }) =>
          drawn === 'points' && mayWrite(key) && (count > 0 || zones.nodes.length === 0),
      );
  }

  #targetLayer(): CollectionLayer | undefined {
    const layers = this.#editable();
    return layers.find(({ collection }) => collection.key === this.#target) ?? layers[0];
  }

  /** Runs a write; shows the user the reason if it fails. Returns whether it succeeded. */
  async #attempt(write: () => Promise<Step | void>): Promise<boolean> {
    try {
      const step = await write();
      if (step) this.#history.add(step);
      return true;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #report(error: unknown): void {
    const code = error instanceof ViewportError ? error.code : '';
    if (REFUSED_CODES.has(code)) this.set(false);
    this.#options.status.show(messageOf(error, code));
  }

  async #drop(layer: CollectionLayer, position: MapMarker['position'], undo: () => void): Promise<void> {
    const reading = this.#dragged;
    const isMoved = await this.#attempt(async () => {
      const marker = await reading;
      if (!marker) throw new ViewportError('the marker was deleted', 'NOT_FOUND');
      return changeMarker(layer, marker, { position }, 'move');
    });
    if (isMoved) return;
    undo();
    layer.refresh();
  }

  async #take(direction: 'undo' | 'redo'): Promise<void> {
    const step = this.#history.next[direction];
    if (step === undefined || this.#history.isBusy) return;
    const { showCard, status } = this.#options;
    showCard(undefined);
    if (await this.#attempt(() => this.#history.take(direction)))
      status.show(`${direction === 'undo' ? 'Undone' : 'Redone'}: ${step.label}`);
  }

  /** The button for undo or redo. */
  #stepButton(direction: 'undo' | 'redo'): HTMLButtonElement {
    const step = this.#history.next[direction];
    const verb = direction === 'undo' ? 'Undo' : 'Redo';
    const label = step ? `${verb}: ${step.label}` : `Nothing to ${direction}`;
    const made = button({ class: 'icon', 'aria-label': label, title: label }, () => void this.#take(direction), icon(direction)); // prettier-ignore
    made.disabled = step === undefined;
    return made;
  }

  #draw(): void {
    const { map, place } = this.#options;
    place.hidden = !this.#on;
    if (!this.#on) return;
    const choices = this.#editable().map(({ collection: { key, name } }) => element('option', { value: key }, name));
    const select = element('select', { 'aria-label': 'Collection for new places' }, ...choices);
    select.value = this.#targetLayer()?.collection.key ?? '';
    select.addEventListener('change', () => (this.#target = select.value));
    place.replaceChildren(
      element('p', {}, 'Click to add, drag to move'),
      ...(choices.length > 1 ? [select] : []),
      button({}, () => this.clickedAt(map.getCenter().wrap()), icon('plus'), 'Add at center'),
      this.#stepButton('undo'),
      this.#stepButton('redo'),
      button({ class: 'act' }, () => this.set(false), 'Done'),
    );
  }
}
