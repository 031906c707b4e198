import { DEFAULT_RADIUS, type MapCluster, clustersOf } from './clusters.js';
import { markerId } from '../keys/ids.js';
import type { MapMarker, Properties } from '../model/marker.js';
import { precisionForZoom } from '../plan/precision.js';
import { contentOf } from './content.js';
import { type MapContext, requireCollection } from './context.js';
import { type MarkerFilterInput, readFilter } from './filter.js';
import { readWhole } from './page.js';
import type { Viewport } from './viewport.js';

/** An RFC 7946 Feature with a Point. */
export interface PointFeature {
  readonly type: 'Feature';
  readonly id?: string;
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly [lng: number, lat: number] };
  readonly properties: Properties;
}

export interface PointFeatures {
  readonly type: 'FeatureCollection';
  readonly features: readonly PointFeature[];
}

/** A marker as a Feature with these of its properties and `key`, `name` and `category` among them. */
export function markerFeature(marker: MapMarker, properties: Properties): PointFeature {
  const { collection, key, name, category, position } = marker;
  return {
    type: 'Feature',
    id: markerId(collection, key),
    geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    properties: { ...properties, key, name, category },
  };
}

/** A cluster as a Feature, told from markers by `cluster: true`. */
function clusterFeature({ position, count }: MapCluster): PointFeature {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    properties: { cluster: true, count },
  };
}

/**
 * A viewport as features: its markers, with the properties that the index holds, while at most `limit` are inside; else
 * its clusters, made as at a lower zoom where there would be more than `limit` of them.
 */
export async function viewportFeatures(
  context: MapContext,
  viewport: Viewport,
  collectionKey: string,
  limit: number,
  filterInput?: MarkerFilterInput | null,
): Promise<PointFeatures> {
  const most = readWhole('limit', limit, 1, context.limits.maxFirst);
  const filter = readFilter(filterInput);
  const collection = await requireCollection(context, collectionKey);
  const { mode, markers, clusters } = await contentOf(context, viewport, collection, {
    field: 'features',
    limit: most,
    filter,
  });
  if (mode === 'MARKERS') return features(markers.map((marker) => markerFeature(marker, marker.mapProperties)));
  let fewer: readonly MapCluster[] = clusters;
  // At the latest where the world is a single square, one cluster is left.
  for (let zoom = viewport.zoom - 1; fewer.length > most; zoom--) {
    const coarser = { ...viewport, zoom, precision: precisionForZoom(zoom) };
    ({ clusters: fewer } = await clustersOf(context, coarser, collection, {
      field: 'features',
      size: DEFAULT_RADIUS,
      filter,
    }));
  }
  return features(fewer.map(clusterFeature));
}

const features = (list: readonly PointFeature[]): PointFeatures => ({ type: 'FeatureCollection', features: list });
