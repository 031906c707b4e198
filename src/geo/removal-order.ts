import KDBush from 'kdbush';
import { orient2d } from 'robust-predicates';
import TinyQueue from 'tinyqueue';

import { doubleArea, type Position } from './antimeridian.js';
import type { Steps } from './steps.js';

/** A ring, without the position that closes it, or a line. Vertices are numbered across all paths. */
export interface VertexPath {
  readonly first: number;
  readonly positions: readonly Position[];
  readonly closed: boolean;
  readonly part: number;
  readonly hole: boolean;
}

/** The step in which each vertex of a geometry is removed. */
export interface RemovalOrder {
  /** By vertex; Infinity if it is never removed. */
  readonly removedAt: Float64Array;
  /** Number of positions left after each step, including those that close rings. */
  readonly left: readonly number[];
}

/**
 * A candidate for removal: a vertex, or a whole path that has no vertex to spare. The smallest weight is removed first.
 */
interface Candidate {
  readonly weight: number;
  readonly vertex: number;
  readonly path: number;
  /** How often the vertex has been weighed; candidates from earlier rounds are ignored. */
  readonly round: number;
}

const WHOLE = -1;

/** Number of candidates handled between two turns. */
const STEP = 1_000;

/** The minimum number of vertices of a path. */
const leastOf = ({ closed }: VertexPath): number => (closed ? 3 : 2);

/** The state of the removal: the linked lists of remaining vertices, and the queue of candidates. */
class Removal implements RemovalOrder {
  readonly removedAt: Float64Array;
  readonly left: number[];
  readonly #paths: readonly VertexPath[];
  readonly #x: Float64Array;
  readonly #y: Float64Array;
  /** The remaining neighbors of each vertex; -1 beyond the end of a line. */
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #pathOf: Int32Array;
  readonly #rounds: Int32Array;
  /** Remaining vertices of each path. */
  readonly #sizes: number[];
  /** Paths of the remaining parts. */
  readonly #parts = new Map<number, number[]>();
  /** Contains all vertices, to prevent edges from crossing; undefined if a crossing would not be visible. */
  readonly #tree: KDBush | undefined;
  /** Maximum weight that is removed. */
  readonly #limit: number;
  /** Whether a candidate exceeded the limit: then the removal ends with the queue. */
  #beyond = false;
  /**
   * Ties are broken by position, not by the direction of the path: a common border stays the same in both its zones.
   */
  readonly #queue = new TinyQueue<Candidate>(
    [],
    (a, b) =>
      a.weight - b.weight ||
      (this.#x[a.vertex] ?? 0) - (this.#x[b.vertex] ?? 0) ||
      (this.#y[a.vertex] ?? 0) - (this.#y[b.vertex] ?? 0),
  );
  /** Whether an edge may be longer than 180 degrees. It would be read as crossing the antimeridian: a last resort. */
  #wide = false;

  constructor(paths: readonly VertexPath[], limit: number) {
    const count = paths.reduce((sum, { positions }) => sum + positions.length, 0);
    this.removedAt = new Float64Array(count).fill(Infinity);
    this.left = [count + paths.filter(({ closed }) => closed).length];
    this.#paths = paths;
    this.#x = new Float64Array(count);
    this.#y = new Float64Array(count);
    for (const { first, positions } of paths) {
      for (const [nth, position] of positions.entries()) [this.#x[first + nth], this.#y[first + nth]] = position;
    }
    this.#before = new Int32Array(count);
    this.#after = new Int32Array(count);
    this.#pathOf = new Int32Array(count);
    this.#rounds = new Int32Array(count);
    this.#sizes = paths.map((path) => path.positions.length);
    this.#limit = limit;
    if (limit === Infinity && count > 0) {
      this.#tree = new KDBush(count);
      for (let vertex = 0; vertex < count; vertex++) this.#tree.add(this.#x[vertex] ?? 0, this.#y[vertex] ?? 0);
      this.#tree.finish();
    }
    paths.forEach((path, index) => this.#link(path, index));
    for (let vertex = 0; vertex < count; vertex++) this.#weigh(vertex);
    paths.forEach((path, index) => this.#offer(path, index));
  }

  #link({ first, positions: { length }, closed, part }: VertexPath, path: number): void {
    const paths = this.#parts.get(part);
    if (paths) paths.push(path);
    else this.#parts.set(part, [path]);
    for (let vertex = first; vertex < first + length; vertex++) {
      this.#pathOf[vertex] = path;
      this.#before[vertex] = vertex > first ? vertex - 1 : closed ? first + length - 1 : -1;
      this.#after[vertex] = vertex < first + length - 1 ? vertex + 1 : closed ? first : -1;
    }
  }

  #remains(vertex: number): boolean {
    return this.removedAt[vertex] === Infinity;
  }

  #enqueue(candidate: Candidate): void {
    if (candidate.weight > this.#limit) this.#beyond = true;
    else this.#queue.push(candidate);
  }

  /** Queues a vertex with twice the area of the triangle with its neighbors, unless it is the end of a line. */
  #weigh(vertex: number): void {
    const [a = -1, c = -1] = [this.#before[vertex], this.#after[vertex]];
    if (a < 0 || c < 0) return;
    const [ax = 0, bx = 0, cx = 0] = [this.#x[a], this.#x[vertex], this.#x[c]];
    const [ay = 0, by = 0, cy = 0] = [this.#y[a], this.#y[vertex], this.#y[c]];
    // Rounded identically in both directions.
    const weight = Math.abs((ax - bx) * (cy - by) - (cx - bx) * (ay - by));
    const round = (this.#rounds[vertex] ?? 0) + 1;
    this.#rounds[vertex] = round;
    this.#enqueue({ weight, vertex, path: this.#pathOf[vertex] ?? 0, round });
  }

  /** Queues a path as a whole once it has no vertex to spare. */
  #offer(path: VertexPath, index: number): void {
    const { first, positions, closed } = path;
    if (this.#sizes[index] !== leastOf(path)) return;
    const kept = positions.filter((_, nth) => this.#remains(first + nth));
    const [[ax, ay] = [0, 0], [bx, by] = [0, 0]] = kept;
    const weight = closed ? Math.abs(doubleArea([...kept, [ax, ay]])) : (bx - ax) ** 2 + (by - ay) ** 2;
    this.#enqueue({ weight, vertex: WHOLE, path: index, round: 0 });
  }

  /** Whether another vertex lies in the triangle or on its edge: removing b would move an edge across it. */
  #blocked(a: number, b: number, c: number): boolean {
    const x = this.#x;
    const y = this.#y;
    const [ax = 0, bx = 0, cx = 0] = [x[a], x[b], x[c]];
    if (!this.#wide && Math.abs(cx - ax) > 180) return true;
    if (!this.#tree) return false;
    const [ay = 0, by = 0, cy = 0] = [y[a], y[b], y[c]];
    const turn = Math.sign(orient2d(ax, ay, bx, by, cx, cy));
    const box = [Math.min(ax, bx, cx), Math.min(ay, by, cy), Math.max(ax, bx, cx), Math.max(ay, by, cy)] as const;
    return this.#tree.range(...box).some((vertex) => {
      if (!this.#remains(vertex) || vertex === a || vertex === b || vertex === c) return false;
      const [vx = 0, vy = 0] = [x[vertex], y[vertex]];
      // Two paths that touch at the end of the new edge still touch there.
      if ((vx === ax && vy === ay) || (vx === cx && vy === cy)) return false;
      return (
        orient2d(ax, ay, bx, by, vx, vy) * turn >= 0 &&
        orient2d(bx, by, cx, cy, vx, vy) * turn >= 0 &&
        orient2d(cx, cy, ax, ay, vx, vy) * turn >= 0
      );
    });
  }

  /** Completes a step that removed `removed` positions. */
  #endStep(removed: number): void {
    this.left.push((this.left.at(-1) ?? 0) - removed);
  }

  /** Removes a path, and with an outer ring its holes; returns false if it is the last part. */
  #drop({ part, hole }: VertexPath, path: number): boolean {
    if (!hole && this.#parts.size === 1) return false;
    let removed = 0;
    for (const index of hole ? [path] : (this.#parts.get(part) ?? [])) {
      const size = this.#sizes[index] ?? 0;
      const { first = 0, positions = [], closed = false } = this.#paths[index] ?? {};
      if (size === 0) continue;
      removed += size + (closed ? 1 : 0);
      this.#sizes[index] = 0;
      positions.forEach((_, nth) => {
        if (this.#remains(first + nth)) this.removedAt[first + nth] = this.left.length;
      });
    }
    if (!hole) this.#parts.delete(part);
    if (removed > 0) this.#endStep(removed);
    return removed > 0;
  }

  /** Drops the droppable path with the fewest vertices; returns false if there is none. */
  #makeRoom(): boolean {
    return this.#paths
      .map((path, index) => ({ path, index, size: this.#sizes[index] ?? 0 }))
      .filter(({ size }) => size > 0)
      .sort((a, b) => a.size - b.size)
      .some(({ path, index }) => this.#drop(path, index));
  }

  /** Handles one candidate; returns whether something was removed, or `blocked` for a vertex to retry. */
  #take({ vertex, path: index, round }: Candidate): boolean | 'blocked' {
    const path = this.#paths[index];
    const size = this.#sizes[index] ?? 0;
    if (!path) return false;
    if (vertex === WHOLE) return size > 0 && this.#drop(path, index);
    if (!this.#remains(vertex) || this.#rounds[vertex] !== round || size <= leastOf(path)) return false;
    const [a = 0, c = 0] = [this.#before[vertex], this.#after[vertex]];
    if (this.#blocked(a, vertex, c)) return 'blocked';
    this.removedAt[vertex] = this.left.length;
    this.#endStep(1);
    this.#after[a] = c;
    this.#before[c] = a;
    this.#sizes[index] = size - 1;
    this.#weigh(a);
    this.#weigh(c);
    this.#offer(path, index);
    return true;
  }

  *run(): Steps<void> {
    let steps = 0;
    do {
      const blocked: number[] = [];
      let progress = false;
      for (let next = this.#queue.pop(); next; next = this.#queue.pop()) {
        if (++steps % STEP === 0) yield;
        const taken = this.#take(next);
        if (taken === 'blocked') blocked.push(next.vertex);
        else progress ||= taken;
      }
      if (this.#beyond) return;
      // Retry blocked vertices if anything was removed since; otherwise drop the smallest path to make room.
      if (!progress && !this.#makeRoom()) {
        if (this.#wide) return;
        this.#wide = true;
      }
      for (const vertex of blocked) if (this.#remains(vertex)) this.#weigh(vertex);
    } while (this.#queue.length > 0);
  }
}

/**
 * The order in which the algorithm of Visvalingam and Whyatt removes the vertices of some paths: always the vertex
 * whose triangle with its neighbors is smallest, provided that no other vertex lies in that triangle, so that edges
 * never cross. A ring of three vertices and a line of two are removed as a whole. The last part is kept. Ends at the
 * first vertex for which twice that area, or the square of a line's length, exceeds `limit` square degrees. With a
 * limit, edges may cross within that area.
 */
export function* removalOrder(paths: readonly VertexPath[], limit = Infinity): Steps<RemovalOrder> {
  const removal = new Removal(paths, limit);
  yield;
  yield* removal.run();
  return { removedAt: removal.removedAt, left: removal.left };
}
