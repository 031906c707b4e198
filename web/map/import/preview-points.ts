import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

const ID = 'import';

/** Draws points of a file on the map; an empty list removes them. */
export function previewPoints(map: MapLibre, points: readonly (readonly [number, number])[]): void {
  if (map.getSource(ID) === undefined) {
    if (points.length === 0) return;
    map.addSource(ID, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } });
    map.addLayer({
      id: ID,
      source: ID,
      type: 'circle',
      paint: {
        'circle-radius': 4,
        'circle-color': '#e79a2b',
        'circle-stroke-color': '#ffffff',
        'circle-stroke-width': 1,
      },
    });
  }
  const coordinates = points.map(([lng, lat]) => [lng, lat]);
  void map.getSource<GeoJSONSource>(ID)?.setData({ type: 'MultiPoint', coordinates });
  map.moveLayer(ID);
}
