import type { Feature, FeatureCollection, Polygon } from 'geojson';

import type { Bounds, MapCell, MapCluster, MapMarker, MapZone, ViewportState } from '../../../src/client/public.js';

/** What a feature of the map stands for, told by its property `kind`. */
export type Kind = 'marker' | 'single' | 'cluster' | 'cell' | 'zone';

const collectionOf = (features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features });

const point = ({ lng, lat }: { readonly lng: number; readonly lat: number }, properties: object): Feature => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [lng, lat] },
  properties: { ...properties },
});

/** Labels compete for room: those of markers with the greatest number among their properties go first. */
const weight = ({ properties }: MapMarker) =>
  Math.max(0, ...Object.values(properties ?? {}).filter((value): value is number => typeof value === 'number'));

const markerFeature = (marker: MapMarker) =>
  point(marker.position, { kind: 'marker', id: marker.id, name: marker.name ?? '', weight: weight(marker) });

const LARGE = Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A cluster of one is drawn as a marker, though who it is has to be asked. */
const clusterFeature = ({ bounds, count, position }: MapCluster) =>
  point(position, {
    kind: count === 1 ? 'single' : 'cluster',
    name: '',
    weight: 0,
    count,
    size: Math.log10(count),
    text: LARGE.format(count).replace('K', 'k'),
    ...bounds,
  });

function rectangle({ west, south, east: right, north }: Bounds): Polygon {
  const east = right < west ? right + 360 : right;
  return {
    type: 'Polygon',
    coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]], // prettier-ignore
  };
}

/** `shade` runs from 0 to 1, by the logarithm of the count against the greatest one there is. */
function cellFeature(greatest: number) {
  return ({ bounds, count, geohash }: MapCell): Feature => ({
    type: 'Feature',
    geometry: rectangle(bounds),
    properties: { kind: 'cell', id: geohash, count, shade: Math.log1p(count) / Math.log1p(greatest) },
  });
}

/** Markers and clusters of a viewport. */
export function pointsOf({ markers, clusters }: Pick<ViewportState, 'markers' | 'clusters'>): FeatureCollection {
  return collectionOf([...clusters.map(clusterFeature), ...markers.map(markerFeature)]);
}

/** Cells of a heatmap. */
export function cellsOf({ cells }: Pick<ViewportState, 'cells'>): FeatureCollection {
  return collectionOf(cells.map(cellFeature(Math.max(1, ...cells.map(({ count }) => count)))));
}

/** Outlines of zones. */
export function zonesOf({ zones }: Pick<ViewportState, 'zones'>): FeatureCollection {
  return collectionOf(
    zones.map(({ id, name, geometry }: MapZone) => ({
      type: 'Feature',
      geometry: geometry as Feature['geometry'],
      properties: { kind: 'zone', id, name: name ?? '' },
    })),
  );
}
