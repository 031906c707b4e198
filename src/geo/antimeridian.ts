import { type Part, type Path, least } from './paths.js';

/** A position as GeoJSON has it: longitude, then latitude, in degrees. */
export type Position = readonly [lng: number, lat: number];

/** A geometry of a zone as RFC 7946 writes it: within -180..180, cut in two where it crosses the antimeridian. */
export type ZoneGeometry =
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString'; readonly coordinates: readonly (readonly Position[])[] };

const LINE = 180;
type Side = 'west' | 'east';
const SIDES: readonly Side[] = ['west', 'east'];

/** What is exactly on the line is west of it; where an edge passes it, a position is put on it for both sides. */
const sideOf = ([lng]: Position): Side => (lng <= LINE ? 'west' : 'east');

function crossing([ax, ay]: Position, [bx, by]: Position): Position {
  return [LINE, ay + ((by - ay) * (LINE - ax)) / (bx - ax)];
}

const positionsOf = ({ lngs, lats }: Path): Position[] => lngs.map((lng, index) => [lng, lats[index] ?? 0]);
const crosses = ({ lngs }: Path) => lngs.some((lng) => lng > LINE);
const back = (side: Side) => (side === 'west' ? 0 : 360);
const turned = (positions: readonly Position[], side: Side): Position[] =>
  positions.map(([lng, lat]) => [lng - back(side), lat]);

/** A run of positions on one side, which begins and ends on the line where it is cut off. */
interface Run {
  readonly side: Side;
  readonly positions: Position[];
}

/** A path as runs, from its first position to its last. */
function runsOf(positions: readonly Position[]): Run[] {
  const runs: Run[] = [];
  positions.forEach((position, index) => {
    const side = sideOf(position);
    const before = positions[index - 1];
    const last = runs.at(-1);
    if (before && last && last.side !== side) {
      const on = crossing(before, position);
      last.positions.push(on);
      runs.push({ side, positions: [on, position] });
    } else if (last) last.positions.push(position);
    else runs.push({ side, positions: [position] });
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

const oriented = (ring: readonly Position[], counterclockwise: boolean) =>
  doubleArea(ring) > 0 === counterclockwise ? ring : ring.toReversed();

/**
 * Rings from runs of one side: along the line, what is between the first and the second end is inside, between the second
 * and the third outside, and so on, whichever rings they are of.
 */
function joined(runs: readonly Run[]): Position[][] {
  const ends: { readonly run: number; readonly last: boolean; readonly lat: number }[] = runs.flatMap(
    ({ positions }, run) => [
      { run, last: false, lat: positions[0]?.[1] ?? 0 },
      { run, last: true, lat: positions.at(-1)?.[1] ?? 0 },
    ],
  );
  ends.sort((a, b) => a.lat - b.lat);
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

/** Without positions that repeat the one before. */
const tidy = (ring: readonly Position[]) =>
  ring.filter(([lng, lat], index) => index === 0 || lng !== ring[index - 1]?.[0] || lat !== ring[index - 1]?.[1]);

/** Whether a position is in a ring, by the edges that a ray to the east meets. */
function inRing(ring: readonly Position[], [x, y]: Position): boolean {
  let inside = false;
  for (let i = 1; i < ring.length; i++) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? [];
    const [bx = 0, by = 0] = ring[i] ?? [];
    if (ay > y !== by > y && x < ax + ((y - ay) * (bx - ax)) / (by - ay)) inside = !inside;
  }
  return inside;
}

/** The pieces of a polygon whose outer ring crosses the line, each an outer ring with its holes. */
function cutPolygon(paths: readonly [Path, ...Path[]]): Position[][][] {
  const west = least(paths[0].lngs);
  const cut: Run[] = [];
  const whole: Run[] = [];
  for (const path of paths) {
    // A hole is read by itself, and may have been told a turn farther west than it lies in its ring.
    const turn = least(path.lngs) < west ? 360 : 0;
    const positions = positionsOf(path).map(([lng, lat]): Position => [lng + turn, lat]);
    // Begun where it crosses, so that the first run is a whole one.
    const start = positions.findIndex((one, index) => index > 0 && sideOf(one) !== sideOf(positions[index - 1] ?? one));
    if (start < 0) whole.push({ side: sideOf(positions[0] ?? [0, 0]), positions });
    else {
      const before = positions.slice(0, start);
      // A ring's last position is its first.
      const runs = runsOf([...positions.slice(start - 1), ...before.slice(1)]);
      cut.push(...runs.slice(1));
      // The first position of all is only there for the crossing behind it.
      const closing = runs.slice(1).at(-1);
      const from = positions[start - 1];
      const to = positions[start];
      if (closing && from && to) closing.positions.push(crossing(from, to));
    }
  }
  return SIDES.flatMap((side) => {
    const outers = joined(cut.filter((run) => run.side === side))
      .map((ring) => tidy(ring))
      .filter((ring) => ring.length >= 4 && doubleArea(ring) !== 0);
    const holes = whole.filter((run) => run.side === side).map(({ positions }) => positions);
    return outers.map((outer) => [
      turned(oriented(outer, true), side),
      ...holes
        .filter(([first]) => first !== undefined && (outers.length === 1 || inRing(outer, first)))
        .map((hole) => turned(oriented(hole, false), side)),
    ]);
  });
}

function cutLine(path: Path): Position[][] {
  return runsOf(positionsOf(path))
    .map(({ side, positions }) => tidy(turned(positions, side)))
    .filter((positions) => positions.length > 1);
}

/** The geometry that parts (as `readPaths` gives them) make; `multiple` says whether it may be one of several parts. */
export function geometryOf(parts: readonly Part[], multiple: boolean): ZoneGeometry {
  if (parts.every(({ filled }) => !filled)) {
    const lines = parts.flatMap(({ paths: [path] }) => (crosses(path) ? cutLine(path) : [positionsOf(path)]));
    const [only = []] = lines;
    if (!multiple && lines.length === 1) return { type: 'LineString', coordinates: only };
    return { type: 'MultiLineString', coordinates: lines };
  }
  const polygons = parts.flatMap(({ paths }) =>
    crosses(paths[0]) ? cutPolygon(paths) : [paths.map((path) => positionsOf(path))],
  );
  const [only = []] = polygons;
  if (!multiple && polygons.length === 1) return { type: 'Polygon', coordinates: only };
  return { type: 'MultiPolygon', coordinates: polygons };
}
