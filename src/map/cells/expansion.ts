import { sumsOf, type Cell } from '../../geo/cell-sums.js';
import type { Spacing } from '../../geo/cluster-windows.js';
import { cellsPart, type Cluster } from '../../geo/clusters.js';
import { encode, LONGEST_GEOHASH } from '../../geo/geohash.js';
import { cellRange } from '../../geo/ranges.js';
import { atOnce } from '../../geo/steps.js';
import { Budget } from '../../loaders/budget.js';
import { groupBy } from '../../loaders/group.js';
import { FINEST_STORED } from '../../model/cell.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { clusterPrecision } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { readAll, tooMuch } from '../../read/read-all.js';
import { MAX_ZOOM } from '../viewport.js';
import { blocksUnder, cellsOfBlock } from './blocks.js';
import { cellOf, cellsOfMarkers, type ClusteredCells } from './occupied.js';

/** Number of a cell's markers that are read to find the zoom at which it splits. */
const SAMPLE = 100;
const ADVICE = 'query expansionZoom for fewer clusters, for example in a smaller bounding box';

/** The lowest zoom with cells of these lengths at which the parts form two clusters; undefined if they never do. */
function splitsAt(
  { zoom, distance }: Spacing,
  partsAt: (precision: number) => readonly Cell[] | undefined,
): number | undefined {
  for (let next = Math.floor(zoom) + 1; next < MAX_ZOOM; next++) {
    const parts = partsAt(clusterPrecision(next)) ?? [];
    if (parts.length > 1 && atOnce(cellsPart(parts, { zoom: next, distance }))) return next;
  }
  return undefined;
}

/**
 * The lowest whole zoom above the viewport's at which a cluster would split if there were no others. A cluster of several
 * cells splits when these form two clusters; `ofCells` returns the zooms of clusters of a single cell.
 */
export async function expansionZoom(
  { count, cells }: Cluster,
  spacing: Spacing,
  ofCells: () => Promise<ReadonlyMap<string, number>>,
): Promise<number> {
  if (count === 1) return MAX_ZOOM;
  const zoom = cells.length > 1 ? splitsAt(spacing, () => cells) : (await ofCells()).get(cells[0]?.geohash ?? '');
  return zoom ?? MAX_ZOOM;
}

/**
 * The zooms at which clusters of a single cell split, by cell: when the cells inside it that a map shows at that zoom do,
 * as far as they are stored; beyond that, up to 100 of its markers decide. All clusters share the reads.
 */
export async function zoomsOfCells(
  context: MapContext,
  collection: Collection,
  clusters: readonly Cluster[],
  occupied: ClusteredCells,
  spacing: Spacing,
): Promise<ReadonlyMap<string, number>> {
  const budget = Budget.of(context.limits);
  const zooms = new Map<string, number>();
  let open = new Map<string, readonly Cell[]>();
  for (const { count, cells } of clusters) {
    const [only, ...more] = cells;
    if (only && more.length === 0 && count > 1) open.set(only.geohash, [only]);
  }
  for (let length = occupied.precision + 1; length <= FINEST_STORED && open.size > 0; length++) {
    const parents = hashesOf(open).sort();
    const blocks = occupied.markers ? [] : await blocksUnder(context, collection, parents, budget);
    if (!blocks) throw tooMuch('expansionZoom', context.limits, ADVICE);
    const known = occupied.markers && cellsOfMarkers(occupied.markers, length);
    const inside = known
      ? groupBy(known, ({ geohash }) => geohash.slice(0, -1))
      : new Map(blocks.map((block) => [block.parent, cellsOfBlock(block)]));
    const closed = new Map<string, readonly Cell[]>();
    for (const [name, members] of open) {
      const parts = members.flatMap(({ geohash }) => inside.get(geohash) ?? []);
      const found = splitsAt(spacing, (precision) => (precision === length ? parts : undefined));
      if (found === undefined) closed.set(name, parts);
      else zooms.set(name, found);
    }
    open = closed;
  }
  const samples = await sample(context, collection, occupied, new Set(hashesOf(open)), budget);
  for (const [name, members] of open) {
    const markers = members.flatMap(({ geohash }) => samples.get(geohash) ?? []);
    const parts = markers.map(({ position }) => ({ geohash: encode(position, LONGEST_GEOHASH), ...sumsOf(position) }));
    zooms.set(name, splitsAt(spacing, () => parts) ?? MAX_ZOOM);
  }
  return zooms;
}

const hashesOf = (cells: ReadonlyMap<string, readonly Cell[]>) =>
  [...cells.values()].flat().map(({ geohash }) => geohash);

/** Markers of each of these cells, as far as needed: the known ones, or up to 100. */
async function sample(
  context: MapContext,
  collection: Collection,
  { markers, precision }: ClusteredCells,
  single: ReadonlySet<string>,
  budget: Budget,
): Promise<ReadonlyMap<string, readonly MapMarker[]>> {
  const length = Math.max(precision, FINEST_STORED);
  if (markers) return groupBy(markers, (marker) => cellOf(marker, length));
  const samples = Array.from(single, async (geohash) => {
    const accept = (marker: MapMarker) => cellOf(marker, length) === geohash;
    const query = { collection, cover: [cellRange(geohash)], budget, accept, wanted: SAMPLE };
    return [geohash, await readAll(context, query, 'expansionZoom', ADVICE)] as const;
  });
  return new Map(await Promise.all(samples));
}
