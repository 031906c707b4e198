import { LONGEST_Z, toZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { BlockPlan } from './blocks.js';
import type { MarkersBefore } from './join.js';

/** How many markers are where. Only for use while counts are known to be close behind the markers. */
export interface KnownCounts {
  /** Geohash length of the coarsest cells. */
  readonly precision: number;
  /** How many markers are in which cell (disjoint); a cell of the area that is missing here is empty. Others may be there too. */
  readonly cells: ReadonlyMap<string, number>;
  /** The blocks that the cells were read from: what is missing here is empty there too, beside the area as well. */
  readonly blocks?: BlockPlan | undefined;
}

/** How markers are assumed to be spread along Z-order at length 10. */
export interface Density {
  /** Where in the area there may be markers, in Z-order. */
  readonly pieces: readonly ZRange[];
  readonly before: MarkersBefore;
}

/** The positions in Z-order at length 10 that a cell stands for; those of the cell of length 10 around a smaller one. */
export function cellRange(geohash: string): ZRange {
  const hash = geohash.slice(0, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - hash.length);
  return { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
}

/** A stretch of Z-order with so many markers. */
export interface Step extends ZRange {
  readonly rise: number;
}

/** How many markers are before a position if they are even within each of these steps, which are sorted and disjoint. */
export function climb(steps: readonly Step[]): MarkersBefore {
  const heights: number[] = [0];
  for (const { rise } of steps) heights.push((heights.at(-1) ?? 0) + rise);
  return (z) => {
    const index = firstReaching(steps, z);
    const height = heights[index] ?? 0;
    const step = steps[index];
    return step && step.from < z ? height + (step.rise * (z - step.from)) / (step.to - step.from) : height;
  };
}

/** The index of the first of these ranges that ends after a position; their number if none does. */
function firstReaching(ranges: readonly ZRange[], z: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? Infinity) > z) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** So many markers are assumed, evenly spread, where nothing is known: few enough for about 4 ranges a viewport. */
const ASSUMED = 50;

/** The density where nothing is known: the same everywhere. */
export function evenDensity(cover: readonly ZRange[]): Density {
  const covered = cover.reduce((sum, { from, to }) => sum + to - from, 0);
  return { pieces: cover, before: (z) => (z / covered) * ASSUMED };
}

/** The occupied cells of some counts, and how many markers are before a position. */
interface Counted {
  readonly occupied: readonly Step[];
  readonly before: MarkersBefore;
}

/** Requests that read the same cached cells share one map of counts. */
const countedBy = new WeakMap<KnownCounts['cells'], Counted>();

function countedOf({ cells }: KnownCounts): Counted {
  const known = countedBy.get(cells);
  if (known) return known;
  const occupied = Array.from(cells, ([geohash, rise]) => ({ ...cellRange(geohash), rise }))
    .filter(({ rise }) => rise > 0)
    .sort((a, b) => a.from - b.from);
  const counted = { occupied, before: climb(occupied) };
  countedBy.set(cells, counted);
  return counted;
}

/**
 * The density that cell counts show: even within a cell, nothing where no cell is. Where nothing is known, beside the
 * blocks that the counts were read from, it is that of these blocks on average (by trial as good as that of the cover).
 */
export function knownDensity(cover: readonly ZRange[], counts: KnownCounts): Density {
  const { occupied, before: counted } = countedOf(counts);
  const { blocks } = counts;

  const pieces: ZRange[] = [];
  for (const { from, to } of cover) {
    for (let index = firstReaching(occupied, from); ; index++) {
      const cell = occupied[index];
      if (!cell || cell.from >= to) break;
      pieces.push({ from: Math.max(from, cell.from), to: Math.min(to, cell.to) });
    }
  }

  const size = blocks ? 32 ** (LONGEST_Z - blocks.length) : 1;
  const stretches = (blocks?.ranges ?? cover).map((range) => ({ from: range.from * size, to: range.to * size }));
  const known = climb(stretches.map(({ from, to }) => ({ from, to, rise: to - from })));
  const average = stretches.reduce((sum, { from, to }) => sum + counted(to) - counted(from), 0) / known(Infinity);
  return { pieces, before: (z) => counted(z) + (z - known(z)) * average };
}
