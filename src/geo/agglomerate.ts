import { type Group, byFirstCell, join } from './groups.js';

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
export function agglomerate(groups: readonly Group[], distance: number, zoom: number): readonly Group[] {
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
