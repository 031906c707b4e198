import type { TileContent } from './options.js';
import type { Bounds } from './tiles.js';

/** As in @types/geojson, so that it need not be installed. */
type Geometry =
  | { type: 'Point'; coordinates: number[] }
  | { type: 'LineString'; coordinates: number[][] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: number[][][] }
  | { type: 'MultiPolygon'; coordinates: number[][][][] };

/** A GeoJSON FeatureCollection. */
export interface Features {
  type: 'FeatureCollection';
  features: { type: 'Feature'; geometry: Geometry; properties: Record<string, unknown> }[];
}

const point = ({ lng, lat }: { readonly lng: number; readonly lat: number }): Geometry => ({
  type: 'Point',
  coordinates: [lng, lat],
});

/** The corners of a bounding box as a closed ring. */
export const ringOf = ({ west, south, east, north }: Bounds): number[][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

const feature = (geometry: Geometry, properties: Record<string, unknown>) => ({
  type: 'Feature' as const,
  geometry,
  properties,
});

/**
 * Converts the content of a viewport to GeoJSON features. Their property `kind` is `marker`, `cluster`, `cell` or
 * `zone`; markers and zones have their own properties besides `id`, `key` and `name`, clusters and cells have a `count`.
 * Zones whose geometry could not be read are omitted.
 */
export function toFeatures({ markers, clusters, cells, zones }: TileContent): Features {
  return {
    type: 'FeatureCollection',
    features: [
      ...zones.flatMap(({ id, key, name, properties, geometry }) =>
        geometry ? [feature(geometry as Geometry, { ...properties, kind: 'zone', id, key, name })] : [],
      ),
      ...cells.map(({ geohash, bounds, count }) =>
        feature({ type: 'Polygon', coordinates: [ringOf(bounds)] }, { kind: 'cell', id: geohash, geohash, count }),
      ),
      ...clusters.map(({ position, bounds, geohashes, count }) =>
        feature(point(position), { kind: 'cluster', id: geohashes[0], ...bounds, count }),
      ),
      ...markers.map(({ id, key, name, category, position, properties }) =>
        feature(point(position), { ...properties, kind: 'marker', id, key, name, category }),
      ),
    ],
  };
}
