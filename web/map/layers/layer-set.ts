import type { Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import type { Answer, MapMarker, ViewportState } from '../../../src/client/public.js';
import type { Theme } from '../base-map/palette.js';
import type { Collection } from '../documents.js';
import { NO_RULES } from '../filter/rules.js';
import type { PageState } from '../url-hash.js';
import { accentsOf } from './accents.js';
import { CollectionLayer, type Drawn } from './collection-layer.js';

export interface LayerSetOptions {
  readonly theme: Theme;
  /** Whether changes may fade. */
  readonly fade: boolean;
  /** Called while anything is loading, and when loading has finished or failed. */
  readonly onState: (status: { readonly loading: boolean; readonly error: Error | null }) => void;
  /** Called with the position of a marker on the screen that somebody has changed. */
  readonly onChange: (position: MapMarker['position']) => void;
  /** Called with each response while Explain is on. */
  readonly onAnswer: (answer: Answer) => void;
}

/** Layers that are on at first; each has its own requests and its own subscription. */
const MAX_ON_AT_FIRST = 8;

/** All collections as layers of one map. */
export interface LayerSet {
  readonly all: readonly CollectionLayer[];
  /** For the page's address: the layers that the user has switched on, if not those that are on by default, and all rules. */
  readonly address: Pick<PageState, 'on' | 'heat' | 'rules'>;
  /** Adds layers for new collections, removes those of deleted ones, and updates the others. */
  update(collections: readonly Collection[]): void;
  /** Switches layers on and off. Without `on`, those with places are on, also if they appear later. */
  show(state: Pick<PageState, 'on' | 'heat' | 'rules'>): void;
  /** Switches one layer. */
  set(layer: CollectionLayer, drawn: Drawn): void;
  repaint(theme: Theme): void;
  refresh(): void;
  setExplain(on: boolean): void;
}

/** Creates an empty set of layers; they follow the map. */
export function createLayerSet(map: MapLibre, { onState, onChange, onAnswer, ...options }: LayerSetOptions): LayerSet {
  const answered = new Set<Answer>();
  let { theme } = options;
  let explain = false;
  let all: readonly CollectionLayer[] = [];
  let accents: ReadonlyMap<string, number> = new Map();
  let wanted: Pick<PageState, 'on' | 'heat' | 'rules'> = {};

  function publish(state: ViewportState): void {
    const states = all.flatMap((layer) => layer.states);
    const error = states.find((each) => each.error !== null)?.error ?? null;
    onState({ loading: states.some(({ loading }) => loading), error });
    // A state keeps its answer until there is another one.
    if (state.answer === null || state.answer.cost === null || answered.has(state.answer)) return;
    answered.clear();
    answered.add(state.answer);
    onAnswer(state.answer);
  }

  function create(collection: Collection): CollectionLayer {
    const accent = accents.get(collection.key) ?? 0;
    const layer = new CollectionLayer(map, collection, accent, { ...options, theme, onState: publish, onChange });
    layer.setExplain(explain);
    layer.setRules(wanted.rules?.get(collection.key) ?? NO_RULES);
    layer.view(boundsOf(map), map.getZoom());
    return layer;
  }

  const keysOf = (layers: readonly CollectionLayer[]) => layers.map(({ collection }) => collection.key);
  const drawnAs = (...kinds: readonly Drawn[]) => keysOf(all.filter(({ drawn }) => kinds.includes(drawn)));

  /** Keys of the layers that are on unless the user chooses: those with places, after those given. */
  function byDefault(first: readonly string[] = []): readonly string[] {
    const withPlaces = all.filter(({ collection }) => collection.count > 0);
    const on = [...first, ...keysOf(withPlaces.length > 0 ? withPlaces : all)];
    return [...new Set(on)].slice(0, MAX_ON_AT_FIRST);
  }

  function apply(on: readonly string[], heat: readonly string[] = []): void {
    for (const layer of all) {
      const { key } = layer.collection;
      const next: Drawn = on.includes(key) ? (heat.includes(key) ? 'heat' : 'points') : 'off';
      if (layer.drawn !== next) layer.set(next);
    }
  }

  map.on('move', () => {
    for (const layer of all) layer.view(boundsOf(map), map.getZoom());
  });

  return {
    get all() {
      return all;
    },
    get address() {
      const { on, heat } = wanted;
      const rules = new Map(all.map((layer) => [layer.collection.key, layer.rules]));
      return { ...(on && { on }), ...(heat && { heat }), rules };
    },
    update(collections) {
      accents = accentsOf(collections, accents);
      const before = new Map(all.map((layer) => [layer.collection.key, layer]));
      all = collections.map((collection) => {
        const layer = before.get(collection.key) ?? create(collection);
        before.delete(collection.key);
        layer.collection = collection;
        // It may have its first zones.
        if (layer.drawn !== 'off') layer.set(layer.drawn);
        return layer;
      });
      for (const layer of before.values()) layer.set('off');
      apply(wanted.on ?? byDefault(drawnAs('points', 'heat')), wanted.heat);
    },
    show(state) {
      wanted = state;
      for (const layer of all) layer.setRules(state.rules?.get(layer.collection.key) ?? NO_RULES);
      apply(state.on ?? byDefault(), state.heat);
    },
    set(layer, drawn) {
      layer.set(drawn);
      // Those that are not known yet stay wanted.
      const unknown = (wanted.on ?? []).filter((key) => !keysOf(all).includes(key));
      wanted = { ...wanted, on: [...drawnAs('points', 'heat'), ...unknown], heat: drawnAs('heat') };
    },
    repaint(next) {
      theme = next;
      for (const layer of all) layer.repaint(next);
    },
    refresh() {
      for (const layer of all) layer.refresh();
    },
    setExplain(on) {
      explain = on;
      for (const layer of all) layer.setExplain(on);
    },
  };
}
