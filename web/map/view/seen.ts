import type { MapMarker } from '../../../src/client/public.js';
import type { CollectionLayer } from '../layers/collection-layer.js';

/** Maximum number of remembered markers per collection, most recent first. */
const MOST = 5_000;

/** The markers that the page has loaded individually, used for search and to learn filters. */
export interface Seen {
  of(layer: CollectionLayer): readonly MapMarker[];
}

/** Remembers markers beyond the view and the filter. `of` records the markers that a layer currently shows. */
export function createSeen(): Seen {
  const byCollection = new Map<string, Map<string, MapMarker>>();
  return {
    of({ collection: { key }, content }) {
      const seen = byCollection.get(key) ?? new Map<string, MapMarker>();
      byCollection.set(key, seen);
      for (const marker of content.markers) {
        seen.delete(marker.id);
        seen.set(marker.id, marker);
      }
      const ids = [...seen.keys()];
      for (const id of ids.slice(0, Math.max(0, ids.length - MOST))) seen.delete(id);
      return [...seen.values()];
    },
  };
}
