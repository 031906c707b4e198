import type { Map as MapLibre, Point } from 'maplibre-gl';

import type { MapCluster } from '../../../src/client/public.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { pick, type Picked } from '../layers/pick.js';

/** What is under the pointer. */
export interface Hovered {
  readonly point: Point;
  /** Undefined over a marker or a zone. */
  readonly cluster: { readonly layer: CollectionLayer; readonly cluster: MapCluster } | undefined;
  readonly kind: Picked['kind'] | undefined;
}

/** Actions of a click. */
export interface PointerActions {
  readonly onHover: (hovered: Hovered) => void;
  readonly onMarker: (id: string, name: string) => void;
  readonly onCluster: (layer: CollectionLayer, cluster: MapCluster) => void;
  readonly onZone: (id: string, name: string) => void;
  /** Called for a click that hits no marker or cluster, with whether it hits a zone. Returns whether it was handled. */
  readonly onGround: (position: MapCluster['position'], onZone: boolean) => boolean;
}

/** The cluster of a map feature, whose ID is the first of its geohashes. */
function clusterOf({ feature, layer }: Picked): MapCluster | undefined {
  return layer.content.clusters.find(({ geohashes }) => geohashes[0] === feature.properties['id']);
}

/** Handles mouse and touch on the map. */
export function followPointer(map: MapLibre, layers: () => readonly CollectionLayer[], actions: PointerActions): void {
  let last: Point | undefined;
  const show = () => {
    if (last) {
      const picked = pick(map, layers(), last);
      map.getCanvas().style.cursor = picked ? 'pointer' : '';
      const cluster = picked && clusterOf(picked);
      actions.onHover({ point: last, kind: picked?.kind, cluster: cluster && { layer: picked.layer, cluster } });
    }
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
    const cluster = picked && clusterOf(picked);
    if (cluster) return actions.onCluster(picked.layer, cluster);
    const isZone = picked?.kind === 'zone';
    if (actions.onGround(lngLat.wrap(), isZone)) return undefined;
    if (picked && isZone) actions.onZone(text('id'), text('name'));
    return undefined;
  });
}
