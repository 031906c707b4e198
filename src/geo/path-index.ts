import { orient2d } from 'robust-predicates';

import type { Path } from './paths.js';
import type { Steps } from './steps.js';

/** Mean number of a path's vertices per strip. */
const STRIP = 16;
/** Number of edges added between two steps. */
const STEP = 8_192;

/**
 * An index of a ring or line that locates a position in logarithmic time, even if thousands of edges are as far north.
 * The globe is cut into strips along some of the path's latitudes. An edge that spans strips is listed in a few nodes
 * of a tree over them, each of which sorts its edges from west to east; edges that end in a strip are tested one by
 * one. Answers are exact: orientations are computed without rounding.
 */
export class PathIndex {
  readonly #path: Path;
  /** Where strips begin, from south to north; the last one has no end. */
  readonly #lines: readonly number[];
  /** By strip: edges that touch but do not span it. An edge is identified by its first vertex. */
  readonly #partial: number[][];
  /** A segment tree: the node of a strip is `lines + strip`, its parent half of that. */
  readonly #spanning: (number[] | undefined)[];
  /** By node: whether its edges are in order, once that is known; edges that cross have no order. */
  readonly #isSorted: (boolean | undefined)[] = [];

  private constructor(path: Path) {
    this.#path = path;
    const lats = Float64Array.from(path.lats).sort();
    this.#lines = [...new Set(lats.filter((_, nth) => nth % STRIP === 0 || nth === lats.length - 1))];
    this.#partial = this.#lines.map(() => []);
    this.#spanning = Array.from({ length: 2 * this.#lines.length });
  }

  /** The index of a path. */
  static *of(path: Path): Steps<PathIndex> {
    const index = new PathIndex(path);
    for (let edge = 0; edge + 1 < path.lngs.length; edge++) {
      if (edge % STEP === STEP - 1) yield;
      index.#add(edge);
    }
    return index;
  }

  /** The location of a position: on an edge or, for a ring, inside or outside by the even-odd rule. */
  locate(x: number, y: number): 'in' | 'on' | 'out' {
    const strip = this.#stripOf(y);
    let east = 0;
    for (const edge of this.#partial[strip] ?? []) {
      const side = this.#sideOf(edge, x, y);
      if (side === 0) return 'on';
      if (side > 0) east++;
    }
    for (let node = strip + this.#lines.length; node > 0; node >>= 1) {
      const edges = this.#spanning[node];
      if (edges === undefined) continue;
      const beyond = this.#isOrdered(node, edges) ? this.#eastOf(edges, x, y) : this.#eastOneByOne(edges, x, y);
      if (beyond === undefined) return 'on';
      east += beyond;
    }
    return east % 2 === 0 ? 'out' : 'in';
  }

  #add(edge: number): void {
    const { ay, by } = this.#ends(edge);
    const count = this.#lines.length;
    const from = this.#stripOf(ay);
    const to = this.#stripOf(by);
    const first = this.#lines[from] === ay ? from : from + 1;
    if (from < first && from < to) this.#partial[from]?.push(edge);
    this.#partial[to]?.push(edge);
    for (let low = first + count, high = to + count; low < high; low >>= 1, high >>= 1) {
      if (low % 2 === 1) this.#list(low++, edge);
      if (high % 2 === 1) this.#list(--high, edge);
    }
  }

  #list(node: number, edge: number): void {
    const edges = this.#spanning[node];
    if (edges) edges.push(edge);
    else this.#spanning[node] = [edge];
  }

  /** The last strip that begins at or south of a latitude; the first one for latitudes south of all. */
  #stripOf(lat: number): number {
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] ?? 0) <= lat) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The ends of an edge, the southern one first. */
  #ends(edge: number) {
    const { lngs, lats } = this.#path;
    const [ax = 0, ay = 0, bx = 0, by = 0] = [lngs[edge], lats[edge], lngs[edge + 1], lats[edge + 1]];
    return ay <= by ? { ax, ay, bx, by } : { ax: bx, ay: by, bx: ax, by: ay };
  }

  /** 1 if an edge is east of a position, -1 if it is west, north or south, 0 if the position is on it. */
  #sideOf(edge: number, x: number, y: number): -1 | 0 | 1 {
    const { ax, ay, bx, by } = this.#ends(edge);
    if (y < ay || y > by) return -1;
    if (ay === by) return Math.min(ax, bx) <= x && x <= Math.max(ax, bx) ? 0 : -1;
    const side = orient2d(ax, ay, bx, by, x, y);
    if (side === 0) return 0;
    // The upper end belongs to the next edge, so that each vertex counts once.
    return side < 0 && y < by ? 1 : -1;
  }

  /** The number of sorted edges that are east of a position; undefined if it is on one of them. */
  #eastOf(edges: readonly number[], x: number, y: number): number | undefined {
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const side = this.#sideOf(edges[middle] ?? 0, x, y);
      if (side === 0) return undefined;
      if (side < 0) low = middle + 1;
      else high = middle;
    }
    return edges.length - low;
  }

  #eastOneByOne(edges: readonly number[], x: number, y: number): number | undefined {
    let east = 0;
    for (const edge of edges) {
      const side = this.#sideOf(edge, x, y);
      if (side === 0) return undefined;
      if (side > 0) east++;
    }
    return east;
  }

  /** Sorts the edges of a node on first use; returns false if some cross each other. */
  #isOrdered(node: number, edges: number[]): boolean {
    const known = this.#isSorted[node];
    if (known !== undefined) return known;
    let south = -Infinity;
    let north = Infinity;
    for (const edge of edges) {
      const { ay, by } = this.#ends(edge);
      south = Math.max(south, ay);
      north = Math.min(north, by);
    }
    const middle = (south + north) / 2;
    const at = Float64Array.from(edges, (edge) => {
      const { ax, ay, bx, by } = this.#ends(edge);
      return ax + ((bx - ax) * (middle - ay)) / (by - ay);
    });
    const order = Uint32Array.from(edges.keys()).sort((a, b) => (at[a] ?? 0) - (at[b] ?? 0));
    const sorted = Array.from(order, (nth) => edges[nth] ?? 0);
    for (const [nth, edge] of sorted.entries()) edges[nth] = edge;
    const isSorted = edges.every((edge, nth) => nth === 0 || this.#isWestOf(edges[nth - 1] ?? 0, edge));
    this.#isSorted[node] = isSorted;
    return isSorted;
  }

  /** Whether an edge is nowhere east of another, at the latitudes of both. */
  #isWestOf(western: number, eastern: number): boolean {
    const { ax, ay, bx, by } = this.#ends(western);
    const { ax: cx, ay: cy, bx: dx, by: dy } = this.#ends(eastern);
    const isWest = (x: number, y: number) => orient2d(cx, cy, dx, dy, x, y) <= 0;
    const isEast = (x: number, y: number) => orient2d(ax, ay, bx, by, x, y) >= 0;
    return (ay >= cy ? isWest(ax, ay) : isEast(cx, cy)) && (by <= dy ? isWest(bx, by) : isEast(dx, dy));
  }
}
