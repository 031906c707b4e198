import type { MapMarker, ViewportState } from '../../../src/client/public.js';

const positionKey = ({ lng, lat }: MapMarker['position']) => `${lng},${lat}`;

/** Whether two markers look the same and have the same texts. */
export const sameMarker = (a: MapMarker, b: MapMarker): boolean =>
  positionKey(a.position) === positionKey(b.position) &&
  a.name === b.name &&
  a.category === b.category &&
  JSON.stringify(a.properties) === JSON.stringify(b.properties);

/** Identifies a drawing by its content. */
export function namesOf({ markers, clusters, cells, zones }: ViewportState): Set<string> {
  return new Set([
    ...markers.map(({ id }) => id),
    ...clusters.map(({ position, count }) => `${positionKey(position)} ${count}`),
    ...cells.map(({ geohash }) => geohash),
    ...zones.map(({ id }) => id),
  ]);
}

/** The markers added or changed between two states, except by requests of this page. */
export function changedMarkers(before: ViewportState, after: ViewportState): MapMarker[] {
  if (before.loading || after.loading || before.markers.length === 0) return [];
  const known = new Map(before.markers.map((marker) => [marker.id, marker]));
  return after.markers.filter((marker) => {
    const old = known.get(marker.id);
    return old === undefined || !sameMarker(old, marker);
  });
}
