import type { Distribution } from '../../src/capacity/distribution.js';
import type { PageSizes } from '../../src/capacity/page-model.js';
import {
  BLOCK_BYTES,
  costOfCells,
  costOnIndex,
  costOnPages,
  MOST_MARKERS,
  PORTION,
  viewAround,
  ZOOMS,
  type ReadCost,
  type View,
} from '../../src/capacity/views.js';
import { LONGEST_Z } from '../../src/geo/geohash.js';
import { groupBy } from '../../src/loaders/group.js';
import { LONGEST_BLOCK } from '../../src/model/cell.js';
import { unitsOf } from '../../src/model/read-cost.js';
import { planBlocks } from '../../src/plan/blocks.js';
import { precisionForZoom } from '../../src/plan/precision.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import { PART_BYTES, partIn, type Cells, type DerivedLine, type Partitioning } from './lines.js';
import type { Visited } from './world.js';

/**
 * Read units that the maps of a place take from a stretch of a line without caches, and the number of its objects that
 * they request.
 */
export interface Read {
  readonly at: number;
  readonly units: number;
  readonly things: number;
}

/** A map of a place, with the share of all maps that are like it. */
export interface PlannedMap {
  readonly lng: number;
  readonly share: number;
  readonly calls: number;
  readonly blocks: readonly Read[];
  readonly pages: readonly Read[];
  /** Parts of the directory that the pages are found by. */
  readonly directories: readonly Read[];
  /** The same markers from the geo index, by area; undefined for maps that draw cells. */
  readonly index:
    { readonly cost: ReadCost; readonly areas: readonly (readonly [area: number, part: number])[] } | undefined;
}

/** The areas of a map's markers, with the share in each. */
function areasOf(distribution: Distribution, areas: Cells, { cover, inside }: View): [area: number, part: number][] {
  const parts = new Map<number, number>();
  for (const range of cover) {
    const [first, last] = areas.meeting(range);
    for (let index = first; index < last; index++) {
      const area = areas.all[index];
      const markers = area ? distribution.within(partIn(range, area)) : 0;
      if (markers > 0) parts.set(index, (parts.get(index) ?? 0) + markers / Math.max(inside, 1e-9));
    }
  }
  // An empty map reads the page that would have its markers.
  if (parts.size === 0) parts.set(Math.min(areas.all.length - 1, areas.meeting(cover[0] ?? { from: 0, to: 1 })[0]), 1);
  return [...parts];
}

/** The blocks from which a map's cells are read, each with its share of the Query that reads it. */
function blocksOf({ blocks, blocksAt }: DerivedLine, { area, zoom }: View): Read[] {
  const { length, ranges } = planBlocks(area, precisionForZoom(zoom));
  const cells = blocks[length];
  const size = 32 ** (LONGEST_Z - length);
  return ranges.flatMap(({ from, to }) => {
    const [first, last] = cells?.meeting({ from: from * size, to: to * size }) ?? [0, 0];
    const units = unitsOf((last - first) * BLOCK_BYTES) / Math.max(1, last - first);
    return Array.from({ length: last - first }, (_, n) => ({
      at: (blocksAt[length] ?? 0) + first + n,
      units,
      things: 1,
    }));
  });
}

/** The parts of the directory that name so many pages in these areas: whole ones, of which a Query reads one or more. */
function partsOf(
  { areas, directoryAt, partsOf: stored }: DerivedLine,
  inAreas: readonly (readonly [area: number, part: number])[],
  pages: number,
): Read[] {
  const needed = inAreas.map(([area, part]) => {
    return { area, parts: Math.min(1, stored[area] ?? 0) + (pages * part) / MOST_HINTS };
  });
  const partitionOf = ({ area }: { readonly area: number }) => areas.geohash(area).charAt(0);
  return [...groupBy(needed, partitionOf).values()].flatMap((some) => {
    const sum = some.reduce((total, { parts }) => total + parts, 0);
    return some.map(({ area, parts }): Read => {
      const things = (parts / sum) * Math.max(1, sum);
      return { at: directoryAt + area, units: things * unitsOf(PART_BYTES), things };
    });
  });
}

/** Plans all maps by the planners that the server runs: cells where more than 2,000 markers are inside, else markers. */
export function* planMaps(
  distribution: Distribution,
  derived: DerivedLine,
  page: PageSizes,
  layout: Partitioning,
  visited: readonly Visited[],
): Generator<PlannedMap> {
  for (const { lng, lat, share } of visited) {
    for (const zoom of ZOOMS) {
      const view = viewAround(distribution, { lng, lat }, zoom);
      const cells = view.inside > MOST_MARKERS ? costOfCells(distribution, view) : null;
      const map = { lng, share: share / ZOOMS.length };
      if (cells) {
        const blocks = precisionForZoom(zoom) - 1 <= LONGEST_BLOCK ? blocksOf(derived, view) : [];
        yield { ...map, calls: cells.calls, blocks, pages: [], directories: [], index: undefined };
        continue;
      }
      const areas = areasOf(distribution, derived.areas, view);
      const cost = costOnPages(distribution, view, page);
      const things = 1 + Math.min(view.inside, PORTION) / page.markers;
      yield {
        ...map,
        calls: cost.calls,
        blocks: [],
        pages: areas.map(([at, part]) => ({ at, units: cost.units * part, things: things * part })),
        directories: partsOf(derived, areas, things),
        index: { cost: costOnIndex(distribution, view, layout), areas },
      };
    }
  }
}
