import type { Cluster } from '../geo/clusters.js';
import type { MapMarker } from '../model/marker.js';
import type { MapContext } from './context.js';
import type { Viewport } from './viewport.js';

/** A cluster with what is read only when asked for; both are read for all clusters of the answer together. */
export interface MapCluster extends Cluster {
  /** Its only marker; null where its count is not 1. */
  readonly marker: () => Promise<MapMarker | null>;
  /** The least whole zoom, at most 30, at which it falls apart; 30 where it never does. */
  readonly expansionZoom: () => Promise<number>;
}

export const DEFAULT_RADIUS = 60;

/** The clusters of a viewport; `radius` in px at its zoom, 1 to 512. */
export async function viewportClusters(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
  _radius: number = DEFAULT_RADIUS,
): Promise<MapCluster[]> {
  throw new Error('not built yet');
}
