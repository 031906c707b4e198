import type { Position, ZoneGeometry } from './antimeridian.js';
import { LEAST_VERTICES, Simplifier } from './simplify.js';
import type { Steps } from './steps.js';

/** Number of positions snapped in one step. */
const STEP = 10_000;
/** The finest grid in degrees: finer than any measured position. */
const FINEST = 1e-7;

/**
 * The grid to which positions are rounded: lines at most half the tolerance apart, and 1, 2 or 5 times a power of
 * ten, so that positions have few digits and the antimeridian lies on it.
 */
function linesPerDegree(tolerance: number): number {
  const most = Math.max(FINEST, Math.min(1, tolerance / 2));
  const power = 10 ** Math.floor(Math.log10(most) + 1e-9);
  const step = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return Math.round(1 / (step * power));
}

/** A path with its positions snapped to the grid, without consecutive duplicates. */
function snapped(path: readonly Position[], perDegree: number): Position[] {
  const kept: Position[] = [];
  for (const [lng, lat] of path) {
    const [x, y] = [Math.round(lng * perDegree) / perDegree + 0, Math.round(lat * perDegree) / perDegree + 0];
    const last = kept.at(-1);
    if (last?.[0] !== x || last[1] !== y) kept.push([x, y]);
  }
  return kept;
}

/** The extent of a path in degrees. */
function extentOf(path: readonly Position[]): number {
  const [lngs, lats] = [path.map(([lng]) => lng), path.map(([, lat]) => lat)];
  const span = (all: readonly number[]) =>
    all.reduce((a, b) => Math.max(a, b), -Infinity) - all.reduce((a, b) => Math.min(a, b), Infinity);
  return Math.max(span(lngs), span(lats));
}

/** The parts of a geometry as lists of paths: a polygon's rings, or a line. */
function partsOf(geometry: ZoneGeometry): readonly (readonly (readonly Position[])[])[] {
  switch (geometry.type) {
    case 'Polygon':
      return [geometry.coordinates];
    case 'MultiPolygon':
      return geometry.coordinates;
    case 'LineString':
      return [[geometry.coordinates]];
    case 'MultiLineString':
      return geometry.coordinates.map((line) => [line]);
  }
}

function geometryOf(type: ZoneGeometry['type'], parts: readonly (readonly (readonly Position[])[])[]): ZoneGeometry {
  switch (type) {
    case 'Polygon':
      return { type, coordinates: parts[0] ?? [] };
    case 'MultiPolygon':
      return { type, coordinates: parts };
    case 'LineString':
      return { type, coordinates: parts[0]?.[0] ?? [] };
    case 'MultiLineString':
      return { type, coordinates: parts.flat() };
  }
}

/**
 * A geometry without details smaller than `tolerance` degrees: its positions are snapped to a grid of half of
 * that, and those are removed whose triangle with their neighbors is smaller than its square. Parts and holes that
 * small are dropped, but the largest part stays. A border shared by two geometries stays the same in both, up to the
 * tolerance at its ends, because the result for a position depends only on those around it.
 */
export function* coarsened(geometry: ZoneGeometry, tolerance: number): Steps<ZoneGeometry> {
  const perDegree = linesPerDegree(tolerance);
  const least = geometry.type.endsWith('Polygon') ? LEAST_VERTICES : 2;
  const all = partsOf(geometry);
  const parts: Position[][][] = [];
  let steps = 0;
  for (const part of all) {
    const paths: Position[][] = [];
    for (const path of part) {
      if ((steps += path.length) > STEP) {
        steps = 0;
        yield;
      }
      const kept = snapped(path, perDegree);
      // Without its outer ring, a polygon has no holes.
      if (kept.length >= least) paths.push(kept);
      else if (paths.length === 0) break;
    }
    if (paths.length > 0) parts.push(paths);
  }
  const [largest] = parts.length > 0 ? [] : all.toSorted((a, b) => extentOf(b[0] ?? []) - extentOf(a[0] ?? []));
  const coarse = geometryOf(geometry.type, largest ? [largest] : parts);
  return (yield* Simplifier.of(coarse, 2 * tolerance ** 2)).at(LEAST_VERTICES);
}
