import type { MapMarker, Properties } from '../model/marker.js';
import type { MapContext } from './context.js';
import type { MarkerFilterInput } from './filter.js';
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
export function markerFeature(_marker: MapMarker, _properties: Properties): PointFeature {
  throw new Error('not built yet');
}

/** A viewport as features: its markers while at most `limit` are inside, else its clusters; never more than `limit`. */
export async function viewportFeatures(
  _context: MapContext,
  _viewport: Viewport,
  _collectionKey: string,
  _limit: number,
  _filter?: MarkerFilterInput | null,
): Promise<PointFeatures> {
  throw new Error('not built yet');
}
