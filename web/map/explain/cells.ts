/** A rectangle in degrees. */
export interface Rect {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** All geohashes from one to another of the same length, both included. */
export interface GeohashRange {
  readonly first: string;
  readonly last: string;
}

type Position = [lng: number, lat: number];
type Ring = Position[];

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz';

/** A geohash's place among those of its length: exact up to ten characters, the longest that ranges have. */
function placeOf(geohash: string): number {
  let place = 0;
  for (const character of geohash) place = place * 32 + ALPHABET.indexOf(character);
  return place;
}

/** The rectangle of the first `bits` bits of geohashes, which halve longitudes and latitudes in turn. */
function rectOf(prefix: number, bits: number): Rect {
  let [column, row] = [0, 0];
  for (let bit = bits - 1; bit >= 0; bit--) {
    const digit = Math.floor(prefix / 2 ** bit) % 2;
    if ((bits - 1 - bit) % 2 === 0) column = column * 2 + digit;
    else row = row * 2 + digit;
  }
  const [columns, rows] = [2 ** Math.ceil(bits / 2), 2 ** Math.floor(bits / 2)];
  // Multiples of a power of two times 45, so that neighbours have the very same edges.
  return {
    west: (column * 360) / columns - 180,
    south: (row * 180) / rows - 90,
    east: ((column + 1) * 360) / columns - 180,
    north: ((row + 1) * 180) / rows - 90,
  };
}

/** The largest cells, or halves, quarters … of cells, that a range of geohashes is made of, in Z-order. */
export function cellsOf({ first, last }: GeohashRange): Rect[] {
  const bits = 5 * first.length;
  const end = placeOf(last) + 1;
  const cells: Rect[] = [];
  for (let z = placeOf(first); z < end;) {
    let size = 1;
    let taken = bits;
    while (taken > 0 && z % (size * 2) === 0 && z + size * 2 <= end) {
      size *= 2;
      taken--;
    }
    cells.push(rectOf(z / size, taken));
    z += size;
  }
  return cells;
}

/** An edge of the outline, with what is inside on its left. */
interface Edge {
  readonly dx: number;
  readonly dy: number;
  readonly x: number;
  readonly y: number;
}

const sorted = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);

/** The edges between what is in one of the rectangles and what is not, by the corner at which they begin. */
function edgesOf(rects: readonly Rect[], xs: readonly number[], ys: readonly number[]): Map<string, Edge[]> {
  const columnAt = new Map(xs.map((x, at) => [x, at]));
  const rowAt = new Map(ys.map((y, at) => [y, at]));
  const filled = new Set<string>();
  for (const { west, south, east, north } of rects) {
    for (let x = columnAt.get(west) ?? 0; x < (columnAt.get(east) ?? 0); x++) {
      for (let y = rowAt.get(south) ?? 0; y < (rowAt.get(north) ?? 0); y++) filled.add(`${x}/${y}`);
    }
  }
  const edges = new Map<string, Edge[]>();
  const add = (edge: Edge) => {
    const corner = `${edge.x}/${edge.y}`;
    edges.set(corner, [...(edges.get(corner) ?? []), edge]);
  };
  for (const square of filled) {
    const [x = 0, y = 0] = square.split('/').map(Number);
    if (!filled.has(`${x}/${y - 1}`)) add({ x, y, dx: 1, dy: 0 });
    if (!filled.has(`${x + 1}/${y}`)) add({ x: x + 1, y, dx: 0, dy: 1 });
    if (!filled.has(`${x}/${y + 1}`)) add({ x: x + 1, y: y + 1, dx: -1, dy: 0 });
    if (!filled.has(`${x - 1}/${y}`)) add({ x, y: y + 1, dx: 0, dy: -1 });
  }
  return edges;
}

/**
 * The outline of the union of disjoint rectangles: rings, counter-clockwise, of the parts that share an edge. A stretch of
 * Z-order has no holes: what lies before it and what comes behind it both reach an edge of the world.
 */
export function outlineOf(rects: readonly Rect[]): Ring[] {
  const xs = sorted(rects.flatMap(({ west, east }) => [west, east]));
  const ys = sorted(rects.flatMap(({ south, north }) => [south, north]));
  const edges = edgesOf(rects, xs, ys);
  const take = (corner: string, before: Edge | undefined): Edge | undefined => {
    const open = edges.get(corner) ?? [];
    // Where two parts touch in a corner, to the left: each keeps to itself.
    const left = before && open.findIndex(({ dx, dy }) => dx === -before.dy && dy === before.dx);
    const [edge] = open.splice(left === undefined || left < 0 ? 0 : left, 1);
    if (open.length === 0) edges.delete(corner);
    return edge;
  };
  const rings: Ring[] = [];
  for (const start of edges.keys()) {
    while (edges.has(start)) {
      const ring: Ring = [];
      let edge = take(start, undefined);
      let before: Edge | undefined;
      while (edge) {
        const { x, y, dx, dy } = edge;
        if (!before || before.dx !== dx) ring.push([xs[x] ?? 0, ys[y] ?? 0]);
        before = edge;
        const corner: string = `${x + dx}/${y + dy}`;
        edge = corner === start ? undefined : take(corner, edge);
      }
      const [first] = ring;
      if (first) rings.push([...ring, first]);
    }
  }
  return rings;
}
