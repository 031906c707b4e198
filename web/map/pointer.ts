import type { Map as MapLibre, Point } from 'maplibre-gl';

import type { Bounds, MapCluster } from '../../src/client/public.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import { type Picked, pick } from './layers/pick.js';

/** Actions of a click. */
export interface PointerActions {
  readonly onMarker: (id: string, name: string) => void;
  readonly onCluster: (layer: CollectionLayer, cluster: MapCluster) => void;
  readonly onZone: (name: string, id: string, layer: CollectionLayer) => void;
  /** A click that hits no marker or cluster, with whether it hits a zone. Returns whether it was handled. */
  readonly onGround: (position: MapCluster['position'], onZone: boolean) => boolean;
}

/** The cluster of a map feature. */
function clusterOf({ feature }: Picked): MapCluster {
  const { west, south, east, north, count } = feature.properties as Bounds & { readonly count: number };
  const [lng = 0, lat = 0] = (feature.geometry as { coordinates: number[] } & object).coordinates;
  return { position: { lng, lat }, bounds: { west, south, east, north }, count };
}

/** Handles mouse and touch on the map. */
export function followPointer(map: MapLibre, layers: () => readonly CollectionLayer[], actions: PointerActions): void {
  let last: Point | undefined;
  const show = () => {
    if (last) map.getCanvas().style.cursor = pick(map, layers(), last) ? 'pointer' : '';
    last = undefined;
  };
  map.on('mousemove', ({ point }) => {
    // At most once per frame: mouse events are more frequent.
    if (last === undefined) requestAnimationFrame(show);
    last = point;
  });
  map.on('click', ({ point, lngLat }) => {
    const picked = pick(map, layers(), point);
    const text = (name: string) => String(picked?.feature.properties[name] ?? '');
    if (picked?.kind === 'marker') return actions.onMarker(text('id'), text('name'));
    if (picked?.kind === 'cluster' || picked?.kind === 'single')
      return actions.onCluster(picked.layer, clusterOf(picked));
    const isZone = picked?.kind === 'zone';
    if (actions.onGround(lngLat.wrap(), isZone)) return undefined;
    if (picked && isZone) actions.onZone(text('name'), text('id'), picked.layer);
    return undefined;
  });
}
