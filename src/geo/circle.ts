import { canonicalLng, normalizeBounds, type Area, type Bounds, type Point } from './bounds.js';
import type { Relation } from './cover.js';
import { distance, EARTH_RADIUS } from './distance.js';

const RADIANS = Math.PI / 180;

/** Half of a great circle in meters, the maximum distance on the globe. */
export const HALF_AROUND = Math.PI * EARTH_RADIUS;

/** Maximum error of a distance in meters, which occurs between nearly antipodal points. */
const TOLERANCE = 1;

/** The bounding box of a circle with a radius in meters; over a pole it spans all longitudes. */
export function circleArea({ lng, lat }: Point, radius: number): Area {
  const angle = (radius + TOLERANCE) / EARTH_RADIUS;
  const south = lat - angle / RADIANS;
  const north = lat + angle / RADIANS;
  // The meridians that touch the circle do so closer to the pole than its center is.
  const wide =
    south > -90 && north < 90 ? Math.asin(Math.min(1, Math.sin(angle) / Math.cos(lat * RADIANS))) / RADIANS : 180;
  return normalizeBounds('bounds', { west: lng - wide, south, east: lng + wide, north });
}

/** The minimum distance in meters from a point to a cell, edges included; 0 inside. */
export function leastDistance(point: Point, { west, south, east, north }: Bounds): number {
  const { lat } = point;
  const lng = canonicalLng(point.lng);
  const clamp = (value: number) => Math.max(south, Math.min(north, value));
  if (west <= lng && lng <= east) return Math.abs(lat - clamp(lat)) * RADIANS * EARTH_RADIUS;
  const toMeridian = (meridian: number) => {
    const turn = Math.cos((meridian - lng) * RADIANS);
    const at = (latitude: number) => distance(point, { lng: meridian, lat: latitude });
    // On the far half of the globe, the distance to a meridian decreases towards either pole.
    if (turn <= 0) return Math.min(at(south), at(north));
    const foot = Math.atan2(Math.sin(lat * RADIANS), Math.cos(lat * RADIANS) * turn) / RADIANS;
    return at(clamp(foot));
  };
  return Math.min(toMeridian(west), toMeridian(east));
}

/** The maximum distance in meters from a point to a cell: half a great circle minus the distance from the antipode. */
export function greatestDistance({ lng, lat }: Point, cell: Bounds): number {
  return HALF_AROUND - leastDistance({ lng: lng > 0 ? lng - 180 : lng + 180, lat: -lat }, cell);
}

/** How cells relate to the ring between two distances, in meters, from a center. */
export function ringRelation(center: Point, from: number, to: number): (cell: Bounds) => Relation {
  return (cell) => {
    const least = leastDistance(center, cell);
    if (least > to + TOLERANCE) return 'outside';
    const greatest = greatestDistance(center, cell);
    if (greatest < from - TOLERANCE) return 'outside';
    return from <= least && greatest <= to ? 'inside' : 'cut';
  };
}
