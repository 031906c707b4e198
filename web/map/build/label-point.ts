import type { Geometry, Position } from 'geojson';

/** Steps of the search in each direction: precise enough for a label. */
const STEPS = 28;
/** Mercator is infinite at the poles. */
const MAX_LAT = 84;

type Ring = readonly (readonly [x: number, y: number])[];

/** Web Mercator with the world one unit wide. */
function project([lng = 0, lat = 0]: Position): readonly [x: number, y: number] {
  const radians = (Math.min(MAX_LAT, Math.max(-MAX_LAT, lat)) * Math.PI) / 180;
  return [lng / 360, Math.log(Math.tan(Math.PI / 4 + radians / 2)) / (2 * Math.PI)];
}

function unproject(x: number, y: number): Position {
  return [x * 360, (Math.atan(Math.exp(y * 2 * Math.PI)) * 360) / Math.PI - 90];
}

function area(ring: Ring): number {
  return Math.abs(
    ring.reduce((sum, [x, y], at) => {
      const [nextX, nextY] = ring[(at + 1) % ring.length] ?? [x, y];
      return sum + (x * nextY - nextX * y) / 2;
    }, 0),
  );
}

/** Distance from a position to the nearest ring; negative outside. */
function depth(rings: readonly Ring[], px: number, py: number): number {
  let inside = false;
  let nearest = Infinity;
  for (const ring of rings) {
    let [ax, ay] = ring.at(-1) ?? [0, 0];
    for (const [bx, by] of ring) {
      if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
      const length = (bx - ax) ** 2 + (by - ay) ** 2;
      const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length));
      nearest = Math.min(nearest, (ax + t * (bx - ax) - px) ** 2 + (ay + t * (by - ay) - py) ** 2);
      [ax, ay] = [bx, by];
    }
  }
  return (inside ? 1 : -1) * Math.sqrt(nearest);
}

/**
 * The label position of an area: the one deepest inside its largest part. `room` is the square root of that part's area,
 * in thousandths of the world's width on a Mercator map. Undefined for geometries without an area.
 */
export function labelPoint(geometry: Geometry): { readonly position: Position; readonly room: number } | undefined {
  const polygons =
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
  const [largest] = polygons
    .map((rings) => rings.map((ring) => ring.map(project)))
    .toSorted(([a = []], [b = []]) => area(b) - area(a));
  const outer = largest?.[0];
  if (largest === undefined || outer === undefined) return undefined;
  const xs = outer.map(([x]) => x);
  const ys = outer.map(([, y]) => y);
  const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  let best = { x: west, y: south, inside: -Infinity };
  for (let column = 0.5; column < STEPS; column++) {
    for (let row = 0.5; row < STEPS; row++) {
      const [x, y] = [west + ((east - west) * column) / STEPS, south + ((north - south) * row) / STEPS];
      const inside = depth(largest, x, y);
      if (inside > best.inside) best = { x, y, inside };
    }
  }
  return { position: unproject(best.x, best.y), room: Math.sqrt(area(outer)) * 1000 };
}
