import { type Group, agglomerate, byFirstCell, groupOf, join, meanOf, turned } from './agglomerate.js';
import { type Area, type Bounds, areaOverlapsCell } from './bounds.js';
import type { Cell } from './cell-sums.js';
import {
  PASSES,
  type Shift,
  type Spacing,
  type Windows,
  crumbAt,
  westOf,
  windowAt,
  windowsOf,
} from './cluster-windows.js';
import { takeApart } from './few-markers.js';
import { cellBounds } from './geohash.js';
import type { Point } from './point.js';
import type { Steps } from './steps.js';

/** Number of groups handled in one step. */
const STEP = 256;

/** Neighboring cells that a map draws as one circle. */
export interface Cluster {
  /** The mean position of all markers in it. */
  readonly position: Point;
  /** The bounding box of its cells; west is greater than east if it crosses the antimeridian. */
  readonly bounds: Bounds;
  readonly count: number;
  /** Sorted by geohash. */
  readonly cells: readonly Cell[];
}

/** Collects groups by number. */
function gather(groups: readonly Group[], nameOf: (group: Group) => number): Map<number, Group[]> {
  const named = new Map<number, Group[]>();
  for (const group of groups) {
    const name = nameOf(group);
    const known = named.get(name);
    if (known) known.push(group);
    else named.set(name, [group]);
  }
  return named;
}

/** Merges the groups of a window until all are a distance apart. */
function joinWindow(windows: Windows, shift: Shift, window: number, groups: readonly Group[]): Group[] {
  const west = westOf(windows, shift, window);
  const { zoom, distance } = windows.spacing;
  // Within a window, longitudes continue across the antimeridian.
  const beside = groups.map((group) => (meanOf(group).lng < west ? turned(group, 1) : group));
  return agglomerate(beside, distance, zoom).map((group) => (meanOf(group).lng >= 180 ? turned(group, -1) : group));
}

/** Merges cells (of one precision, without duplicates) into groups. */
function* joinCells(cells: Iterable<Cell>, windows: Windows): Steps<Group[]> {
  const single: Group[] = [];
  for (const cell of cells) if (cell.count > 0) single.push(groupOf(cell));
  yield;
  const crumbs = gather(single, (group) => crumbAt(windows, meanOf(group)));
  let groups = Array.from(crumbs.values(), (each) => each.toSorted(byFirstCell).reduce(join));
  for (const shift of PASSES) {
    let steps = 0;
    const joined: Group[] = [];
    for (const [window, each] of gather(groups, (group) => windowAt(windows, shift, meanOf(group)))) {
      if ((steps += each.length) >= STEP) {
        steps = 0;
        yield;
      }
      joined.push(...joinWindow(windows, shift, window, each));
    }
    groups = joined;
  }
  return groups;
}

/**
 * Merges cells (of one precision, without duplicates, at least all of `clusterArea`) into clusters, and returns those
 * with a cell that overlaps the area, sorted by first geohash. They are the same for every area.
 *
 * The world is divided into windows. In each, the two closest clusters are merged repeatedly until all are `distance`
 * px apart. Three more passes with shifted windows merge clusters on both sides of an edge. So a cluster depends only
 * on its surroundings within a few distances. A pass may move a cluster closer to one in another window: of a thousand
 * clusters on a map, one or two remain too close to a neighbor. Finally, clusters of two or three markers are split
 * where their markers fit.
 */
export function* clusterCells(area: Area, cells: Iterable<Cell>, spacing: Spacing): Steps<Cluster[]> {
  const windows = windowsOf(spacing);
  const groups = yield* takeApart(yield* joinCells(cells, windows), windows);
  const inside = groups.filter((group) =>
    group.cells.some(({ geohash }) => areaOverlapsCell(area, cellBounds(geohash))),
  );
  return inside.sort(byFirstCell).map(clusterOf);
}

/** Whether these cells form more than one cluster, or are drawn individually, if there are no others. */
export function* cellsPart(cells: readonly Cell[], spacing: Spacing): Steps<boolean> {
  const windows = windowsOf(spacing);
  return (yield* takeApart(yield* joinCells(cells, windows), windows)).length > 1;
}

function clusterOf(group: Group): Cluster {
  const { west, east, south, north, count, cells } = group;
  const isRound = east - west >= 360;
  return {
    position: meanOf(group),
    bounds: {
      west: isRound ? -180 : west < -180 ? west + 360 : west,
      east: isRound ? 180 : east > 180 ? east - 360 : east,
      south,
      north,
    },
    count,
    cells: cells.toSorted((a, b) => (a.geohash < b.geohash ? -1 : 1)),
  };
}
