import type { ViewportState } from './options.js';
import type { Bounds } from './tiles.js';

/** GeoJSON that map libraries take as it is. */
export interface Features {
  readonly type: 'FeatureCollection';
  readonly features: readonly {
    readonly type: 'Feature';
    readonly id?: string;
    readonly geometry: object;
    readonly properties: Readonly<Record<string, unknown>>;
  }[];
}

const point = ({ lng, lat }: { readonly lng: number; readonly lat: number }) => ({
  type: 'Point',
  coordinates: [lng, lat],
});

const rectangle = ({ west, south, east, north }: Bounds) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
});

/**
 * What a viewport holds as features. Their `kind` is `marker`, `cluster`, `cell` or `zone`; markers and zones have their
 * own properties beside `id`, `key` and `name`, clusters and cells their `count`. Zones whose geometry could not be read
 * are left out.
 */
export function toFeatures({ markers, clusters, cells, zones }: ViewportState): Features {
  return {
    type: 'FeatureCollection',
    features: [
      ...zones.flatMap(({ id, key, name, properties, geometry }) =>
        geometry
          ? [{ type: 'Feature' as const, geometry, properties: { ...properties, kind: 'zone', id, key, name } }]
          : [],
      ),
      ...cells.map(({ geohash, bounds, count }) => ({
        type: 'Feature' as const,
        geometry: rectangle(bounds),
        properties: { kind: 'cell', id: geohash, geohash, count },
      })),
      ...clusters.map(({ position, bounds: { west, south, east, north }, count }) => ({
        type: 'Feature' as const,
        geometry: point(position),
        properties: { kind: 'cluster', id: `${west}/${south}/${east}/${north}`, west, south, east, north, count },
      })),
      ...markers.map(({ id, key, name, category, position, properties }) => ({
        type: 'Feature' as const,
        geometry: point(position),
        properties: { ...properties, kind: 'marker', id, key, name, category },
      })),
    ],
  };
}
