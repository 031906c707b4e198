import type { Map as MapLibre, MapMouseEvent, MapTouchEvent } from 'maplibre-gl';

import type { MapMarker } from '../../../src/client/public.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { pick } from '../layers/pick.js';

/** Distance in px from which a press counts as a drag instead of a click. */
const MIN_DISTANCE = 4;

export interface DragOptions {
  readonly map: MapLibre;
  readonly layers: () => readonly CollectionLayer[];
  readonly isOn: () => boolean;
  readonly onDrop: (layer: CollectionLayer, position: MapMarker['position'], undo: () => void) => void;
  readonly onBegin: (marker: MapMarker) => void;
}

/** Lets markers be dragged by mouse or touch. Escape cancels. */
export function allowDrag({ map, layers, isOn, onDrop, onBegin }: DragOptions): void {
  function begin(event: MapMouseEvent | MapTouchEvent): void {
    if (!isOn() || ('points' in event && event.points.length > 1)) return;
    const picked = pick(map, layers(), event.point);
    if (picked?.kind !== 'marker') return;
    const { layer, feature } = picked;
    const marker = layer.content.markers.find(({ id }) => id === feature.properties['id']);
    if (marker === undefined) return;
    // Prevents the map from panning.
    event.preventDefault();
    const from = event.point;
    let to: MapMarker['position'] | undefined;
    let undo: () => void = () => undefined;

    const follow = (moved: MapMouseEvent | MapTouchEvent) => {
      // Another finger zooms; a mouse may have been released outside the map.
      if ('points' in moved ? moved.points.length > 1 : moved.originalEvent.buttons === 0) return end(false);
      if (to === undefined && from.dist(moved.point) < MIN_DISTANCE) return;
      if (to === undefined) onBegin(marker);
      const { lng, lat } = moved.lngLat.wrap();
      to = { lng, lat };
      undo = layer.drawOptimistically(marker.id, { ...marker, position: to });
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      end(false);
    };
    const drop = () => end(true);
    function end(dropped: boolean): void {
      for (const each of following) each.unsubscribe();
      globalThis.removeEventListener('keydown', cancel, true);
      if (to === undefined) return;
      if (dropped) onDrop(layer, to, undo);
      else undo();
    }
    const following = [
      map.on('mousemove', follow),
      map.on('touchmove', follow),
      map.on('mouseup', drop),
      map.on('touchend', drop),
      map.on('touchcancel', () => end(false)),
    ];
    globalThis.addEventListener('keydown', cancel, true);
  }
  map.on('mousedown', begin);
  map.on('touchstart', begin);
}
