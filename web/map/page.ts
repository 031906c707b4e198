import type { MapCluster } from '../../src/client/public.js';
import { keepAddress } from './address.js';
import { COLLECTIONS, type Collection } from './documents.js';
import { createEditMode } from './edit/edit-mode.js';
import { byId } from './element.js';
import { createExplain } from './explain/explain.js';
import { beginWith, flyInto } from './fly.js';
import { ask } from './graphql.js';
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
import { createTheme } from './theme.js';
import { createTools } from './tools.js';
import { type PageState, readHash } from './url-hash.js';

/** The collections, as often as it takes: a page that was opened before its server is no broken page. */
async function readCollections(status: Status): Promise<readonly Collection[]> {
  for (;;) {
    try {
      const { collections } = await ask<{ readonly collections: { readonly nodes: readonly Collection[] } }>(
        COLLECTIONS,
      );
      return collections.nodes;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await new Promise<void>((resolve) => status.say(message, { label: 'Try again', act: resolve }));
    }
  }
}

/** The button that opens the layers, where there is no room to show them all the time. */
function createLayersToggle(): HTMLElement {
  const toggle = byId('layers-toggle');
  toggle.append(icon('layers'));
  toggle.setAttribute('aria-label', 'Layers');
  toggle.addEventListener('click', () => {
    toggle.setAttribute('aria-expanded', String(document.body.classList.toggle('with-layers')));
  });
  return toggle;
}

/** Opens the map and all that belongs to it. Rejects where the browser cannot draw one. */
export async function startPage(): Promise<void> {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const asked = readHash(location.hash);
  const status = createStatus();
  status.loading(true);
  let onTheme: () => void = () => undefined;
  const theme = createTheme(() => onTheme());
  const reading = readCollections(status);
  const map = await openMap(theme.theme, asked.at, still);
  const collections = await reading;
  const begin = collections.find(({ bounds }) => bounds !== null)?.bounds;
  if (!asked.at && begin) beginWith(map, begin);

  const pulse = createPulse(map);
  const explain = createExplain(map, byId('explain'));
  const shownNow = () =>
    layers.all
      .flatMap(({ states }) => states)
      .reduce((sum, { markers, clusters, cells, zones }) => sum + [markers, clusters, cells, zones].flat().length, 0);
  const layers = createLayerSet(map, collections, {
    theme: theme.theme,
    fade: !still,
    onState({ loading, error }) {
      status.loading(loading);
      if (!loading) places.update();
      const message = `The map could not be read. What you see may be old. (${error?.message})`;
      if (error) status.say(message, { label: 'Try again', act: () => layers.refresh() });
      else status.clear();
    },
    onChange(position) {
      pulse(position);
      selection.refresh();
    },
    onAnswer: (answer) => explain.record(answer, shownNow()),
  });
  const edit = createEditMode({
    map,
    place: byId('edit'),
    layers: () => layers.all,
    status,
    showCard: (content) => selection.show(content),
    onSet(on) {
      tools.edit.set(on);
      document.body.classList.toggle('editing', on);
      selection.refresh();
    },
  });
  const selection = createSelection(map, {
    buttonsFor: (marker) => edit.buttonsFor(marker),
    onChange: () => address.write(),
    onError: (message) => status.say(message),
  });
  const expand = async (layer: CollectionLayer, cluster: MapCluster) => {
    const found = await layer.expand(cluster).catch(() => undefined);
    if (found?.marker) return selection.openMarker(found.marker.id, found.marker.name ?? found.marker.key);
    address.write('step');
    flyInto(map, cluster, found?.zoom);
  };
  const places = createPlacesPanel(map, () => layers.all, {
    onMarker: ({ id, name, key }) => void selection.openMarker(id, name ?? key),
    onCluster: (layer, cluster) => void expand(layer, cluster),
  });
  const showPlaces = (on: boolean) => {
    places.set(on);
    tools.list.set(on);
  };
  const showExplain = (on: boolean) => {
    explain.setVisible(on);
    layers.setExplain(on);
    tools.explain?.set(on);
  };
  const tools = createTools(byId('tools'), map, {
    onList: () => showPlaces(!places.open),
    onEdit: () => edit.set(!edit.on),
    onExplain: () => showExplain(byId('explain').hidden !== false),
    onTheme: () => theme.toggle(),
  });
  const toggle = createLayersToggle();
  const drawList = () =>
    drawLayerList(byId('layers'), layers.all, theme.theme, (layer, drawn) => {
      layer.set(drawn);
      drawList();
      places.update();
      address.write('step');
    });

  function go(state: PageState): void {
    layers.show(state);
    if (state.at) map.jumpTo({ center: state.at, zoom: state.at.zoom });
    if (state.place === undefined && selection.id !== undefined) selection.show(undefined);
    if (state.place !== undefined && state.place !== selection.id) void selection.openMarker(state.place);
    drawList();
  }
  const now = () => ({ ...layers.address, ...(selection.id !== undefined && { place: selection.id }) });
  const address = keepAddress(map, now, go);
  map.on('moveend', () => address.write());

  onTheme = () => {
    repaintBase(map, theme.theme);
    layers.repaint(theme.theme);
    drawList();
    tools.setTheme(theme.theme);
  };
  tools.setTheme(theme.theme);
  go(asked);
  // With no layer on, nothing else would say that there is nothing to wait for.
  if (layers.all.every(({ states }) => states.length === 0)) status.loading(false);
  places.update();

  followPointer(map, () => layers.all, {
    onMarker: (id, name) => void selection.openMarker(id, name),
    onCluster: (layer, cluster) => void expand(layer, cluster),
    onZone: (name, id, { collection }) => selection.openZone(name, id, collection.name),
    onGround(position, onZone) {
      if (edit.on) edit.clickedAt(position);
      else if (!onZone) selection.show(undefined);
      return edit.on;
    },
  });
  followKeys(map, () => {
    if (!byId('card').hidden) selection.show(undefined);
    else if (document.body.classList.contains('with-layers')) toggle.click();
    else if (places.open) showPlaces(false);
    else if (edit.on) edit.set(false);
  });
  // For the console.
  Object.assign(globalThis, { cellport: { map, layers: layers.all } });
}
