import { orient2d } from 'robust-predicates';

import { badInput } from '../errors.js';
import { PathIndex } from './path-index.js';
import { least, most, type Part, type Path } from './paths.js';
import { atOnce } from './steps.js';

/** A GeoJSON position: longitude, then latitude, in degrees. */
export type Position = readonly [lng: number, lat: number];

/** A zone's geometry according to RFC 7946: within -180..180, cut in two where it crosses the antimeridian. */
export type ZoneGeometry =
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString'; readonly coordinates: readonly (readonly Position[])[] };

const LINE = 180;

/**
 * Number of eastward crossings of the antimeridian before this longitude; a position exactly on it has not crossed yet.
 */
const turnsTo = ([lng]: Position): number => Math.max(0, Math.ceil((lng - LINE) / 360));

/** Where an edge of at most 180 degrees crosses the antimeridian; the pieces on both sides share this position. */
function crossing(a: Position, b: Position): Position {
  const line = LINE + 360 * Math.min(turnsTo(a), turnsTo(b));
  return [line, a[1] + ((b[1] - a[1]) * (line - a[0])) / (b[0] - a[0])];
}

const positionsOf = ({ lngs, lats }: Path): Position[] => lngs.map((lng, index) => [lng, lats[index] ?? 0]);
const crosses = ({ lngs }: Path) => lngs.some((lng) => lng > LINE);
const turned = (positions: readonly Position[], turns: number): Position[] =>
  positions.map(([lng, lat]) => [lng - 360 * turns, lat]);

/** Positions between two crossings. Where the path was cut, a run begins or ends on the antimeridian. */
interface Run {
  readonly turns: number;
  readonly positions: Position[];
}

/** Splits a path into runs, in order. */
function runsOf(positions: readonly Position[]): Run[] {
  const runs: Run[] = [];
  positions.forEach((position, index) => {
    const turns = turnsTo(position);
    const before = positions[index - 1];
    const last = runs.at(-1);
    if (before && last && last.turns !== turns) {
      const on = crossing(before, position);
      last.positions.push(on);
      runs.push({ turns, positions: [on, position] });
    } else if (last) last.positions.push(position);
    else runs.push({ turns, positions: [position] });
  });
  return runs;
}

/** Twice the area in square degrees, positive where the ring runs counterclockwise. */
export function doubleArea(ring: readonly Position[]): number {
  let sum = 0;
  const [x0 = 0, y0 = 0] = ring[0] ?? [];
  for (let i = 1; i < ring.length; i++) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? [];
    const [bx = 0, by = 0] = ring[i] ?? [];
    sum += (ax - x0) * (by - y0) - (bx - x0) * (ay - y0);
  }
  return sum;
}

/**
 * Below this many square degrees, the sum above may be a rounding error, so the direction of a flat ring is undefined.
 */
const FLAT = 1e-12;

/** A ring in the direction that RFC 7946 prescribes: outer rings counterclockwise, holes clockwise. */
export function oriented(ring: readonly Position[], hole: boolean): readonly Position[] {
  const area = hole ? -doubleArea(ring) : doubleArea(ring);
  return area < -FLAT ? ring.toReversed() : ring;
}

/**
 * Joins the runs of one side into rings. Along the antimeridian, the segment between the first and the second end is
 * inside, that between the second and the third outside, and so on, whichever rings the ends belong to.
 */
function joined(runs: readonly Run[]): Position[][] {
  const ends = runs.flatMap(({ positions }, run) => {
    const endOf = (at: Position = [0, 0], towards: Position = at) => {
      const slope = at[0] === towards[0] ? 0 : (towards[1] - at[1]) / Math.abs(towards[0] - at[0]);
      return { run, lat: at[1], slope };
    };
    return [
      { ...endOf(positions[0], positions[1]), last: false },
      { ...endOf(positions.at(-1), positions.at(-2)), last: true },
    ];
  });
  // Of two that touch the antimeridian at one position, the one that comes from the south is first.
  ends.sort((a, b) => a.lat - b.lat || a.slope - b.slope);
  const at = (run: number, last: boolean) => ends.findIndex((end) => end.run === run && end.last === last);
  const open = new Set(runs.keys());
  const rings: Position[][] = [];
  for (const start of open) {
    const ring: Position[] = [];
    let run = start;
    let forwards = true;
    while (open.delete(run)) {
      const { positions = [] } = runs[run] ?? {};
      ring.push(...(forwards ? positions : positions.toReversed()));
      const next: { readonly run: number; readonly last: boolean } | undefined = ends[at(run, forwards) ^ 1];
      if (!next) break;
      run = next.run;
      forwards = !next.last;
    }
    const [first] = ring;
    if (first) rings.push([...ring, first]);
  }
  return rings;
}

/** Removes consecutive duplicates. */
const withoutRepeats = (ring: readonly Position[]) =>
  ring.filter(([lng, lat], index) => index === 0 || lng !== ring[index - 1]?.[0] || lat !== ring[index - 1]?.[1]);

/** Whether all positions are on one line: the area of a ring that crosses itself may be 0, too. */
function isFlat([a = [0, 0], b = a, ...rest]: readonly Position[]): boolean {
  return rest.every((c) => orient2d(a[0], a[1], b[0], b[1], c[0], c[1]) === 0);
}

/** The holes that are in a ring, which they may touch: of each, a position is inside. */
function holesOf(ring: readonly Position[], holes: readonly (readonly Position[])[]) {
  const index = atOnce(PathIndex.of({ lngs: ring.map(([lng]) => lng), lats: ring.map(([, lat]) => lat) }));
  return holes.filter((hole) => hole.some(([lng, lat]) => index.locate(lng, lat) === 'in'));
}

/** The pieces of a polygon whose outer ring crosses the line, each an outer ring with its holes. */
function cutPolygon(field: string, paths: readonly [Path, ...Path[]]): (readonly Position[])[][] {
  const west = least(paths[0].lngs);
  const east = most(paths[0].lngs);
  const cut: Run[] = [];
  const whole: Run[] = [];
  for (const path of paths) {
    // Each path is read separately, so a hole may be a turn farther west than its ring.
    const turn = least(path.lngs) < west ? 360 : 0;
    if (most(path.lngs) + turn > east) {
      throw badInput(
        `${field}.coordinates`,
        `a hole up to ${most(path.lngs) + turn} degrees east`,
        `a hole inside its polygon, which ends at ${east} degrees east`,
      );
    }
    const positions = positionsOf(path).map(([lng, lat]): Position => [lng + turn, lat]);
    // Rotate the ring to start at a crossing, so that no run is split.
    const start = positions.findIndex(
      (one, index) => index > 0 && turnsTo(one) !== turnsTo(positions[index - 1] ?? one),
    );
    if (start < 0) whole.push({ turns: turnsTo(positions[0] ?? [0, 0]), positions });
    else {
      const before = positions.slice(0, start);
      // The last position of a ring repeats the first.
      const runs = runsOf([...positions.slice(start - 1), ...before.slice(1)]);
      cut.push(...runs.slice(1));
      // The first position was needed only to compute the crossing after it.
      const closing = runs.slice(1).at(-1);
      const from = positions[start - 1];
      const to = positions[start];
      if (closing && from && to) closing.positions.push(crossing(from, to));
    }
  }
  return [0, 1].flatMap((turns) => {
    const outers = joined(cut.filter((run) => run.turns === turns))
      .map((ring) => withoutRepeats(ring))
      .filter((ring) => ring.length >= 4 && !isFlat(ring));
    const holes = whole.filter((run) => run.turns === turns).map(({ positions }) => positions);
    return outers.map((outer) => [
      oriented(turned(outer, turns), false),
      ...(outers.length === 1 ? holes : holesOf(outer, holes)).map((hole) => oriented(turned(hole, turns), true)),
    ]);
  });
}

/**
 * The rings of a polygon that does not cross the antimeridian. Only a hole may cross it, if the polygon circles the
 * globe.
 */
function wholePolygon(field: string, [outer, ...holes]: readonly [Path, ...Path[]]): (readonly Position[])[] {
  const cut = holes.flatMap((hole) =>
    crosses(hole) ? cutPolygon(field, [hole]).flatMap(([ring = []]) => [ring]) : [positionsOf(hole)],
  );
  return [oriented(positionsOf(outer), false), ...cut.map((hole) => oriented(hole, true))];
}

function cutLine(path: Path): Position[][] {
  return runsOf(positionsOf(path))
    .map(({ turns, positions }) => withoutRepeats(turned(positions, turns)))
    .filter((positions) => positions.length > 1);
}

/**
 * The RFC 7946 geometry of parts from `readPaths`; `multiple` requests a Multi* type even for one part. Throws
 * BAD_USER_INPUT naming `field` if no polygon has an area, or a hole lies outside its ring.
 */
export function geometryOf(field: string, parts: readonly Part[], multiple: boolean): ZoneGeometry {
  if (parts.every(({ filled }) => !filled)) {
    const lines = parts.flatMap(({ paths: [path] }) => cutLine(path));
    const [only = []] = lines;
    if (!multiple && lines.length === 1) return { type: 'LineString', coordinates: only };
    return { type: 'MultiLineString', coordinates: lines };
  }
  const polygons = parts.flatMap(({ paths }) =>
    crosses(paths[0]) ? cutPolygon(field, paths) : [wholePolygon(field, paths)],
  );
  const [only] = polygons;
  if (!only) throw badInput(`${field}.coordinates`, 'flat rings', 'at least one polygon with an area');
  if (!multiple && polygons.length === 1) return { type: 'Polygon', coordinates: only };
  return { type: 'MultiPolygon', coordinates: polygons };
}
