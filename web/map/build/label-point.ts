import type { Geometry, Position } from 'geojson';
import polylabel from 'polylabel';

/** Mercator is infinite at the poles. */
const MAX_LAT = 84;

type Ring = [x: number, y: number][];

/** Web Mercator with the world one unit wide. */
function project([lng = 0, lat = 0]: Position): Ring[number] {
  const radians = (Math.min(MAX_LAT, Math.max(-MAX_LAT, lat)) * Math.PI) / 180;
  return [lng / 360, Math.log(Math.tan(Math.PI / 4 + radians / 2)) / (2 * Math.PI)];
}

function unproject(x: number, y: number): Position {
  return [x * 360, (Math.atan(Math.exp(y * 2 * Math.PI)) * 360) / Math.PI - 90];
}

function area(ring: Ring = []): number {
  return Math.abs(
    ring.reduce((sum, [x, y], at) => {
      const [nextX, nextY] = ring[(at + 1) % ring.length] ?? [x, y];
      return sum + (x * nextY - nextX * y) / 2;
    }, 0),
  );
}

/** The polygons of a geometry on a Mercator map one unit wide. */
function projected(geometry: Geometry | null): Ring[][] {
  const polygons =
    geometry?.type === 'Polygon'
      ? [geometry.coordinates]
      : geometry?.type === 'MultiPolygon'
        ? geometry.coordinates
        : [];
  return polygons.map((rings) => rings.map((ring) => ring.map(project)));
}

/** Area on a Mercator map one unit wide, including holes; 0 without a geometry, which topojson may omit. */
export function mercatorArea(geometry: Geometry | null): number {
  return projected(geometry).reduce((sum, [outer]) => sum + area(outer), 0);
}

/**
 * The label position of an area: the one deepest inside its largest part. `room` is the square root of that part's area,
 * in thousandths of the world's width on a Mercator map. Undefined for geometries without an area.
 */
export function labelPoint(geometry: Geometry): { readonly position: Position; readonly room: number } | undefined {
  const [largest] = projected(geometry).toSorted(([a], [b]) => area(b) - area(a));
  if (largest === undefined) return undefined;
  const width = Math.sqrt(area(largest[0]));
  const [x = 0, y = 0] = polylabel(largest, width / 100);
  return { position: unproject(x, y), room: width * 1000 };
}
