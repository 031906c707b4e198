import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer, MapCluster, ViewportState } from '../../src/client/public.js';
import { keepAddress } from './address.js';
import { COLLECTIONS, type Collection } from './documents.js';
import { EditMode } from './edit/edit-mode.js';
import { byId } from './element.js';
import { createExplain } from './explain/explain.js';
import { fitWithoutAnimation, flyInto } from './fly.js';
import { request } from './graphql.js';
import { icon } from './icons.js';
import { followKeys } from './keys.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import { drawLayerList } from './layers/layer-list.js';
import { createLayerSet } from './layers/layer-set.js';
import { createPulse } from './layers/pulse.js';
import { openMap, repaintBase } from './open-map.js';
import { createSelection } from './panel/selection.js';
import { createPlacesPanel } from './places-panel.js';
import { followPointer } from './pointer.js';
import { type Status, createStatus } from './status.js';
import { type ThemeSwitch, createTheme } from './theme.js';
import { createTools } from './tools.js';
import { type PageState, readHash } from './url-hash.js';

/** Reads the collections, and lets the user retry until the server responds. */
async function readCollections(status: Status): Promise<readonly Collection[]> {
  for (;;) {
    try {
      const { collections } = await request<{ readonly collections: { readonly nodes: readonly Collection[] } }>(
        COLLECTIONS,
      );
      return collections.nodes;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await new Promise<void>((resolve) =>
        status.show(`Could not load the collections: ${message}`, { label: 'Retry', act: resolve }),
      );
    }
  }
}

/** The button that opens the list of layers on small screens. */
function createLayersToggle(): HTMLElement {
  const toggle = byId('layers-toggle');
  toggle.append(icon('layers'));
  toggle.setAttribute('aria-label', 'Layers');
  toggle.addEventListener('click', () => {
    toggle.setAttribute('aria-expanded', String(document.body.classList.toggle('with-layers')));
  });
  return toggle;
}

interface PageOptions {
  readonly map: MapLibre;
  readonly collections: readonly Collection[];
  readonly status: Status;
  readonly theme: ThemeSwitch;
  /** Whether changes may fade. */
  readonly fade: boolean;
}

/** The page around the map: connects its parts with each other. */
class Page {
  readonly #map: MapLibre;
  readonly #status: Status;
  readonly #theme: ThemeSwitch;
  readonly #pulse;
  readonly #explain;
  readonly #layers;
  readonly #edit;
  readonly #selection;
  readonly #places;
  readonly #tools;
  readonly #address;
  readonly #layersToggle = createLayersToggle();

  constructor({ map, collections, status, theme, fade }: PageOptions) {
    this.#map = map;
    this.#status = status;
    this.#theme = theme;
    this.#pulse = createPulse(map);
    this.#explain = createExplain(map, byId('explain'));
    this.#layers = createLayerSet(map, collections, {
      theme: theme.theme,
      fade,
      onState: (state) => this.#onState(state),
      onChange: (position) => {
        this.#pulse(position);
        this.#selection.refresh();
      },
      onAnswer: (answer) => this.#onAnswer(answer),
    });
    const layers = () => this.#layers.all;
    this.#selection = createSelection(map, {
      buttonsFor: (marker) => this.#edit.buttonsFor(marker),
      onChange: () => this.#address.write(),
      onError: (message) => status.show(message),
    });
    this.#edit = new EditMode({
      map,
      place: byId('edit'),
      layers,
      status,
      showCard: (content) => this.#selection.show(content),
      onSet: (on) => {
        this.#tools.edit.set(on);
        document.body.classList.toggle('editing', on);
        this.#selection.refresh();
      },
    });
    this.#places = createPlacesPanel(map, layers, {
      onMarker: ({ id, name, key }) => void this.#selection.openMarker(id, name ?? key),
      onCluster: (layer, cluster) => void this.#expand(layer, cluster),
    });
    this.#tools = createTools(byId('tools'), map, {
      onList: () => this.#showPlaces(!this.#places.open),
      onEdit: () => this.#edit.set(!this.#edit.on),
      onExplain: () => this.#showExplain(byId('explain').hidden !== false),
      onTheme: () => theme.toggle(),
    });
    this.#tools.setTheme(theme.theme);
    const state = () => ({
      ...this.#layers.address,
      ...(this.#selection.id !== undefined && { place: this.#selection.id }),
    });
    this.#address = keepAddress(map, state, (next) => this.go(next));
    map.on('moveend', () => this.#address.write());
    followPointer(map, layers, {
      onMarker: (id, name) => void this.#selection.openMarker(id, name),
      onCluster: (layer, cluster) => void this.#expand(layer, cluster),
      onZone: (name, id, { collection }) => this.#selection.openZone(name, id, collection.name),
      onGround: (position, onZone) => {
        if (this.#edit.on) this.#edit.clickedAt(position);
        else if (!onZone) this.#selection.show(undefined);
        return this.#edit.on;
      },
    });
    followKeys(map, () => this.#closeTopmost());
    // For the browser's console.
    Object.assign(globalThis, { cellport: { map, layers: this.#layers.all } });
  }

  /** Shows the state of an address. */
  go(state: PageState): void {
    this.#layers.show(state);
    if (state.at) this.#map.jumpTo({ center: state.at, zoom: state.at.zoom });
    const { id } = this.#selection;
    if (state.place === undefined && id !== undefined) this.#selection.show(undefined);
    if (state.place !== undefined && state.place !== id) void this.#selection.openMarker(state.place);
    this.#drawLayerList();
    // If no layer is on, nothing else ends the loading indicator.
    if (this.#layers.all.every(({ states }) => states.length === 0)) this.#status.loading(false);
    this.#places.update();
  }

  repaint(): void {
    const { theme } = this.#theme;
    repaintBase(this.#map, theme);
    this.#layers.repaint(theme);
    this.#drawLayerList();
    this.#tools.setTheme(theme);
  }

  #onState({ loading, error }: Pick<ViewportState, 'loading' | 'error'>): void {
    this.#status.loading(loading);
    if (!loading) this.#places.update();
    const message = `Could not update the map: ${error?.message}`;
    if (error) this.#status.show(message, { label: 'Retry', act: () => this.#layers.refresh() });
    else this.#status.clear();
  }

  #onAnswer(answer: Answer): void {
    const states = this.#layers.all.flatMap((layer) => layer.states);
    const shown = states.flatMap(({ markers, clusters, cells, zones }) => [markers, clusters, cells, zones].flat());
    this.#explain.record(answer, shown.length);
  }

  async #expand(layer: CollectionLayer, cluster: MapCluster): Promise<void> {
    const found = await layer.expand(cluster).catch(() => undefined);
    if (found?.marker) {
      const { id, name, key } = found.marker;
      return this.#selection.openMarker(id, name ?? key);
    }
    this.#address.write('step');
    flyInto(this.#map, cluster, found?.zoom);
  }

  #showPlaces(on: boolean): void {
    this.#places.set(on);
    this.#tools.list.set(on);
  }

  #showExplain(on: boolean): void {
    this.#explain.setVisible(on);
    this.#layers.setExplain(on);
    this.#tools.explain?.set(on);
  }

  #drawLayerList(): void {
    drawLayerList(byId('layers'), this.#layers.all, this.#theme.theme, (layer, drawn) => {
      layer.set(drawn);
      this.#drawLayerList();
      this.#places.update();
      this.#address.write('step');
    });
  }

  #closeTopmost(): void {
    if (!byId('card').hidden) this.#selection.show(undefined);
    else if (document.body.classList.contains('with-layers')) this.#layersToggle.click();
    else if (this.#places.open) this.#showPlaces(false);
    else if (this.#edit.on) this.#edit.set(false);
  }
}

/** Opens the map and everything around it. Rejects if the browser cannot draw it. */
export async function startPage(): Promise<void> {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const initial = readHash(location.hash);
  const status = createStatus();
  status.loading(true);
  let page: Page | undefined;
  const theme = createTheme(() => page?.repaint());
  const reading = readCollections(status);
  const map = await openMap(theme.theme, initial.at, still);
  const collections = await reading;
  const bounds = collections.find((each) => each.bounds !== null)?.bounds;
  if (!initial.at && bounds) fitWithoutAnimation(map, bounds);
  page = new Page({ map, collections, status, theme, fade: !still });
  page.go(initial);
}
