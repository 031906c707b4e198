const point = ({ lng, lat }) => ({
    type: 'Point',
    coordinates: [lng, lat],
});
const rectangle = ({ west, south, east, north }) => ({
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
const feature = (geometry, properties) => ({
    type: 'Feature',
    geometry,
    properties,
});
/**
 * What a viewport holds as features. Their `kind` is `marker`, `cluster`, `cell` or `zone`; markers and zones have their
 * own properties beside `id`, `key` and `name`, clusters and cells their `count`. Zones whose geometry could not be read
 * are left out.
 */
export function toFeatures({ markers, clusters, cells, zones }) {
    return {
        type: 'FeatureCollection',
        features: [
            ...zones.flatMap(({ id, key, name, properties, geometry }) => geometry ? [feature(geometry, { ...properties, kind: 'zone', id, key, name })] : []),
            ...cells.map(({ geohash, bounds, count }) => feature(rectangle(bounds), { kind: 'cell', id: geohash, geohash, count })),
            ...clusters.map(({ position, bounds, count }) => feature(point(position), { kind: 'cluster', id: Object.values(bounds).join('/'), ...bounds, count })),
            ...markers.map(({ id, key, name, category, position, properties }) => feature(point(position), { ...properties, kind: 'marker', id, key, name, category })),
        ],
    };
}
