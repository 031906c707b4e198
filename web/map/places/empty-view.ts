import type { Map as MapLibre } from 'maplibre-gl';

import { boundsOf } from '../../../src/client/maplibre.js';
import { NEAREST, type Nearest } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { button, byId, element } from '../dom/element.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { distanceText } from '../text/distance-text.js';
import { placesIn } from './places-list.js';

/** A view must stay empty this long, so that panning across an ocean sends no requests. */
const WAIT_MS = 700;
/** Number of collections asked, largest first: each takes one `nearest` query, which the server limits. */
const MAX_ASKED = 4;

/** Whether none of these layers has anything on the screen: tiles extend beyond it. */
const isEmpty = (map: MapLibre, layers: readonly CollectionLayer[]) =>
  placesIn(boundsOf(map), layers).length === 0 &&
  layers.every(({ states }) => states.every(({ cells }) => cells.length === 0));

/**
 * Where no marker is in view, names the nearest one and offers to go there. Returns a function to call when the view,
 * its content or the layers have changed.
 */
export function watchEmptyViews(map: MapLibre, layers: () => readonly CollectionLayer[]): () => void {
  const panel = byId('nearest');
  let waiting: ReturnType<typeof setTimeout> | undefined;
  /** The last view that was requested. */
  let asked = '';

  function show({ name, key, position }: Nearest['node'], distance: number): void {
    const go = () => map.flyTo({ center: position, zoom: map.getZoom() });
    const text = `No places here. The nearest, ${name ?? key}, is ${distanceText(distance)} away.`;
    panel.replaceChildren(element('p', {}, text), button({ class: 'act' }, go, 'Go there'));
    panel.hidden = false;
  }

  async function ask(view: string, keys: readonly string[]): Promise<void> {
    asked = view;
    const { lng, lat } = map.getCenter().wrap();
    const answers = await Promise.all(
      keys.map((key) =>
        request<{ readonly collection: { readonly nearest: readonly Nearest[] } | null }>(NEAREST, {
          key,
          center: { lng, lat },
        }).catch(() => undefined),
      ),
    );
    const found = answers.flatMap((answer) => answer?.collection?.nearest ?? []);
    const [nearest] = found.toSorted((one, other) => one.distance - other.distance);
    if (nearest && asked === view) show(nearest.node, nearest.distance);
  }

  const hide = () => {
    clearTimeout(waiting);
    asked = '';
    panel.hidden = true;
  };
  map.on('movestart', hide);

  return () => {
    const shown = layers().filter(({ drawn, collection }) => drawn !== 'off' && collection.count > 0);
    const states = shown.flatMap((layer) => layer.states);
    if (shown.length === 0 || states.some(({ error }) => error !== null) || !isEmpty(map, shown)) return hide();
    // A wait may have begun before the first tiles were requested.
    if (states.some(({ loading }) => loading)) return clearTimeout(waiting);
    const largest = shown.toSorted((one, other) => other.collection.count - one.collection.count);
    const keys = largest.slice(0, MAX_ASKED).map(({ collection }) => collection.key);
    const view = [map.getCenter(), ...keys].join(' ');
    if (view === asked) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => void ask(view, keys), WAIT_MS);
  };
}
