import type { Bounds } from '../../../src/client/public.js';

/** All geohashes of one length between two, both included. */
export interface GeohashRange {
  readonly first: string;
  readonly last: string;
}

type Position = [lng: number, lat: number];
type Ring = Position[];

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz';

/** A geohash's index among those of its length, in Z-order; exact up to ten characters, the maximum in ranges. */
function toZ(geohash: string): number {
  let z = 0;
  for (const character of geohash) z = z * 32 + ALPHABET.indexOf(character);
  return z;
}

/** The bounds of a cell given by the first `bits` bits of a geohash, which halve longitudes and latitudes in turn. */
function boundsOfBits(prefix: number, bits: number): Bounds {
  let [column, row] = [0, 0];
  for (let bit = bits - 1; bit >= 0; bit--) {
    const digit = Math.floor(prefix / 2 ** bit) % 2;
    if ((bits - 1 - bit) % 2 === 0) column = column * 2 + digit;
    else row = row * 2 + digit;
  }
  const [columns, rows] = [2 ** Math.ceil(bits / 2), 2 ** Math.floor(bits / 2)];
  // Exact in a double, so that neighbors have identical edges.
  return {
    west: (column * 360) / columns - 180,
    south: (row * 180) / rows - 90,
    east: ((column + 1) * 360) / columns - 180,
    north: ((row + 1) * 180) / rows - 90,
  };
}

/** The fewest cells, or halves and quarters of cells, that make up a range of geohashes, in Z-order. */
export function cellsOf({ first, last }: GeohashRange): Bounds[] {
  const bits = 5 * first.length;
  const end = toZ(last) + 1;
  const cells: Bounds[] = [];
  for (let z = toZ(first); z < end;) {
    let size = 1;
    let taken = bits;
    while (taken > 0 && z % (size * 2) === 0 && z + size * 2 <= end) {
      size *= 2;
      taken--;
    }
    cells.push(boundsOfBits(z / size, taken));
    z += size;
  }
  return cells;
}

/** An edge of the outline; the inside is on its left. */
interface Edge {
  readonly dx: number;
  readonly dy: number;
  readonly x: number;
  readonly y: number;
}

const sorted = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);

/** The edges between the inside and the outside of a set of rectangles, by the corner at which they begin. */
function edgesOf(rects: readonly Bounds[], xs: readonly number[], ys: readonly number[]): Map<string, Edge[]> {
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
 * The outline of the union of disjoint rectangles: one counter-clockwise ring per part connected by edges. A range of
 * Z-order has no holes, because the cells before it and those after it both reach an edge of the world.
 */
export function outlineOf(rects: readonly Bounds[]): Ring[] {
  const xs = sorted(rects.flatMap(({ west, east }) => [west, east]));
  const ys = sorted(rects.flatMap(({ south, north }) => [south, north]));
  const edges = edgesOf(rects, xs, ys);
  const take = (corner: string, before: Edge | undefined): Edge | undefined => {
    const open = edges.get(corner) ?? [];
    // Where two parts touch in a corner, turning left keeps them apart.
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
