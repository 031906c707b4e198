import { type Cell, type CellSums, UNITS_PER_DEGREE, addSums } from './cell-sums.js';
import { cellBounds } from './geohash.js';
import { pixelOf } from './mercator.js';
import type { Point } from './point.js';

const TURN = 360;

/** Cells being merged. Longitudes may exceed 180 as long as those of neighbors do. */
export interface Group extends CellSums {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
  /** The first geohash of its cells. */
  readonly first: string;
  readonly cells: readonly Cell[];
}

export function groupOf(cell: Cell): Group {
  const { count, sumLng, sumLat } = cell;
  return { count, sumLng, sumLat, ...cellBounds(cell.geohash), first: cell.geohash, cells: [cell] };
}

/** The mean position of the markers of a group. */
export function meanOf({ sumLng, sumLat, count }: CellSums): Point {
  return { lng: sumLng / count / UNITS_PER_DEGREE + 0, lat: sumLat / count / UNITS_PER_DEGREE + 0 };
}

/** The same group, moved whole turns around the globe to the east. */
export function turned(group: Group, turns: number): Group {
  if (turns === 0) return group;
  const { count, sumLng, west, east } = group;
  return {
    ...group,
    sumLng: sumLng + turns * TURN * UNITS_PER_DEGREE * count,
    west: west + turns * TURN,
    east: east + turns * TURN,
  };
}

export const byFirstCell = (a: Group, b: Group): number => (a.first < b.first ? -1 : 1);

export function join(a: Group, b: Group): Group {
  return {
    ...addSums(a, b),
    west: Math.min(a.west, b.west),
    east: Math.max(a.east, b.east),
    south: Math.min(a.south, b.south),
    north: Math.max(a.north, b.north),
    first: a.first < b.first ? a.first : b.first,
    cells: [...a.cells, ...b.cells],
  };
}

/** A group in a window, with its position in px and the nearest other group. */
interface Node {
  readonly group: Group;
  readonly x: number;
  readonly y: number;
  nearest: Node | undefined;
  /** The square of the distance to it. */
  gap: number;
}

function findNearest(node: Node, nodes: readonly Node[], limit: number): void {
  node.nearest = undefined;
  node.gap = limit;
  for (const other of nodes) {
    const gap = (other.x - node.x) ** 2 + (other.y - node.y) ** 2;
    if (gap >= node.gap || other === node) continue;
    node.gap = gap;
    node.nearest = other;
  }
}

/**
 * Merges the two closest groups repeatedly until all are at least `distance` apart. The result depends only on the
 * groups, not on their order. For at most a few hundred groups: takes quadratic time.
 */
export function agglomerate(groups: readonly Group[], distance: number, zoom: number): Group[] {
  const limit = distance ** 2;
  const nodeOf = (group: Group): Node => ({ group, ...pixelOf(meanOf(group), zoom), nearest: undefined, gap: limit });
  const nodes = groups.toSorted(byFirstCell).map(nodeOf);
  for (const node of nodes) findNearest(node, nodes, limit);
  for (;;) {
    let closest: Node | undefined;
    for (const node of nodes) if (node.nearest && node.gap < (closest?.gap ?? Infinity)) closest = node;
    const other = closest?.nearest;
    if (!closest || !other) return nodes.map(({ group }) => group);
    const joined = nodeOf(join(closest.group, other.group));
    // The first of the pair stays in its position, so that the list stays in order.
    nodes.splice(nodes.indexOf(closest), 1, joined);
    nodes.splice(nodes.indexOf(other), 1);
    for (const node of nodes) {
      if (node === joined || node.nearest === closest || node.nearest === other) findNearest(node, nodes, limit);
      else {
        const gap = (joined.x - node.x) ** 2 + (joined.y - node.y) ** 2;
        if (gap < node.gap) Object.assign(node, { nearest: joined, gap });
      }
    }
  }
}
