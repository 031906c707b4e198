import type { Geometry, Position } from 'geojson';

import type { Bounds } from '../../../src/client/public.js';

/** From this share of the largest part's area on, a part counts as much: Malaysia has two, New Zealand too. */
const AS_LARGE = 0.25;
/** Smaller parts count if their distance is at most this share of the size of what counts already: islands off a coast. */
const NEAR = 0.1;

interface Part extends Bounds {
  readonly area: number;
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Bounding box and area of a ring. By Lambert, the area is true on a cylinder: longitude and the latitude's sine. */
function partOf(ring: readonly Position[]): Part {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  let area = 0;
  let [lastX = 0, lastY = 0] = ring.at(-1) ?? [];
  for (const [x = 0, y = 0] of ring) {
    box.west = Math.min(box.west, x);
    box.south = Math.min(box.south, y);
    box.east = Math.max(box.east, x);
    box.north = Math.max(box.north, y);
    area += (lastX * Math.sin(radians(y)) - x * Math.sin(radians(lastY))) / 2;
    [lastX, lastY] = [x, y];
  }
  return { ...box, area: Math.abs(area) };
}

/** The same box, moved around the globe to where it is nearest to another. */
function movedTo<B extends Bounds>({ west, east }: Bounds, box: B): B {
  const turns = 360 * Math.round((west + east - box.west - box.east) / 720);
  return { ...box, west: box.west + turns, east: box.east + turns };
}

/** Whether the gap between two boxes is small compared with the first one. In degrees of latitude. */
function isNear(box: Bounds, other: Bounds): boolean {
  const narrow = Math.cos(radians((box.south + box.north) / 2));
  const x = Math.max(0, other.west - box.east, box.west - other.east) * narrow;
  const y = Math.max(0, other.south - box.north, box.south - other.north);
  return Math.hypot(x, y) <= NEAR * Math.sqrt((box.east - box.west) * narrow * (box.north - box.south));
}

const union = (one: Bounds, other: Bounds): Bounds => ({
  west: Math.min(one.west, other.west),
  south: Math.min(one.south, other.south),
  east: Math.max(one.east, other.east),
  north: Math.max(one.north, other.north),
});

/**
 * The bounding box of what most people mean by an area: its largest polygon, those nearly as large, and those near them.
 * The box of all of France lies around the Atlantic, that of the United States around the world. East exceeds 180 if it
 * crosses the antimeridian. Undefined for lines, which have no area.
 */
export function largestPart(geometry: Geometry | null): Bounds | undefined {
  if (geometry?.type !== 'Polygon' && geometry?.type !== 'MultiPolygon') return undefined;
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  const [first, ...parts] = polygons.map(([outer = []]) => partOf(outer)).toSorted((a, b) => b.area - a.area);
  if (first === undefined) return undefined;
  let found: Bounds = first;
  let rest = parts;
  for (let before = Infinity; rest.length < before;) {
    before = rest.length;
    rest = rest.filter((part) => {
      const moved = movedTo(found, part);
      if (part.area < AS_LARGE * first.area && !isNear(found, moved)) return true;
      found = union(found, moved);
      return false;
    });
  }
  // Of many small islands, none is the country.
  const areaOf = (some: readonly Part[]) => some.reduce((sum, { area }) => sum + area, 0);
  if (areaOf(rest) > (first.area + areaOf(parts)) / 2)
    for (const part of rest) found = union(found, movedTo(found, part));
  return found;
}
