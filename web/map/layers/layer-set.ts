import type { Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import type { Answer, MapMarker, ViewportState } from '../../../src/client/public.js';
import type { Theme } from '../base-map/palette.js';
import type { Collection } from '../documents.js';
import { NO_RULES } from '../filter/rules.js';
import type { PageState } from '../url-hash.js';
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

/** All collections as layers of one map. */
export interface LayerSet {
  readonly all: readonly CollectionLayer[];
  /** The layers that are on and their rules, for the page's address. */
  readonly address: Pick<PageState, 'on' | 'heat' | 'rules'>;
  /** Switches layers on and off. Without `on`, those with places are on. */
  show(state: Pick<PageState, 'on' | 'heat' | 'rules'>): void;
  repaint(theme: Theme): void;
  refresh(): void;
  setExplain(on: boolean): void;
}

/** Creates a layer for each collection; they follow the map. */
export function createLayerSet(
  map: MapLibre,
  collections: readonly Collection[],
  { theme, fade, onState, onChange, onAnswer }: LayerSetOptions,
): LayerSet {
  const answered = new Set<Answer>();

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

  const all: readonly CollectionLayer[] = collections.map(
    (collection, accent) => new CollectionLayer(map, collection, accent, { theme, fade, onState: publish, onChange }),
  );
  const keysOf = (drawn: Drawn) => all.filter((layer) => layer.drawn === drawn).map(({ collection }) => collection.key);
  const view = () => {
    for (const layer of all) layer.view(boundsOf(map), map.getZoom());
  };
  map.on('move', view);
  view();

  return {
    all,
    get address() {
      const rules = new Map(all.map((layer) => [layer.collection.key, layer.rules]));
      return { on: [...keysOf('points'), ...keysOf('heat')], heat: keysOf('heat'), rules };
    },
    show({ on, heat = [], rules }) {
      const withPlaces = all.filter(({ collection }) => collection.count > 0);
      const wanted = on ?? (withPlaces.length > 0 ? withPlaces : all).map(({ collection }) => collection.key);
      for (const layer of all) {
        const { key } = layer.collection;
        const next: Drawn = wanted.includes(key) ? (heat.includes(key) ? 'heat' : 'points') : 'off';
        layer.setRules(rules?.get(key) ?? NO_RULES);
        if (layer.drawn !== next) layer.set(next);
      }
    },
    repaint(next) {
      for (const layer of all) layer.repaint(next);
    },
    refresh() {
      for (const layer of all) layer.refresh();
    },
    setExplain(on) {
      for (const layer of all) layer.setExplain(on);
    },
  };
}
