import Flatbush from 'flatbush';
import { orient2d } from 'robust-predicates';

import { canonicalLng, normalizeBounds, type Area, type Bounds, type Point } from './bounds.js';
import { coverInSteps, type Relation } from './cover.js';
import type { ZRange } from './geohash.js';
import { PathIndex } from './path-index.js';
import { least, most, type Part, type Path } from './paths.js';
import { atOnce, type Steps } from './steps.js';

/** Polygons or lines, indexed for fast queries with any number of vertices. */
export interface Shape {
  /** Its smallest bounding box, which may cross the antimeridian. */
  readonly area: Area;
  /** Number of positions, including those that close rings. */
  readonly vertices: number;
  /** Whether a position is in a polygon, on its edge or on the edge of a hole, or on a line; exact. */
  contains(point: Point): boolean;
  /**
   * How a geohash cell relates to the shape. `inside` and `outside` are exact for every position of the cell; a cell
   * covered only by several polygons together is `cut`.
   */
  relationToCell(cell: Bounds): Relation;
}

/** The shape of paths that have been read, none more than 360 degrees wide. Rings that cross themselves follow the even-odd rule. */
export function shapeOf(parts: readonly Part[]): Shape {
  return atOnce(shapeInSteps(parts));
}

/** The same in steps. */
export function* shapeInSteps(parts: readonly Part[]): Steps<Shape> {
  const paths = parts.flatMap((part, index) =>
    part.paths.map((path, nth) => ({ ...path, part: index, isHole: nth > 0, isRing: part.filled })),
  );
  const edges = yield* edgesOf(paths);
  const indexed: IndexedPath[] = [];
  for (const path of paths) {
    indexed.push({ ...path, index: yield* PathIndex.of(path) });
    if (path.lngs.length > STEP) yield;
  }
  return new IndexedShape(indexed, areaOf(parts), edges);
}

/** Number of edges added to a tree between two steps. */
const STEP = 8_192;

interface PlacedPath extends Path {
  readonly part: number;
  readonly isHole: boolean;
  readonly isRing: boolean;
}

interface IndexedPath extends PlacedPath {
  readonly index: PathIndex;
}

/** Edges in a packed R-tree, so that a cell is tested only against those near it. */
interface Edges {
  /** Four numbers per edge: its southern end, then its northern one. */
  readonly ends: Float64Array;
  readonly partOf: Uint32Array;
  readonly tree: Flatbush;
}

function* edgesOf(paths: readonly PlacedPath[]): Steps<Edges> {
  const ends: number[] = [];
  const partOf: number[] = [];
  for (const { lngs, lats, part } of paths) {
    for (let i = 1; i < lngs.length; i++) {
      if (i % STEP === 0) yield;
      const [fromX = 0, fromY = 0, toX = 0, toY = 0] = [lngs[i - 1], lats[i - 1], lngs[i], lats[i]];
      if (fromX === toX && fromY === toY) continue;
      if (fromY <= toY) ends.push(fromX, fromY, toX, toY);
      else ends.push(toX, toY, fromX, fromY);
      partOf.push(part);
    }
  }
  yield;
  const tree = new Flatbush(partOf.length);
  for (let at = 0; at < ends.length; at += 4) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = [ends[at], ends[at + 1], ends[at + 2], ends[at + 3]];
    tree.add(Math.min(ax, bx), ay, Math.max(ax, bx), by);
  }
  yield;
  tree.finish();
  yield;
  return { ends: Float64Array.from(ends), partOf: Uint32Array.from(partOf), tree };
}

/** Number of Z-order ranges into which a shape is cut before they are joined. */
const FINENESS = 512;

/** The Z-order ranges to search for the content of a shape. */
export function coverForSearch(shape: Shape): Steps<ZRange[]> {
  return coverInSteps((cell) => shape.relationToCell(cell), FINENESS);
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

class IndexedShape implements Shape {
  readonly area: Area;
  readonly vertices: number;
  readonly #paths: readonly IndexedPath[];
  /** The bounding boxes of the paths. */
  readonly #boxes: Flatbush;
  readonly #edges: Edges;

  constructor(paths: readonly IndexedPath[], area: Area, edges: Edges) {
    this.area = area;
    this.vertices = paths.reduce((sum, { lngs }) => sum + lngs.length, 0);
    this.#paths = paths;
    this.#edges = edges;
    this.#boxes = new Flatbush(paths.length);
    for (const { lngs, lats } of paths) this.#boxes.add(least(lngs), least(lats), most(lngs), most(lats));
    this.#boxes.finish();
  }

  contains({ lng, lat }: Point): boolean {
    return this.#partsAt(canonicalLng(lng), lat).size > 0;
  }

  relationToCell({ west, south, east, north }: Bounds): Relation {
    /** The parts that contain the cell's center, except those with an edge through its interior. */
    const whole = this.#partsAt((west + east) / 2, (south + north) / 2);
    const { tree, partOf } = this.#edges;
    let isCut = false;
    for (const turn of TURNS) {
      const cell = { west: west + turn, south, east: east + turn, north };
      tree.search(cell.west, south, cell.east, north, (edge) => {
        if (isCut && whole.size === 0) return false;
        const { ax, ay, bx, by } = this.#edge(edge);
        const touch = meets(ax, ay, bx, by, cell);
        if (touch === 'inner') {
          isCut = true;
          whole.delete(partOf[edge] ?? 0);
        }
        // The western and southern edges of a cell belong to its neighbors, except at the edge of the world.
        else if (touch === 'rim') {
          isCut ||= (Math.max(ax, bx) > cell.west || west === -180) && (by > south || south === -90);
        }
        return false;
      });
    }
    if (whole.size > 0) return 'inside';
    return isCut ? 'cut' : 'outside';
  }

  #edge(index: number) {
    const { ends } = this.#edges;
    const at = 4 * index;
    return { ax: ends[at] ?? 0, ay: ends[at + 1] ?? 0, bx: ends[at + 2] ?? 0, by: ends[at + 3] ?? 0 };
  }

  /** The parts that contain a position (-180 <= lng < 180), edges included. */
  #partsAt(lng: number, lat: number): Set<number> {
    const parts = new Set<number>();
    const holes = new Set<number>();
    const onHoles = new Set<number>();
    for (const turn of TURNS) {
      const x = lng + turn;
      this.#boxes.search(x, lat, x, lat, (index) => {
        const path = this.#paths[index];
        const where = path?.index.locate(x, lat) ?? 'out';
        if (path === undefined || where === 'out') return false;
        if (where === 'on') (path.isHole ? onHoles : parts).add(path.isHole ? index : path.part);
        else if (path.isHole) holes.add(index);
        else if (path.isRing) parts.add(path.part);
        return false;
      });
    }
    for (const index of onHoles) parts.add(this.#paths[index]?.part ?? 0);
    for (const index of holes) if (!onHoles.has(index)) parts.delete(this.#paths[index]?.part ?? 0);
    return parts;
  }
}

/**
 * Whether an edge whose bounding box intersects a cell passes through the cell's interior, only along its rim, or not
 * at all.
 */
function meets(ax: number, ay: number, bx: number, by: number, cell: Bounds): 'inner' | 'rim' | 'not' {
  const { west, south, east, north } = cell;
  if (between(ax, west, east) && between(ay, south, north)) return 'inner';
  if (between(bx, west, east) && between(by, south, north)) return 'inner';
  // The two corners that are farthest from the line, one on either side.
  const [left, right] = ax <= bx ? [west, east] : [east, west];
  const above = orient2d(ax, ay, bx, by, left, north);
  const below = orient2d(ax, ay, bx, by, right, south);
  if ((above > 0 && below > 0) || (above < 0 && below < 0)) return 'not';
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

/** Paths begin in -180..180 and are at most 360 wide, so a position may also match one turn farther east. */
const TURNS = [0, 360] as const;

const between = (value: number, from: number, to: number) => from < value && value < to;
