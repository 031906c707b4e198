import type { Map as MapLibre } from 'maplibre-gl';

import type { Answer, MapMarker, ViewportState } from '../../../src/client/public.js';
import type { Theme } from '../base-map/palette.js';
import type { Collection } from '../documents.js';
import { boundsOf } from '../fly.js';
import type { PageState } from '../url-hash.js';
import { type CollectionLayer, type Drawn, createCollectionLayer } from './collection-layer.js';

export interface LayerSetOptions {
  readonly theme: Theme;
  /** Whether what is drawn may fade. */
  readonly fade: boolean;
  /** Something was asked, or came. */
  readonly onState: (status: { readonly loading: boolean; readonly error: Error | null }) => void;
  /** Somebody changed a marker that is drawn. */
  readonly onChange: (position: MapMarker['position']) => void;
  /** What a request cost, while `setExplain` is on. */
  readonly onAnswer: (answer: Answer) => void;
}

/** All collections as layers of one map. */
export interface LayerSet {
  readonly all: readonly CollectionLayer[];
  /** What an address says of them. */
  readonly address: Pick<PageState, 'on' | 'heat'>;
  /** Switches on and off as an address says; where it does not, those that have places are on. */
  show(state: Pick<PageState, 'on' | 'heat'>): void;
  repaint(theme: Theme): void;
  refresh(): void;
  setExplain(on: boolean): void;
}

/** Puts collections on a map, and lets them follow where it goes. */
export function createLayerSet(
  map: MapLibre,
  collections: readonly Collection[],
  { theme, fade, onState, onChange, onAnswer }: LayerSetOptions,
): LayerSet {
  const answered = new Set<Answer>();

  function tell(state: ViewportState): void {
    const states = all.flatMap((layer) => layer.states);
    const error = states.find((each) => each.error !== null)?.error ?? null;
    onState({ loading: states.some(({ loading }) => loading), error });
    // The same answer comes with each change of the state until there is another one.
    if (state.answer === null || state.answer.cost === null || answered.has(state.answer)) return;
    answered.clear();
    answered.add(state.answer);
    onAnswer(state.answer);
  }

  const all: readonly CollectionLayer[] = collections.map((collection, accentAt) =>
    createCollectionLayer(map, collection, accentAt, theme, { fade, events: { onState: tell, onChange } }),
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
      return { on: [...keysOf('points'), ...keysOf('heat')], heat: keysOf('heat') };
    },
    show({ on, heat = [] }) {
      const withPlaces = all.filter(({ collection }) => collection.count > 0);
      const wanted = on ?? (withPlaces.length > 0 ? withPlaces : all).map(({ collection }) => collection.key);
      for (const layer of all) {
        const { key } = layer.collection;
        const next: Drawn = wanted.includes(key) ? (heat.includes(key) ? 'heat' : 'points') : 'off';
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
