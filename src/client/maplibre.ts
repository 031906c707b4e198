import { type Features, toFeatures } from './geojson.js';
import type { ViewportOptions } from './options.js';
import { type Viewport, createViewport } from './viewport.js';

/** What is needed of a map of MapLibre GL JS, so that its types need not be installed. */
export interface MapLibreMap {
  addSource(id: string, source: { type: 'geojson'; data: Features; promoteId: string }): unknown;
  /** A GeoJSON source, as it was added. */
  getSource(id: string): unknown;
  removeSource(id: string): unknown;
  getBounds(): { getWest(): number; getSouth(): number; getEast(): number; getNorth(): number };
  getZoom(): number;
  on(event: 'move', listener: () => void): unknown;
  off(event: 'move', listener: () => void): unknown;
}

/** A source that follows its map. */
export interface ViewportSource {
  /** Of the source, for layers to name. */
  readonly id: string;
  readonly viewport: Viewport;
  /** Takes the source off the map; layers that name it have to be gone. */
  remove(): void;
}

/**
 * Adds a GeoJSON source to a map whose style is loaded, which holds what the map shows of a collection (the features of
 * `toFeatures`) and follows it. Its id is `cellport-{collection}` where none is given.
 */
export function viewportSource(
  map: MapLibreMap,
  { id = '', ...options }: ViewportOptions & { readonly id?: string },
): ViewportSource {
  const name = id || `cellport-${options.collection}`;
  const viewport = createViewport(options);
  map.addSource(name, { type: 'geojson', data: toFeatures(viewport.state), promoteId: 'id' });
  let drawn = viewport.state;
  viewport.subscribe((state) => {
    const isNew = (['markers', 'clusters', 'cells', 'zones'] as const).some((list) => state[list] !== drawn[list]);
    drawn = state;
    if (isNew) (map.getSource(name) as { setData(data: Features): unknown } | undefined)?.setData(toFeatures(state));
  });
  const follow = () => {
    const bounds = map.getBounds();
    viewport.view(
      { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() },
      map.getZoom(),
    );
  };
  map.on('move', follow);
  follow();
  return {
    id: name,
    viewport,
    remove() {
      map.off('move', follow);
      viewport.close();
      map.removeSource(name);
    },
  };
}
