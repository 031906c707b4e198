import Flatbush from 'flatbush';
import { orient2d } from 'robust-predicates';

import { type Area, type Bounds, normalizeBounds } from './bounds.js';
import type { Relation } from './cover.js';
import { type Part, type PathLimits, least, most, readPaths } from './paths.js';
import { type Point, canonicalLng } from './point.js';

/** Polygons or lines, indexed for fast queries with any number of vertices. */
export interface Shape {
  /** Its smallest bounding box, which may cross the antimeridian. */
  readonly area: Area;
  /** Number of positions, including those that close rings. */
  readonly vertices: number;
  /** Whether a position is in a polygon, on its edge or on the edge of a hole, or on a line; exact. */
  contains(point: Point): boolean;
  /**
   * How a geohash cell relates to the shape. `inside` and `outside` are exact for every position that belongs to the cell;
   * a cell that is covered only by several polygons together is `cut`.
   */
  relationToCell(cell: Bounds): Relation;
}

/**
 * A shape from a GeoJSON geometry, or a Feature with one, as `readPaths` accepts it. A ring that crosses itself follows
 * the even-odd rule. Throws BAD_USER_INPUT naming `field` and the part that is invalid.
 */
export function readShape(field: string, value: unknown, limits: PathLimits): Shape {
  return shapeOf(readPaths(field, value, limits));
}

/** The shape of paths that have been read, none of them more than 360 degrees wide. */
export function shapeOf(parts: readonly Part[]): Shape {
  return new IndexedShape(parts, areaOf(parts));
}

/** The smallest bounding box of all parts: all longitudes except the widest gap between parts. */
function areaOf(parts: readonly Part[]): Area {
  const south = least(parts.map(({ paths: [{ lats }] }) => least(lats)));
  const north = most(parts.map(({ paths: [{ lats }] }) => most(lats)));
  const spans = parts.map(({ paths: [{ lngs }] }) => ({ west: least(lngs), east: most(lngs) }));
  spans.sort((a, b) => a.west - b.west);
  // Parts that continue beyond 180 narrow the gap before the first part.
  let east = spans.reduce((reach, span) => Math.max(reach, span.east), -Infinity);
  let reach = east - 360;
  let gap = { width: 0, west: -180, east: 180 };
  for (const span of spans) {
    if (span.west - reach > gap.width) gap = { width: span.west - reach, west: span.west, east };
    if (span.east <= reach) continue;
    ({ east } = span);
    reach = east;
  }
  return normalizeBounds('shape', { west: gap.west, east: gap.east, south, north });
}

/** The edges of all paths in a packed R-tree, so that a ray or a cell is tested only against those near it. */
class IndexedShape implements Shape {
  readonly area: Area;
  readonly vertices: number;
  /** Ends of the edges, the southern one first. */
  readonly #edges: Float64Array;
  readonly #pathOf: Uint32Array;
  /** By path: its part, and whether it is a hole. */
  readonly #partOf: readonly number[];
  readonly #isHole: readonly boolean[];
  readonly #filled: readonly boolean[];
  readonly #tree: Flatbush;

  constructor(parts: readonly Part[], area: Area) {
    this.area = area;
    const paths = parts.flatMap((part, index) => part.paths.map((path, nth) => ({ ...path, index, hole: nth > 0 })));
    this.#partOf = paths.map(({ index }) => index);
    this.#isHole = paths.map(({ hole }) => hole);
    this.#filled = parts.map(({ filled }) => filled);
    this.vertices = paths.reduce((sum, { lngs }) => sum + lngs.length, 0);
    const edges: number[] = [];
    const pathOf: number[] = [];
    paths.forEach(({ lngs, lats }, path) => {
      for (let i = 1; i < lngs.length; i++) {
        const [fromX = 0, fromY = 0, toX = 0, toY = 0] = [lngs[i - 1], lats[i - 1], lngs[i], lats[i]];
        if (fromX === toX && fromY === toY) continue;
        if (fromY <= toY) edges.push(fromX, fromY, toX, toY);
        else edges.push(toX, toY, fromX, fromY);
        pathOf.push(path);
      }
    });
    this.#edges = Float64Array.from(edges);
    this.#pathOf = Uint32Array.from(pathOf);
    this.#tree = new Flatbush(pathOf.length);
    for (let edge = 0; edge < pathOf.length; edge++) {
      const { ax, ay, bx, by } = this.#edge(edge);
      this.#tree.add(Math.min(ax, bx), ay, Math.max(ax, bx), by);
    }
    this.#tree.finish();
  }

  contains({ lng, lat }: Point): boolean {
    return this.#partsAt(canonicalLng(lng), lat).size > 0;
  }

  relationToCell({ west, south, east, north }: Bounds): Relation {
    /** Parts with an edge through the interior of the cell: the cell is partly in them. */
    const crossed = new Set<number>();
    let touched = false;
    for (const turn of TURNS) {
      this.#tree.search(west + turn, south, east + turn, north, (edge) => {
        const touch = this.#meets(edge, west + turn, south, east + turn, north);
        // The western and southern edges of a cell belong to its neighbours, except at the edge of the world.
        const { ax, bx, by } = this.#edge(edge);
        if (touch === 'inner') crossed.add(this.#partOf[this.#pathOf[edge] ?? 0] ?? 0);
        else if (touch === 'rim') {
          touched ||= (Math.max(ax, bx) > west + turn || west === -180) && (by > south || south === -90);
        }
        return false;
      });
    }
    for (const part of this.#partsAt((west + east) / 2, (south + north) / 2)) {
      if (!crossed.has(part)) return 'inside';
    }
    return crossed.size > 0 || touched ? 'cut' : 'outside';
  }

  #edge(index: number) {
    const edges = this.#edges;
    const at = 4 * index;
    return { ax: edges[at] ?? 0, ay: edges[at + 1] ?? 0, bx: edges[at + 2] ?? 0, by: edges[at + 3] ?? 0 };
  }

  /** The parts that contain a position (-180 <= lng < 180), edges included. */
  #partsAt(lng: number, lat: number): Set<number> {
    const on = new Set<number>();
    const within = new Set<number>();
    for (const turn of TURNS) {
      const x = lng + turn;
      /** Paths that a ray to the east crosses an odd number of times. */
      const odd = new Set<number>();
      this.#tree.search(x, lat, Infinity, lat, (edge) => {
        const path = this.#pathOf[edge] ?? 0;
        const { ax, ay, bx, by } = this.#edge(edge);
        if (ay === by) {
          if (Math.min(ax, bx) <= x) on.add(path);
          return false;
        }
        const side = Math.min(ax, bx) > x ? 1 : -orient2d(ax, ay, bx, by, x, lat);
        if (side === 0) on.add(path);
        // The upper end belongs to the next edge, so that each vertex counts once.
        else if (side > 0 && lat < by && !odd.delete(path)) odd.add(path);
        return false;
      });
      for (const path of odd) within.add(path);
    }
    return this.#partsOf(on, within);
  }

  #partsOf(on: ReadonlySet<number>, within: ReadonlySet<number>): Set<number> {
    const parts = new Set<number>();
    for (const paths of [on, within]) {
      for (const path of paths) {
        const part = this.#partOf[path] ?? 0;
        if (paths === on || (this.#filled[part] && !this.#isHole[path])) parts.add(part);
      }
    }
    for (const path of within) if (this.#isHole[path] && !on.has(path)) parts.delete(this.#partOf[path] ?? 0);
    return parts;
  }

  /** Whether an edge whose bounding box intersects a cell passes through its interior, or only along its rim. */
  #meets(edge: number, west: number, south: number, east: number, north: number): 'inner' | 'rim' | 'not' {
    const { ax, ay, bx, by } = this.#edge(edge);
    if (between(ax, west, east) && between(ay, south, north)) return 'inner';
    if (between(bx, west, east) && between(by, south, north)) return 'inner';
    // Bits: corners strictly on one side, strictly on the other. Corners on the line itself are noted separately.
    let sides = 0;
    let touches = false;
    for (const [x, y] of [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ] as const) {
      const side = orient2d(ax, ay, bx, by, x, y);
      if (side === 0) touches = true;
      else sides |= side > 0 ? 1 : 2;
    }
    const apart = Math.max(ax, bx) <= west || Math.min(ax, bx) >= east || by <= south || ay >= north;
    if (sides === 3) return apart ? 'rim' : 'inner';
    return touches ? 'rim' : 'not';
  }
}

/** Paths begin in -180..180 and are at most 360 wide, so a position may also match one turn farther east. */
const TURNS = [0, 360] as const;

const between = (value: number, from: number, to: number) => from < value && value < to;
