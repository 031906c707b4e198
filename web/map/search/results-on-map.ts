import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';

import type { Result } from './results.js';

const SOURCE = 'search-results';
const COLOR = '#e79a2b';

/** Returns a function that circles results on the map, the active one with a wider ring. */
export function createResultsOnMap(map: MapLibre): (results: readonly Result[], active: number) => void {
  map.addSource(SOURCE, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } });
  const isActive = ['get', 'active'] as const;
  map.addLayer({
    id: SOURCE,
    source: SOURCE,
    type: 'circle',
    paint: {
      'circle-radius': ['case', [...isActive], 12, 8],
      'circle-color': COLOR,
      'circle-opacity': ['case', [...isActive], 0.35, 0.1],
      'circle-stroke-width': ['case', [...isActive], 3, 2],
      'circle-stroke-color': COLOR,
    },
  });
  return (results, active) => {
    const features = results.flatMap(({ at }, index): GeoJSON.Feature[] => {
      const geometry = at && { type: 'Point' as const, coordinates: [at.lng, at.lat] };
      return geometry ? [{ type: 'Feature', geometry, properties: { active: index === active } }] : [];
    });
    void map.getSource<GeoJSONSource>(SOURCE)?.setData({ type: 'FeatureCollection', features });
    if (features.length > 0) map.moveLayer(SOURCE);
  };
}
