import type { Map as MapLibre } from 'maplibre-gl';

import { createTip } from '../dom/tip.js';
import { valueText } from '../heat/text.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import { largestIn } from '../layers/largest.js';
import type { Hovered } from './pointer.js';

/** How long the pointer must rest on a cluster before its largest place is looked up. */
const REST_MS = 120;

/**
 * Shows the largest place of a cluster, or the values of heatmaps, next to the pointer or where a finger has tapped.
 */
export function createHover(map: MapLibre, layers: () => readonly CollectionLayer[]): (hovered: Hovered) => void {
  const tip = createTip(map);
  let last: Hovered | undefined;

  async function tellLargest(hovered: Hovered, { layer, cluster }: NonNullable<Hovered['cluster']>): Promise<void> {
    await new Promise((resolve) => void setTimeout(resolve, REST_MS));
    const isThere = () => last?.cluster?.cluster === cluster && !map.isMoving();
    if (last !== hovered || !isThere()) return;
    const text = await largestIn(layer, cluster);
    if (text !== undefined && isThere()) tip.show(last.point, text);
  }

  return (hovered) => {
    const before = last?.cluster?.cluster;
    last = hovered;
    const { point, kind, cluster } = hovered;
    if (cluster) {
      if (cluster.cluster !== before) tip.hide();
      return void tellLargest(hovered, cluster);
    }
    const heats = layers().flatMap(({ heat }) => heat ?? []);
    if (heats.length === 0 || (kind !== undefined && kind !== 'zone')) return tip.hide();
    const position = map.unproject(point).wrap();
    return tip.show(point, heats.map((heat) => valueText(heat, position)).join('\n'));
  };
}
