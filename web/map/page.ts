import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer, MapCluster, ViewportState } from '../../src/client/public.js';
import { keepAddress } from './address.js';
import { CollectionFeed, type FirstCollections } from './collections.js';
import type { Collection } from './documents.js';
import { EditMode } from './edit/edit-mode.js';
import { byId } from './element.js';
import { createExplain } from './explain/explain.js';
import { createFilters } from './filter/filters.js';
import { flyInto } from './fly.js';
import { watchEmptyViews } from './empty-view.js';
import { createHover } from './hover.js';
import { followKeys } from './keys.js';
import { createImporting } from './import/importing.js';
import type { CollectionLayer, Drawn } from './layers/collection-layer.js';
import { drawLayerList } from './layers/layer-list.js';
import { createLayerSet } from './layers/layer-set.js';
import { createPulse } from './layers/pulse.js';
import { canLocate, createLocate } from './locate.js';
import { createOnDemand } from './on-demand.js';
import { repaintBase } from './open-map.js';
import { createSelection } from './panel/selection.js';
import { createPlacesPanel } from './places-panel.js';
import { followPointer } from './pointer.js';
import { createSeen } from './seen.js';
import { shareLink } from './share.js';
import { type Sheet, createLayersSheet, keepOneSheet, sheetOf } from './sheets.js';
import type { Status } from './status.js';
import type { ThemeSwitch } from './theme.js';
import { createTools } from './tools.js';
import type { PageState } from './url-hash.js';

export interface PageOptions {
  readonly map: MapLibre;
  readonly collections: FirstCollections;
  readonly status: Status;
  readonly theme: ThemeSwitch;
  /** Whether changes may fade. */
  readonly fade: boolean;
}

/** The page around the map: connects its parts with each other. */
export class Page {
  readonly #map: MapLibre;
  readonly #status: Status;
  readonly #theme: ThemeSwitch;
  readonly #pulse;
  readonly #explain;
  readonly #layers;
  readonly #edit;
  readonly #selection;
  readonly #filters;
  readonly #onDemand;
  readonly #places;
  readonly #watchEmpty;
  readonly #tools;
  readonly #address;
  readonly #feed;
  readonly #importing;
  readonly #sheets;
  readonly #keepOneSheet;

  constructor({ map, collections, status, theme, fade }: PageOptions) {
    this.#map = map;
    this.#status = status;
    this.#theme = theme;
    this.#pulse = createPulse(map);
    this.#explain = createExplain(map, byId('explain'));
    this.#layers = createLayerSet(map, {
      theme: theme.theme,
      fade,
      onState: (state) => this.#onState(state),
      onChange: (position) => {
        this.#pulse(position);
        this.#selection.refresh();
        this.#feed.refresh();
      },
      onAnswer: (answer) => this.#onAnswer(answer),
    });
    const layers = () => this.#layers.all;
    this.#selection = createSelection(map, {
      counted: () => this.#countedInZones(),
      buttonsFor: (marker) => this.#edit.buttonsFor(marker),
      onChange: () => {
        if (this.#sheets.card.open) this.#keepOneSheet(this.#sheets.card);
        this.#address.write('step');
      },
      onError: (message) => status.show(message),
    });
    this.#edit = new EditMode({
      map,
      place: byId('edit'),
      layers,
      status,
      showCard: (content) => this.#selection.show(content),
      openMarker: ({ id, name, key }) => void this.#selection.openMarker(id, name ?? key),
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
    const seen = createSeen();
    this.#filters = createFilters({
      layers,
      seen,
      theme: () => theme.theme,
      onSet: () => {
        this.#places.update();
        this.#address.write('step');
      },
      onOpen: (open) => {
        this.#tools.filter.set(open);
        if (open) this.#keepOneSheet(this.#sheets.filter);
      },
      onMissing: () => this.#onDemand.missing(),
    });
    const address = () => this.#address;
    this.#onDemand = createOnDemand({ map, layers, seen, selection: this.#selection, address, status });
    this.#watchEmpty = watchEmptyViews(map, layers);
    this.#tools = createTools(byId('tools'), map, {
      onSearch: () => this.#onDemand.search(),
      onLocate: canLocate ? createLocate(map, status) : undefined,
      onList: () => this.#showPlaces(!this.#places.open),
      onFilter: () => this.#filters.setOpen(!this.#filters.open),
      onEdit: () => this.#edit.set(!this.#edit.on),
      onExplain: () => this.#showExplain(byId('explain').hidden !== false),
      onShare: () => void shareLink(status),
      onTheme: () => theme.toggle(),
      onKeys: () => this.#onDemand.keys(),
    });
    this.#tools.setTheme(theme.theme);
    const state = () => ({ ...this.#layers.address, ...this.#selection.address });
    this.#address = keepAddress(map, state, (next) => this.go(next));
    map.on('moveend', () => this.#address.write());
    followPointer(map, layers, {
      onHover: createHover(map, layers),
      onMarker: (id, name) => void this.#selection.openMarker(id, name),
      onCluster: (layer, cluster) => void this.#expand(layer, cluster),
      onZone: (id, name) => void this.#selection.openZone(id, name),
      onGround: (position, onZone) => {
        if (this.#edit.on) this.#edit.clickedAt(position);
        else if (!onZone) this.#selection.show(undefined);
        return this.#edit.on;
      },
    });
    followKeys(map, {
      close: () => this.#closeTopmost(),
      search: () => this.#onDemand.search(),
      help: () => this.#onDemand.keys(),
    });
    this.#importing = this.#createImporting();
    this.#sheets = this.#createSheets();
    this.#keepOneSheet = keepOneSheet(Object.values(this.#sheets));
    this.#feed = new CollectionFeed(collections, (changed) => this.#update(changed));
    // For the browser's console.
    Object.defineProperty(globalThis, 'cellport', { get: () => ({ map, layers: this.#layers.all }) });
  }

  /** Shows the collections and the state of an address. */
  begin({ collections }: FirstCollections, state: PageState): void {
    this.#layers.show(state);
    this.#layers.update(collections);
    this.#importing.setFirstScreen(collections.length === 0);
    this.go(state);
  }

  /** Shows the state of an address. */
  go(state: PageState): void {
    this.#layers.show(state);
    if (state.at) this.#map.jumpTo({ center: state.at, zoom: state.at.zoom });
    this.#address.withoutSteps(() => this.#selection.go(state));
    this.#drawLayerList();
    // If no layer is on, nothing else ends the loading indicator.
    if (this.#layers.all.every(({ states }) => states.length === 0)) this.#status.loading(false);
    this.#places.update();
    this.#filters.update();
    this.#watchEmpty();
  }

  repaint(): void {
    const { theme } = this.#theme;
    repaintBase(this.#map, theme);
    this.#layers.repaint(theme);
    this.#filters.update();
    this.#drawLayerList();
    this.#tools.setTheme(theme);
  }

  /** Requests what is in view again. */
  refresh(): void {
    this.#layers.refresh();
  }

  #onState({ loading, error }: Pick<ViewportState, 'loading' | 'error'>): void {
    this.#status.loading(loading);
    if (!loading) {
      this.#places.update();
      this.#filters.update();
    }
    this.#watchEmpty();
    const message = `Could not update the map: ${error?.message}`;
    if (error) this.#status.show(message, { label: 'Retry', act: () => this.#layers.refresh() });
    else this.#status.clear();
  }

  /** Collections have come, gone or changed. */
  #update(collections: readonly Collection[]): void {
    this.#layers.update(collections);
    this.#importing.setFirstScreen(collections.length === 0);
    this.#edit.redraw();
    this.#drawLayerList();
    this.#places.update();
    this.#filters.update();
  }

  #onAnswer(answer: Answer): void {
    const states = this.#layers.all.flatMap((layer) => layer.states);
    const shown = states.flatMap(({ markers, clusters, cells, zones }) => [markers, clusters, cells, zones].flat());
    this.#explain.record(answer, shown.length);
  }

  /** Those with markers that are shown; if there are none, all with markers. */
  #countedInZones(): readonly Collection[] {
    const filled = this.#layers.all.filter(({ collection }) => collection.count > 0);
    const shown = filled.filter(({ drawn }) => drawn !== 'off');
    return (shown.length > 0 ? shown : filled).map(({ collection }) => collection);
  }

  async #expand(layer: CollectionLayer, cluster: MapCluster): Promise<void> {
    const found = await layer.expand(cluster).catch(() => undefined);
    if (found?.marker) {
      const { id, name, key } = found.marker;
      return this.#selection.openMarker(id, name ?? key);
    }
    this.#address.write('coming');
    flyInto(this.#map, cluster, found?.zoom);
  }

  #createImporting() {
    const shown = (key: string) => {
      const layer = this.#layers.all.find(({ collection }) => collection.key === key);
      if (layer && layer.drawn === 'off') this.#setLayer(layer, 'points');
    };
    return createImporting({
      map: this.#map,
      collections: () => this.#layers.all.map(({ collection }) => collection),
      onCreate: (collection) => {
        this.#feed.add(collection);
        shown(collection.key);
        if (this.#importing.open) return;
        this.#edit.set(true, collection.key);
        this.#status.show(`Created ${collection.name}. Click on the map to add places.`);
      },
      onWrite: (key) => {
        shown(key);
        this.#feed.refresh();
      },
      onOpen: () => this.#keepOneSheet(this.#importing),
      onError: (message) => this.#status.show(message),
    });
  }

  /** What is a sheet on a small screen, the topmost first. */
  #createSheets() {
    const filters = this.#filters;
    return {
      importing: this.#importing,
      card: sheetOf(byId('card'), () => this.#selection.show(undefined)),
      layers: createLayersSheet((sheet) => this.#keepOneSheet(sheet)),
      filter: {
        get open() {
          return filters.open;
        },
        close: () => filters.setOpen(false),
      },
      places: sheetOf(byId('places'), () => this.#showPlaces(false)),
      explain: sheetOf(byId('explain'), () => this.#showExplain(false)),
    } satisfies Record<string, Sheet>;
  }

  #showPlaces(on: boolean): void {
    this.#places.set(on);
    this.#tools.list.set(on);
    if (on) this.#keepOneSheet(this.#sheets.places);
  }

  #showExplain(on: boolean): void {
    this.#explain.setVisible(on);
    this.#layers.setExplain(on);
    this.#tools.explain?.set(on);
    if (on) this.#keepOneSheet(this.#sheets.explain);
  }

  #setLayer(layer: CollectionLayer, drawn: Drawn): void {
    this.#layers.set(layer, drawn);
    this.#drawLayerList();
    this.#places.update();
    this.#filters.update();
    this.#address.write('step');
  }

  #drawLayerList(): void {
    drawLayerList(byId('layers'), this.#layers.all, this.#theme.theme, {
      onSet: (layer, drawn) => this.#setLayer(layer, drawn),
      onImport: () => this.#importing.choose(),
      onNew: () => this.#importing.newCollection(),
    });
  }

  #closeTopmost(): void {
    const { explain, ...sheets } = this.#sheets;
    const topmost = Object.values(sheets).find(({ open }) => open);
    if (topmost) topmost.close();
    else if (this.#edit.on) this.#edit.set(false);
    else if (explain.open) explain.close();
  }
}
