import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer, ViewportState } from '../../../src/client/public.js';
import { showSignIn } from '../../access/sign-in.js';
import { isAdmin, isAsked } from '../../access/viewer.js';
import { keepAddress } from '../address/address.js';
import { shareLink } from '../address/share.js';
import type { PageState } from '../address/url-hash.js';
import { CollectionFeed, keysWithout, type FirstCollections } from '../api/collections.js';
import { isPassing, type Connection } from '../api/connection.js';
import type { Collection } from '../api/documents.js';
import { currentViewer, mayWrite } from '../api/permissions.js';
import { byId } from '../dom/element.js';
import type { Status } from '../dom/status.js';
import { createExplain } from '../explain/explain.js';
import { createFilters } from '../filter/filters.js';
import { showKeys } from '../help/keys-dialog.js';
import { createImporting } from '../import/importing.js';
import type { CollectionLayer, Drawn } from '../layers/collection-layer.js';
import { drawLayerList } from '../layers/layer-list.js';
import { LayerSet } from '../layers/layer-set.js';
import { createPulse } from '../layers/pulse.js';
import { watchEmptyViews } from '../places/empty-view.js';
import { createSearch } from '../search/search.js';
import { createSeen } from '../view/seen.js';
import { createInteraction } from './interaction.js';
import { followKeys } from './keys.js';
import { canLocate, createLocate } from './locate.js';
import { repaintBase } from './open-map.js';
import { createPageSheets } from './page-sheets.js';
import type { ThemeSwitch } from './theme.js';
import { createTools } from './tools.js';
import { createWho } from './who.js';

export interface PageOptions {
  readonly map: MapLibre;
  readonly collections: FirstCollections;
  readonly status: Status;
  readonly connection: Connection;
  readonly theme: ThemeSwitch;
  /** Whether changes may be animated by fading. */
  readonly fade: boolean;
}

/** Everything around the map: connects the parts of the page. */
export class Page {
  readonly #map: MapLibre;
  readonly #status: Status;
  readonly #connection: Connection;
  readonly #theme: ThemeSwitch;
  readonly #pulse;
  readonly #explain;
  readonly #layers;
  readonly #interaction;
  readonly #filters;
  readonly #openSearch;
  readonly #watchEmpty;
  readonly #tools;
  readonly #address;
  readonly #feed;
  readonly #importing;
  readonly #sheets;
  readonly #drawWho = createWho();
  #isSignInOffered = false;

  constructor({ map, collections, status, connection, theme, fade }: PageOptions) {
    this.#map = map;
    this.#status = status;
    this.#connection = connection;
    this.#theme = theme;
    this.#pulse = createPulse(map);
    this.#explain = createExplain(map, byId('explain'));
    this.#layers = new LayerSet(map, {
      theme: theme.theme,
      fade,
      onState: (state) => this.#onState(state),
      onChange: (changed) => {
        for (const { position } of changed) this.#pulse(position);
        this.#interaction.selection.refresh(changed);
        this.#feed.refresh();
      },
      onAnswer: (answer) => this.#onAnswer(answer),
    });
    const layers = () => this.#layers.all;
    const address = () => this.#address;
    this.#interaction = createInteraction({
      map,
      layers,
      status,
      address,
      onCard: () => {
        this.#sheets.keep('card');
        this.#address.write('step');
      },
      onEdit: (on) => this.#tools.edit.set(on),
    });
    const { selection, edit, places } = this.#interaction;
    const seen = createSeen();
    this.#filters = createFilters({
      layers,
      seen,
      theme: () => theme.theme,
      onSet: () => {
        places.update();
        this.#address.write('step');
      },
      onOpen: (open) => {
        this.#tools.filter.set(open);
        this.#sheets.keep('filter');
      },
    });
    this.#openSearch = createSearch({
      map,
      layers,
      seen,
      selection,
      showLayer: (layer) => {
        if (layer.drawn === 'off') this.#setLayer(layer, 'points');
      },
      onStep: () => this.#address.write('coming'),
    });
    this.#watchEmpty = watchEmptyViews(map, layers);
    this.#tools = this.#createTools();
    this.#tools.setTheme(theme.theme);
    const state = () => ({ ...this.#layers.address, ...selection.address });
    this.#address = keepAddress(map, state, (next) => this.go(next));
    map.on('moveend', () => this.#address.write());
    followKeys(map, {
      close: () => this.#sheets.closeTopmost(),
      search: this.#openSearch,
      help: showKeys,
    });
    this.#importing = this.#createImporting();
    this.#sheets = createPageSheets({
      importing: this.#importing,
      selection,
      filters: this.#filters,
      edit,
      showPlaces: (on) => this.#showPlaces(on),
      showExplain: (on) => this.#showExplain(on),
    });
    this.#feed = new CollectionFeed(collections, (changed) => this.#update(changed));
    // For use in the browser's console.
    Object.defineProperty(globalThis, 'cellport', { get: () => ({ map, layers: this.#layers.all }) });
  }

  /** Shows the collections and the state of an address. */
  begin({ collections }: FirstCollections, state: PageState): void {
    this.#layers.show(state);
    this.#layers.update(collections);
    this.#importing.setFirstScreen(collections.length === 0);
    this.#allow();
    this.go(state);
  }

  /** Shows the state of an address, and says what it names that does not exist. */
  go(state: PageState): void {
    this.#layers.show(state);
    if (state.at) this.#map.jumpTo({ center: state.at, zoom: state.at.zoom });
    this.#address.withoutSteps(() => void this.#sayMissing(state, this.#interaction.selection.go(state, !state.at)));
    this.#drawPanels();
    this.#watchEmpty();
  }

  async #sayMissing(
    { on = [], heat = [], rules = new Map(), place }: PageState,
    found: Promise<boolean>,
  ): Promise<void> {
    const known = new Set(this.#layers.all.map(({ collection }) => collection.key));
    const keys = [...new Set([...on, ...heat, ...rules.keys()])].filter((key) => !known.has(key));
    const missing = (await keysWithout(keys)).map((key) => `collection ${key}`);
    if (!(await found)) missing.push(`place ${place}`);
    if (missing.length > 0)
      this.#status.show(`This link refers to things that do not exist here: ${missing.join(', ')}`);
  }

  repaint(): void {
    const { theme } = this.#theme;
    repaintBase(this.#map, theme);
    this.#layers.repaint(theme);
    this.#drawPanels();
    this.#tools.setTheme(theme);
  }

  /** Requests the current view again; with `anew`, also what is being requested. */
  refresh(anew = false): void {
    this.#layers.refresh(anew);
  }

  #onState({ loading, error }: Pick<ViewportState, 'loading' | 'error'>): void {
    this.#status.loading(loading);
    this.#connection({ loading, error });
    // Otherwise the old picture is still shown.
    if (!loading && error === null) {
      this.#interaction.places.update();
      this.#filters.update();
    }
    this.#watchEmpty();
    if (error && 'code' in error && error.code === 'UNAUTHENTICATED') return this.#offerSignIn(error.message);
    if (error && !isPassing(error)) this.#feed.refresh();
    const message = `Could not update the map: ${error?.message}`;
    if (error && !isPassing(error)) this.#status.show(message, { label: 'Retry', act: () => this.#layers.refresh() });
    else this.#status.clear();
  }

  /** Asks to sign in again, the first time in a dialog. */
  #offerSignIn(why: string): void {
    const signIn = () => showSignIn(undefined, why);
    if (!this.#isSignInOffered) signIn();
    this.#isSignInOffered = true;
    this.#status.show(`Could not update the map: ${why}`, { label: 'Sign in', act: signIn });
  }

  /** Offers only what the server would accept. */
  #allow(): void {
    const viewer = currentViewer();
    this.#tools.allow({ edit: mayWrite(), explain: !isAsked(viewer) || isAdmin(viewer) });
    this.#interaction.edit.redraw();
    this.#drawWho();
  }

  /** Handles new, deleted and changed collections. */
  #update(collections: readonly Collection[]): void {
    this.#layers.update(collections);
    this.#importing.setFirstScreen(collections.length === 0);
    this.#allow();
    this.#drawPanels();
  }

  #onAnswer(answer: Answer): void {
    const states = this.#layers.all.flatMap((layer) => layer.states);
    const shown = states.flatMap(({ markers, clusters, cells, zones }) => [markers, clusters, cells, zones].flat());
    this.#explain.record(answer, { shown: shown.length, markers: states.flatMap(({ markers }) => markers) });
  }

  #createTools() {
    const { edit, places } = this.#interaction;
    return createTools(byId('tools'), this.#map, {
      onSearch: this.#openSearch,
      onLocate: canLocate ? createLocate(this.#map, this.#status) : undefined,
      onList: () => this.#showPlaces(!places.open),
      onFilter: () => this.#filters.setOpen(!this.#filters.open),
      onEdit: () => edit.set(!edit.on),
      onExplain: () => this.#showExplain(byId('explain').hidden !== false),
      onShare: () => void shareLink(this.#status),
      onTheme: () => this.#theme.toggle(),
      onKeys: showKeys,
    });
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
        this.#interaction.edit.set(true, collection.key);
        this.#status.show(`Created ${collection.name}. Click the map to add places.`);
      },
      onWrite: (key) => {
        shown(key);
        this.#feed.refresh();
      },
      onOpen: () => this.#sheets.keep('importing'),
    });
  }

  #showPlaces(on: boolean): void {
    this.#interaction.places.set(on);
    this.#tools.list.set(on);
    this.#sheets.keep('places');
  }

  #showExplain(on: boolean): void {
    this.#explain.setVisible(on);
    this.#layers.setExplain(on);
    this.#tools.explain?.set(on);
    this.#sheets.keep('explain');
  }

  #setLayer(layer: CollectionLayer, drawn: Drawn): void {
    this.#layers.set(layer, drawn);
    this.#drawPanels();
    this.#address.write('step');
  }

  /** Redraws the panels that depend on the layers. */
  #drawPanels(): void {
    this.#drawLayerList();
    this.#interaction.places.update();
    this.#filters.update();
  }

  #drawLayerList(): void {
    drawLayerList(byId('layers'), this.#layers.all, this.#theme.theme, {
      onSet: (layer, drawn) => this.#setLayer(layer, drawn),
      onImport: () => this.#importing.choose(),
      onNew: () => this.#importing.newCollection(),
    });
  }
}
