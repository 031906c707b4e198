import type { Map as MapLibre } from 'maplibre-gl';

import type { MapMarker } from '../../../src/client/public.js';
import { DETAILS, type Marker, type MarkerDetails } from '../documents.js';
import { button, element } from '../element.js';
import { RequestError, ask } from '../graphql.js';
import { icon } from '../icons.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Status } from '../status.js';
import { letDrag } from './drag.js';
import { type Step, createHistory } from './history.js';
import { addMarker, deleteMarker, moveMarker } from './writes.js';

type Position = Marker['position'];

/** What the server says to whom it does not let write, now or once it knows users. */
const REFUSED = new Set(['UNAUTHENTICATED', 'UNAUTHORIZED', 'FORBIDDEN', 'GRAPHQL_VALIDATION_FAILED']);

interface EditOptions {
  readonly map: MapLibre;
  /** Where its buttons go. */
  readonly place: HTMLElement;
  readonly layers: () => readonly CollectionLayer[];
  readonly status: Status;
  /** Shows something in the card, or closes it. */
  readonly showCard: (content: readonly Node[] | undefined) => void;
  /** The mode came, or went. */
  readonly onSet: (on: boolean) => void;
}

export interface EditMode {
  readonly on: boolean;
  set(on: boolean): void;
  /** A click on the map where nothing is. */
  clickedAt(position: Position): void;
  /** Buttons for the card of a marker; none while the mode is off. */
  buttonsFor(marker: MarkerDetails): readonly Node[];
}

/** Adding, moving and deleting markers, each to be taken back. */
export function createEditMode({ map, place, layers, status, showCard, onSet }: EditOptions): EditMode {
  let on = false;
  let target: string | undefined;
  const history = createHistory(() => draw());

  /** Collections whose places are drawn one by one. */
  const editable = () =>
    layers().filter(
      ({ drawn, collection }) => drawn === 'points' && (collection.count > 0 || collection.zones.nodes.length === 0),
    );
  const targetLayer = () => editable().find(({ collection }) => collection.key === target) ?? editable()[0];
  const ownerOf = ({ collection }: MarkerDetails) => layers().find((each) => each.collection.key === collection.key);

  /** Runs a write; what went wrong is said, and the map shows what is so. */
  async function attempt(write: () => Promise<Step | void>): Promise<boolean> {
    try {
      const step = await write();
      if (step) history.add(step);
      return true;
    } catch (error) {
      const code = error instanceof RequestError ? error.code : '';
      if (REFUSED.has(code)) {
        set(false);
        status.say('This server does not let you change anything here.');
      } else if (code === 'CONFLICT') status.say('Somebody else changed it meanwhile. The map shows it as it is now.');
      else if (code === 'NOT_FOUND') status.say('It is not there any more: somebody else deleted it.');
      else status.say(`Nothing was changed. ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }

  function undo(): void {
    const { last } = history;
    if (last === undefined) return;
    showCard(undefined);
    void attempt(() => history.undo()).then((done) => done && status.say(`Took back the ${last.label}.`));
  }

  function askName(layer: CollectionLayer, position: Position): void {
    const name = element('input', { name: 'name', required: '', maxlength: '200', autocomplete: 'off' });
    const cancel = button({}, () => showCard(undefined), 'Cancel');
    const add = element('button', { class: 'act', type: 'submit' }, 'Add');
    const form = element(
      'form',
      {},
      element('h2', {}, `New place in ${layer.collection.name}`),
      element('label', {}, 'Name', name),
      element('div', { class: 'buttons' }, cancel, add),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      showCard(undefined);
      void attempt(() => addMarker(layer, name.value.trim(), position));
    });
    showCard([form]);
    name.focus();
  }

  function addAt({ lng, lat }: Position): void {
    const layer = targetLayer();
    if (layer) askName(layer, { lng: Number(lng.toFixed(6)), lat: Number(lat.toFixed(6)) });
    else status.say('Switch on a layer first, drawn as places: that is where a new one goes.');
  }

  function draw(): void {
    place.hidden = !on;
    if (!on) return;
    const { last } = history;
    const choices = editable().map(({ collection }) => element('option', { value: collection.key }, collection.name));
    const select = element('select', { 'aria-label': 'Collection for new places' }, ...choices);
    select.value = targetLayer()?.collection.key ?? '';
    select.addEventListener('change', () => (target = select.value));
    const label = last ? `Undo ${last.label}` : 'Nothing to undo';
    const back = button({ 'aria-label': label, title: label }, undo, icon('undo'), 'Undo');
    back.disabled = last === undefined;
    place.replaceChildren(
      element('p', {}, 'Click the map to add, drag to move'),
      ...(choices.length > 1 ? [select] : []),
      button({}, () => addAt(map.getCenter().wrap()), icon('plus'), 'Add in the middle'),
      back,
      button({ class: 'act' }, () => set(false), 'Done'),
    );
  }

  function set(next: boolean): void {
    on = next;
    draw();
    onSet(on);
  }

  // What is dragged is read meanwhile: its version tells whether somebody else changes it, too.
  let taken: Promise<MarkerDetails | null> | undefined;
  letDrag({
    map,
    layers,
    isOn: () => on,
    onTake({ id }: MapMarker) {
      taken = ask<{ readonly marker: MarkerDetails | null }>(DETAILS, { id }).then(({ marker }) => marker);
      taken.catch(() => undefined);
    },
    onDrop(layer, _marker, position) {
      const reading = taken;
      void attempt(async () => {
        const read = await reading;
        if (!read) throw new RequestError('NOT_FOUND', 'It is gone.');
        return moveMarker(layer, read, position);
      }).then((done) => done || layer.refresh());
    },
  });

  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (!on || typing || event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
    event.preventDefault();
    undo();
  });

  return {
    get on() {
      return on;
    },
    set,
    clickedAt: addAt,
    buttonsFor(marker) {
      const layer = ownerOf(marker);
      if (!on || !layer) return [];
      const act = (write: () => Promise<Step>) => {
        showCard(undefined);
        void attempt(write);
      };
      const { lng, lat } = map.getCenter().wrap();
      const here = button({}, () => act(() => moveMarker(layer, marker, { lng, lat })), 'Move to the middle');
      const bin = button({ class: 'danger' }, () => act(() => deleteMarker(layer, marker)), icon('bin'), 'Delete');
      return [element('div', { class: 'buttons' }, here, bin)];
    },
  };
}
