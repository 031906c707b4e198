import type { Map as MapLibre } from 'maplibre-gl';

import { valueText } from './heat/text.js';
import type { CollectionLayer } from './layers/collection-layer.js';
import type { Hovered } from './pointer.js';
import { createTip } from './tip.js';

/** Tells beside the pointer, or where a finger has tapped, the values of heatmaps. */
export function createHover(map: MapLibre, layers: () => readonly CollectionLayer[]): (hovered: Hovered) => void {
  const tip = createTip(map);
  return ({ point, kind }) => {
    const heats = layers().flatMap(({ heat }) => heat ?? []);
    if (heats.length === 0 || (kind !== undefined && kind !== 'zone')) return tip.hide();
    const position = map.unproject(point).wrap();
    return tip.show(point, heats.map((heat) => valueText(heat, position)).join('\n'));
  };
}
