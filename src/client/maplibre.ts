import { toFeatures, type Features } from './geojson.js';
import type { ViewportOptions } from './options.js';
import type { Bounds } from './tiles.js';
import { createViewport, type Viewport } from './viewport.js';

/** The part of a MapLibre GL JS map used here, so that its types need not be installed. */
export interface MapLibreMap {
  addSource(id: string, source: { type: 'geojson'; data: Features; promoteId: string }): unknown;
  /** Returns the GeoJSON source that was added. */
  getSource(id: string): unknown;
  removeSource(id: string): unknown;
  getBounds(): { getWest(): number; getSouth(): number; getEast(): number; getNorth(): number };
  getZoom(): number;
  on(event: 'move', listener: () => void): unknown;
  off(event: 'move', listener: () => void): unknown;
}

/** A source that follows its map. */
export interface ViewportSource {
  /** ID of the source, for the map's layers. */
  readonly id: string;
  readonly viewport: Viewport;
  /** Removes the source from the map; remove the layers that use it first. */
  remove(): void;
}

/** The bounds of a map's screen, in degrees; longitudes may exceed 180. */
export function boundsOf(map: MapLibreMap): Bounds {
  const bounds = map.getBounds();
  return { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() };
}

/**
 * Adds a GeoJSON source to a map whose style is loaded. The source contains what the map shows of a collection, in the
 * form of `toFeatures`, and follows the map. The default ID is `cellport-{collection}`.
 */
export function viewportSource(
  map: MapLibreMap,
  { id, ...options }: ViewportOptions & { readonly id?: string },
): ViewportSource {
  const sourceId = id || `cellport-${options.collection}`;
  const viewport = createViewport(options);
  map.addSource(sourceId, { type: 'geojson', data: toFeatures(viewport.state), promoteId: 'id' });
  let drawn = viewport.state;
  viewport.subscribe((state) => {
    const isNew = (['markers', 'clusters', 'cells', 'zones'] as const).some((list) => state[list] !== drawn[list]);
    drawn = state;
    if (isNew)
      (map.getSource(sourceId) as { setData(data: Features): unknown } | undefined)?.setData(toFeatures(state));
  });
  const follow = () => viewport.view(boundsOf(map), map.getZoom());
  map.on('move', follow);
  follow();
  return {
    id: sourceId,
    viewport,
    remove() {
      map.off('move', follow);
      viewport.close();
      map.removeSource(sourceId);
    },
  };
}
