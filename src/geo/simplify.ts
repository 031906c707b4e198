import KDBush from 'kdbush';
import TinyQueue from 'tinyqueue';

import { type Position, type ZoneGeometry, doubleArea, oriented } from './antimeridian.js';

/** The fewest positions that a geometry can be reduced to: a triangle's. */
export const LEAST_VERTICES = 4;

/** A ring, without the position that closes it, or a line. Vertices are numbered across all paths. */
interface Path {
  readonly first: number;
  readonly positions: readonly Position[];
  readonly closed: boolean;
  readonly part: number;
  readonly hole: boolean;
}

function pathsOf(geometry: ZoneGeometry): Path[] {
  const parts: readonly (readonly (readonly Position[])[])[] =
    geometry.type === 'MultiPolygon'
      ? geometry.coordinates
      : geometry.type === 'Polygon'
        ? [geometry.coordinates]
        : geometry.type === 'MultiLineString'
          ? geometry.coordinates.map((line) => [line])
          : [[geometry.coordinates]];
  const closed = geometry.type.endsWith('Polygon');
  let first = 0;
  return parts.flatMap((rings, part) =>
    rings.map((ring, nth) => {
      const positions = closed ? ring.slice(0, -1) : ring;
      const path = { first, positions, closed, part, hole: nth > 0 };
      first += positions.length;
      return path;
    }),
  );
}

/** A candidate for removal: a vertex, or a whole path that has no vertex to spare. The least weight is removed first. */
interface Candidate {
  readonly weight: number;
  readonly vertex: number;
  readonly path: number;
  /** How often the vertex has been weighed; candidates of earlier rounds are ignored. */
  readonly round: number;
}

const WHOLE = -1;

/**
 * Simplifies a geometry by the algorithm of Visvalingam and Whyatt: it always removes the position whose triangle with its
 * neighbours is smallest, provided that no other position lies in that triangle, so that edges never cross. A ring of
 * three positions and a line of two are removed as a whole. The last part is kept.
 */
export class Simplifier {
  readonly #geometry: ZoneGeometry;
  readonly #paths: readonly Path[];
  readonly #x: Float64Array;
  readonly #y: Float64Array;
  /** The step at which each vertex is removed; Infinity if it never is. */
  readonly #removedAt: Float64Array;
  /** Positions left after each step. */
  readonly #left: number[];

  constructor(geometry: ZoneGeometry) {
    this.#geometry = geometry;
    this.#paths = pathsOf(geometry);
    const positions = this.#paths.flatMap((path) => path.positions);
    this.#x = Float64Array.from(positions, ([lng]) => lng);
    this.#y = Float64Array.from(positions, ([, lat]) => lat);
    this.#removedAt = new Float64Array(positions.length).fill(Infinity);
    this.#left = [positions.length + this.#paths.filter(({ closed }) => closed).length];
    this.#order();
  }

  /** The geometry with at most `maxVertices` positions (4 or more), including those that close rings. */
  at(maxVertices: number): ZoneGeometry {
    const step = this.#left.findIndex((left) => left <= maxVertices);
    const last = step < 0 ? this.#left.length - 1 : step;
    const parts = new Map<number, (readonly Position[])[]>();
    for (const { first, positions, closed, part, hole } of this.#paths) {
      const kept = positions.filter((_, index) => (this.#removedAt[first + index] ?? 0) > last);
      const [start] = kept;
      if (start === undefined) continue;
      const rings = parts.get(part) ?? [];
      parts.set(part, rings);
      // A ring that crosses itself may lose the larger of its loops, and with it change direction.
      rings.push(closed ? oriented([...kept, start], hole) : kept);
    }
    const { type } = this.#geometry;
    const all = [...parts.values()];
    switch (type) {
      case 'Polygon':
        return { type, coordinates: all[0] ?? [] };
      case 'MultiPolygon':
        return { type, coordinates: all };
      case 'LineString':
        return { type, coordinates: all[0]?.[0] ?? [] };
      case 'MultiLineString':
        return { type, coordinates: all.flat() };
    }
  }

  #order(): void {
    const x = this.#x;
    const y = this.#y;
    const count = x.length;
    const before = new Int32Array(count);
    const after = new Int32Array(count);
    const pathOf = new Int32Array(count);
    const rounds = new Int32Array(count);
    const alive = new Uint8Array(count).fill(1);
    const sizes = this.#paths.map(({ positions }) => positions.length);
    const pathsOfPart = new Map<number, number[]>();
    this.#paths.forEach(({ part }, path) => {
      const paths = pathsOfPart.get(part);
      if (paths) paths.push(path);
      else pathsOfPart.set(part, [path]);
    });
    const queue = new TinyQueue<Candidate>([], (a, b) => a.weight - b.weight);
    const tree = new KDBush(count);
    for (let vertex = 0; vertex < count; vertex++) tree.add(x[vertex] ?? 0, y[vertex] ?? 0);
    if (count > 0) tree.finish();

    const triangle = (a: number, b: number, c: number) => {
      const [ax = 0, ay = 0] = [x[a], y[a]];
      return Math.abs(((x[b] ?? 0) - ax) * ((y[c] ?? 0) - ay) - ((x[c] ?? 0) - ax) * ((y[b] ?? 0) - ay));
    };
    const weigh = (vertex: number) => {
      const [a = -1, c = -1] = [before[vertex], after[vertex]];
      if (a < 0 || c < 0) return;
      rounds[vertex] = (rounds[vertex] ?? 0) + 1;
      queue.push({ weight: triangle(a, vertex, c), vertex, path: pathOf[vertex] ?? 0, round: rounds[vertex] ?? 0 });
    };
    /** Queues a path as a whole once it has no vertex to spare. */
    const offer = (path: number) => {
      const { first, positions, closed } = this.#paths[path] ?? { first: 0, positions: [], closed: false };
      if (sizes[path] !== (closed ? 3 : 2)) return;
      const kept = positions.filter((_, index) => alive[first + index] === 1);
      const [[ax, ay] = [0, 0], [bx, by] = [0, 0]] = kept;
      const weight = closed ? Math.abs(doubleArea([...kept, [ax, ay]])) : (bx - ax) ** 2 + (by - ay) ** 2;
      queue.push({ weight, vertex: WHOLE, path, round: 0 });
    };
    /** An edge of more than 180 degrees would be read as crossing the antimeridian: allowed only as a last resort. */
    let wide = false;
    /** Whether another vertex lies in the triangle or on its edge: removing this one would move an edge across it. */
    const blocked = (a: number, b: number, c: number) => {
      const [ax = 0, bx = 0, cx = 0] = [x[a], x[b], x[c]];
      if (!wide && Math.abs(cx - ax) > 180) return true;
      const [ay = 0, by = 0, cy = 0] = [y[a], y[b], y[c]];
      const side = (px: number, py: number, qx: number, qy: number, vx: number, vy: number) =>
        Math.sign((qx - px) * (vy - py) - (qy - py) * (vx - px));
      const turn = side(ax, ay, bx, by, cx, cy);
      const near = tree.range(Math.min(ax, bx, cx), Math.min(ay, by, cy), Math.max(ax, bx, cx), Math.max(ay, by, cy));
      return near.some((vertex) => {
        if (alive[vertex] === 0 || vertex === a || vertex === b || vertex === c) return false;
        const [vx = 0, vy = 0] = [x[vertex], y[vertex]];
        // Two paths that touch at the end of the new edge still touch there.
        if ((vx === ax && vy === ay) || (vx === cx && vy === cy)) return false;
        return (
          side(ax, ay, bx, by, vx, vy) * turn >= 0 &&
          side(bx, by, cx, cy, vx, vy) * turn >= 0 &&
          side(cx, cy, ax, ay, vx, vy) * turn >= 0
        );
      });
    };

    const remove = (vertex: number) => {
      alive[vertex] = 0;
      this.#removedAt[vertex] = this.#left.length;
    };
    /** Removes a path, and with an outer ring its holes; false if it is the last part. */
    const drop = (path: number): boolean => {
      const { part, hole } = this.#paths[path] ?? { part: 0, hole: false };
      if (!hole && pathsOfPart.size === 1) return false;
      const dropped = hole ? [path] : (pathsOfPart.get(part) ?? []);
      let fewer = 0;
      for (const index of dropped) {
        const { first, positions, closed } = this.#paths[index] ?? { first: 0, positions: [], closed: false };
        if (sizes[index] === 0) continue;
        fewer += (sizes[index] ?? 0) + (closed ? 1 : 0);
        sizes[index] = 0;
        positions.forEach((_, nth) => {
          if (alive[first + nth] === 1) remove(first + nth);
        });
      }
      if (!hole) pathsOfPart.delete(part);
      if (fewer > 0) this.#left.push((this.#left.at(-1) ?? 0) - fewer);
      return fewer > 0;
    };

    this.#paths.forEach(({ first, positions, closed }, path) => {
      const { length } = positions;
      positions.forEach((_, index) => {
        const vertex = first + index;
        pathOf[vertex] = path;
        before[vertex] = index > 0 ? vertex - 1 : closed ? first + length - 1 : -1;
        after[vertex] = index < length - 1 ? vertex + 1 : closed ? first : -1;
      });
    });
    for (let vertex = 0; vertex < count; vertex++) weigh(vertex);
    this.#paths.forEach((_, path) => offer(path));

    let waiting: number[] = [];
    let progress = false;
    for (;;) {
      const next = queue.pop();
      if (next === undefined) {
        // Retry blocked vertices if anything was removed since; otherwise drop the smallest path to make room.
        const again = waiting;
        waiting = [];
        if (!progress && !this.#makeRoom(sizes, drop)) {
          if (wide) return;
          wide = true;
        }
        progress = false;
        for (const vertex of again) if (alive[vertex] === 1) weigh(vertex);
        if (queue.length === 0) return;
        continue;
      }
      const { vertex, path, round } = next;
      if (vertex === WHOLE) {
        if ((sizes[path] ?? 0) > 0 && drop(path)) progress = true;
        continue;
      }
      const { closed } = this.#paths[path] ?? { closed: false };
      if (alive[vertex] === 0 || rounds[vertex] !== round || (sizes[path] ?? 0) <= (closed ? 3 : 2)) continue;
      const [a = 0, c = 0] = [before[vertex], after[vertex]];
      if (blocked(a, vertex, c)) {
        waiting.push(vertex);
        continue;
      }
      remove(vertex);
      this.#left.push((this.#left.at(-1) ?? 0) - 1);
      progress = true;
      after[a] = c;
      before[c] = a;
      sizes[path] = (sizes[path] ?? 0) - 1;
      weigh(a);
      weigh(c);
      offer(path);
    }
  }

  /** Drops the droppable path with the fewest vertices; false if there is none. */
  #makeRoom(sizes: readonly number[], drop: (path: number) => boolean): boolean {
    const paths = [...sizes.keys()].filter((path) => (sizes[path] ?? 0) > 0);
    return paths.sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0)).some(drop);
  }
}
