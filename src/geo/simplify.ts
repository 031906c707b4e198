import { oriented, type Position, type ZoneGeometry } from './antimeridian.js';
import { removalOrder, type RemovalOrder, type VertexPath } from './removal-order.js';
import type { Steps } from './steps.js';

/** The minimum number of positions of a simplified geometry: a triangle's. */
export const LEAST_VERTICES = 4;

function pathsOf(geometry: ZoneGeometry): VertexPath[] {
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

/** Simplifies a geometry to any number of positions, see `removalOrder`. */
export class Simplifier {
  readonly #geometry: ZoneGeometry;
  readonly #paths: readonly VertexPath[];
  readonly #order: RemovalOrder;

  private constructor(geometry: ZoneGeometry, paths: readonly VertexPath[], order: RemovalOrder) {
    this.#geometry = geometry;
    this.#paths = paths;
    this.#order = order;
  }

  /** The simplifier of a geometry, which removes no more than `limit` allows. */
  static *of(geometry: ZoneGeometry, limit?: number): Steps<Simplifier> {
    const paths = pathsOf(geometry);
    yield;
    return new Simplifier(geometry, paths, yield* removalOrder(paths, limit));
  }

  /** The geometry with at most `maxVertices` positions (4 or more), including those that close rings. */
  at(maxVertices: number): ZoneGeometry {
    const step = this.#order.left.findIndex((left) => left <= maxVertices);
    const last = step < 0 ? this.#order.left.length - 1 : step;
    const parts = new Map<number, (readonly Position[])[]>();
    for (const { first, positions, closed, part, hole } of this.#paths) {
      const kept = positions.filter((_, index) => (this.#order.removedAt[first + index] ?? 0) > last);
      const [start] = kept;
      if (start === undefined) continue;
      const rings = parts.get(part) ?? [];
      parts.set(part, rings);
      // A ring that crosses itself may lose the larger of its loops, and thereby change direction.
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
}
