import { areaOverlapsCell, type Area, type Bounds, type Point } from './bounds.js';
import type { Cell } from './cell-sums.js';
import { crumbAt, PASSES, westOf, windowAt, windowsOf, type Spacing, type Windows } from './cluster-windows.js';
import { takeApart } from './few-markers.js';
import { cellBounds } from './geohash.js';
import { boundsOf, byFirstCell, cellsOf, join, meanOf, ofCell, turned, type Group } from './groups.js';
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

type Groups = readonly [Group, ...Group[]];

/** Collects groups by number. */
function gather(groups: Iterable<Group>, numberOf: (group: Group) => number): Iterable<Groups> {
  const numbered = new Map<number, [Group, ...Group[]]>();
  for (const group of groups) {
    const number = numberOf(group);
    const known = numbered.get(number);
    if (known) known.push(group);
    else numbered.set(number, [group]);
  }
  return numbered.values();
}

/** Merges the groups of a window, whose western edge is at a longitude, until all are a distance apart. */
function joinWindow({ zoom, distance }: Spacing, west: number, groups: Groups): readonly Group[] {
  // Within a window, longitudes continue across the antimeridian.
  const beside = groups.map((group) => (group.lng < west ? turned(group, 1, zoom) : group));
  return agglomerate(beside, distance, zoom).map((group) => (group.lng >= 180 ? turned(group, -1, zoom) : group));
}

/** Merges cells (of one precision, without duplicates) into groups. */
function* joinCells(cells: Iterable<Cell>, windows: Windows): Steps<Group[]> {
  const { spacing } = windows;
  const single: Group[] = [];
  for (const cell of cells) if (cell.count > 0) single.push(ofCell(cell, spacing.zoom));
  yield;
  let groups = Array.from(
    gather(single, (group) => crumbAt(windows, group)),
    (each) => join(each, spacing.zoom),
  );
  for (const shift of PASSES) {
    let steps = 0;
    const joined: Group[] = [];
    for (const each of gather(groups, (group) => windowAt(windows, shift, group))) {
      if ((steps += each.length) >= STEP) {
        steps = 0;
        yield;
      }
      const west = westOf(windows, shift, windowAt(windows, shift, each[0]));
      joined.push(...joinWindow(spacing, west, each));
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
  return groups
    .toSorted(byFirstCell)
    .map((group) => ({ group, cells: cellsOf(group) }))
    .filter(({ cells }) => cells.some(({ geohash }) => areaOverlapsCell(area, cellBounds(geohash))))
    .map(({ group, cells }) => ({
      position: meanOf(group),
      bounds: boundsOf(group),
      count: group.count,
      cells,
    }));
}

/** Whether these cells form more than one cluster, or are drawn individually, if there are no others. */
export function* cellsPart(cells: readonly Cell[], spacing: Spacing): Steps<boolean> {
  const windows = windowsOf(spacing);
  return (yield* takeApart(yield* joinCells(cells, windows), windows)).length > 1;
}

/** A group in a window, with the nearest other group. */
interface Node {
  readonly group: Group;
  nearest: Node | undefined;
  /** The square of the distance to it in px. */
  gap: number;
}

const gapBetween = (a: Group, b: Group) => (a.x - b.x) ** 2 + (a.y - b.y) ** 2;

function findNearest(node: Node, nodes: readonly Node[], limit: number): void {
  node.nearest = undefined;
  node.gap = limit;
  for (const other of nodes) {
    const gap = gapBetween(node.group, other.group);
    if (gap >= node.gap || other === node) continue;
    node.gap = gap;
    node.nearest = other;
  }
}

/**
 * Merges the two closest groups repeatedly until all are at least `distance` apart. The result depends only on the
 * groups, not on their order. For at most a few hundred groups: takes quadratic time.
 */
function agglomerate(groups: readonly Group[], distance: number, zoom: number): readonly Group[] {
  if (groups.length === 1) return groups;
  const limit = distance ** 2;
  const nodeOf = (group: Group): Node => ({ group, nearest: undefined, gap: limit });
  const nodes = groups.toSorted(byFirstCell).map(nodeOf);
  for (const node of nodes) findNearest(node, nodes, limit);
  for (;;) {
    let closest: Node | undefined;
    for (const node of nodes) if (node.nearest && node.gap < (closest?.gap ?? Infinity)) closest = node;
    const other = closest?.nearest;
    if (!closest || !other) return nodes.map(({ group }) => group);
    const joined = nodeOf(join([closest.group, other.group], zoom));
    // The first of the pair stays in its position, so that the list stays in order.
    nodes.splice(nodes.indexOf(closest), 1, joined);
    nodes.splice(nodes.indexOf(other), 1);
    for (const node of nodes) {
      if (node === joined || node.nearest === closest || node.nearest === other) findNearest(node, nodes, limit);
      else {
        const gap = gapBetween(joined.group, node.group);
        if (gap < node.gap) Object.assign(node, { nearest: joined, gap });
      }
    }
  }
}
