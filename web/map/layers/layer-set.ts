import type { Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import type { Answer, MapMarker, ViewportState } from '../../../src/client/public.js';
import type { PageState } from '../address/url-hash.js';
import type { Collection } from '../api/documents.js';
import type { Theme } from '../base-map/palette.js';
import { NO_RULES } from '../rules/rules.js';
import { accentsOf } from './accents.js';
import { CollectionLayer, type Drawn } from './collection-layer.js';

export interface LayerSetOptions {
  readonly theme: Theme;
  /** Whether changes may be animated by fading. */
  readonly fade: boolean;
  /** Called while anything is loading, and when loading has finished or failed. */
  readonly onState: (status: { readonly loading: boolean; readonly error: Error | null }) => void;
  /** Called with the markers on the screen that someone has changed. */
  readonly onChange: (changed: readonly MapMarker[]) => void;
  /** Called with each response while Explain is on. */
  readonly onAnswer: (answer: Answer) => void;
}

/** Maximum number of layers on at first: each has its own requests and subscription. */
const MAX_ON_AT_FIRST = 8;

type Wanted = Pick<PageState, 'on' | 'heat' | 'rules'>;

const keysOf = (layers: readonly CollectionLayer[]) => layers.map(({ collection }) => collection.key);

/** All collections as layers of one map, which they follow; none at first. */
export class LayerSet {
  readonly #map: MapLibre;
  readonly #options: LayerSetOptions;
  readonly #answered = new Set<Answer>();
  #theme: Theme;
  #explain = false;
  #all: readonly CollectionLayer[] = [];
  #accents: ReadonlyMap<string, number> = new Map();
  #wanted: Wanted = {};

  constructor(map: MapLibre, options: LayerSetOptions) {
    this.#map = map;
    this.#options = options;
    this.#theme = options.theme;
    map.on('move', () => {
      for (const layer of this.#all) layer.view(boundsOf(map), map.getZoom());
    });
  }

  get all(): readonly CollectionLayer[] {
    return this.#all;
  }

  /**
   * The part of the page's address about layers: those turned on by the user, unless they are the default, and all
   * rules.
   */
  get address(): Wanted {
    const { on, heat } = this.#wanted;
    const rules = new Map(this.#all.map((layer) => [layer.collection.key, layer.rules]));
    return { ...(on && { on }), ...(heat && { heat }), rules };
  }

  /** Adds layers for new collections, removes those of deleted ones and updates the others. */
  update(collections: readonly Collection[]): void {
    this.#accents = accentsOf(collections, this.#accents);
    const before = new Map(this.#all.map((layer) => [layer.collection.key, layer]));
    this.#all = collections.map((collection) => {
      const layer = before.get(collection.key) ?? this.#create(collection);
      before.delete(collection.key);
      layer.collection = collection;
      // The collection may have its first zones.
      if (layer.drawn !== 'off') layer.set(layer.drawn);
      return layer;
    });
    for (const layer of before.values()) layer.set('off');
    const { on, heat } = this.#wanted;
    this.#apply(on ?? this.#byDefault(this.#drawnAs('points', 'heat')), heat);
  }

  /** Turns layers on and off. Without `on`, those with places are on, including ones that appear later. */
  show(state: Wanted): void {
    this.#wanted = state;
    for (const layer of this.#all) layer.setRules(state.rules?.get(layer.collection.key) ?? NO_RULES);
    this.#apply(state.on ?? this.#byDefault(), state.heat);
  }

  /** Turns one layer on or off. */
  set(layer: CollectionLayer, drawn: Drawn): void {
    layer.set(drawn);
    // Unknown keys remain requested.
    const unknown = (this.#wanted.on ?? []).filter((key) => !keysOf(this.#all).includes(key));
    const on = [...this.#drawnAs('points', 'heat'), ...unknown];
    this.#wanted = { ...this.#wanted, on, heat: this.#drawnAs('heat') };
    this.#publish();
  }

  repaint(theme: Theme): void {
    this.#theme = theme;
    for (const layer of this.#all) layer.repaint(theme);
  }

  refresh(anew = false): void {
    for (const layer of this.#all) layer.refresh(anew);
  }

  setExplain(on: boolean): void {
    this.#explain = on;
    for (const layer of this.#all) layer.setExplain(on);
  }

  /** Reports whether anything is loading. A layer that is switched off while it loads reports nothing itself. */
  #publish(): void {
    const states = this.#all.flatMap((layer) => layer.states);
    const error = states.find((each) => each.error !== null)?.error ?? null;
    this.#options.onState({ loading: states.some(({ loading }) => loading), error });
  }

  #follow(state: ViewportState): void {
    this.#publish();
    // A state keeps its answer until there is a new one.
    if (state.answer === null || state.answer.cost === null || this.#answered.has(state.answer)) return;
    this.#answered.clear();
    this.#answered.add(state.answer);
    this.#options.onAnswer(state.answer);
  }

  #create(collection: Collection): CollectionLayer {
    const { fade, onChange } = this.#options;
    const accent = this.#accents.get(collection.key) ?? 0;
    const onState = (state: ViewportState) => this.#follow(state);
    const layer = new CollectionLayer(this.#map, collection, accent, { fade, theme: this.#theme, onState, onChange });
    layer.setExplain(this.#explain);
    layer.setRules(this.#wanted.rules?.get(collection.key) ?? NO_RULES);
    layer.view(boundsOf(this.#map), this.#map.getZoom());
    return layer;
  }

  #drawnAs(...kinds: readonly Drawn[]): string[] {
    return keysOf(this.#all.filter(({ drawn }) => kinds.includes(drawn)));
  }

  /** Keys of the layers that are on by default: the given ones, then others with places. */
  #byDefault(first: readonly string[] = []): readonly string[] {
    const withPlaces = this.#all.filter(({ collection }) => collection.count > 0);
    const on = [...first, ...keysOf(withPlaces.length > 0 ? withPlaces : this.#all)];
    return [...new Set(on)].slice(0, MAX_ON_AT_FIRST);
  }

  #apply(on: readonly string[], heat: readonly string[] = []): void {
    for (const layer of this.#all) {
      const { key } = layer.collection;
      const next: Drawn = on.includes(key) ? (heat.includes(key) ? 'heat' : 'points') : 'off';
      if (layer.drawn !== next) layer.set(next);
    }
    this.#publish();
  }
}
