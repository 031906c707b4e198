import type { MapMarker } from '../model/marker.js';
import type { MapCluster } from './clusters.js';
import type { MapContext } from './context.js';
import type { MarkerFilterInput } from './filter.js';
import type { Viewport } from './viewport.js';

/** Markers or clusters, whichever fits; the other list is empty. */
export interface ViewportContent {
  readonly mode: 'MARKERS' | 'CLUSTERS';
  /** Markers inside the viewport that pass the filter. */
  readonly total: number;
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  /** Geohash length of the cells that the clusters are made from. */
  readonly precision: number;
}

/** Markers while at most `limit` are inside, else clusters. */
export async function viewportAuto(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
  _limit: number,
  _filter?: MarkerFilterInput | null,
): Promise<ViewportContent> {
  throw new Error('not built yet');
}
