import TinyQueue from 'tinyqueue';

import type { Point } from '../geo/bounds.js';
import { greatestDistance, leastDistance } from '../geo/circle.js';
import { halves, type Halving } from '../geo/cover.js';
import { cellBounds, LONGEST_Z, toZ, type ZRange } from '../geo/geohash.js';
import type { PageHint, PartitionPages } from './directory.js';
import type { ChosenPage } from './plan-reads.js';

const BITS = 5 * LONGEST_Z;
const inMillimeters = (meters: number) => Math.floor(1_000 * meters);
/** The smallest of equally near cells first: all cells across the circle of `from`, or round a pole, are equally near. */
const nearer = (a: OpenCell, b: OpenCell) =>
  inMillimeters(a.distance) - inMillimeters(b.distance) || b.cell.depth - a.cell.depth;

/** A Z-order cell with the pages whose stretches overlap it. */
interface OpenCell {
  /** The minimum distance in meters from the center to its markers that are not nearer than `from`. */
  readonly distance: number;
  readonly partition: string;
  readonly pages: PartitionPages;
  readonly cell: Halving;
  readonly first: number;
  readonly last: number;
}

/** A page of a directory that may have markers to return. */
export interface PageAhead extends ChosenPage {
  /** The minimum distance in meters from the center to its markers that are not nearer than `from`. */
  readonly distance: number;
  readonly page: PageHint;
  /** The nearest cell of length 10 in the page's stretch, if that is a gap in the directory. */
  readonly gap: ZRange | undefined;
}

/**
 * Yields the pages of partitions by increasing minimum distance from a center (best first: Hjaltason and Samet 1999): the nearest
 * cell is halved until it overlaps only one page, or is a cell of length 10 in a gap of the directory. Pages whose markers are all
 * nearer than `from` meters are skipped.
 */
export class PagesOutward {
  readonly #center: Point;
  readonly #from: number;
  #cells = new TinyQueue<OpenCell>([], nearer);
  readonly #taken = new Set<string>();

  constructor(center: Point, from: number) {
    this.#center = center;
    this.#from = from;
  }

  /** Adds a partition, or replaces it by one of which more is known. */
  add(partition: string, pages: PartitionPages): void {
    const others = this.#cells.data.filter((cell) => cell.partition !== partition);
    this.#cells = new TinyQueue(others, nearer);
    this.#add(partition, pages, { ...cellBounds(partition), depth: 5, z: toZ(partition) });
  }

  /** The nearest page that has not been taken; undefined if none is left. */
  peek(): PageAhead | undefined {
    for (let next = this.#cells.peek(); next; next = this.#cells.peek()) {
      const { distance, partition, pages, cell, first, last } = next;
      const page = first === last ? pages.hints[first] : undefined;
      const ahead = page && { distance, partition, pages, index: first, page };
      if (ahead && !ahead.page.isGap && !this.#taken.has(ahead.page.begin)) return { ...ahead, gap: undefined };
      const isLeaf = cell.depth === BITS;
      if (ahead?.page.isGap && isLeaf) return { ...ahead, gap: { from: cell.z, to: cell.z + 1 } };
      this.#cells.pop();
      if (page && !page.isGap) continue;
      if (!isLeaf) for (const half of halves(cell)) this.#add(partition, pages, half);
      else for (let index = first; index <= last; index++) this.#cells.push({ ...next, first: index, last: index });
    }
    return undefined;
  }

  take({ page }: PageAhead): void {
    this.#taken.add(page.begin);
  }

  #add(partition: string, pages: PartitionPages, cell: Halving): void {
    if (this.#from > 0 && greatestDistance(this.#center, cell) < this.#from) return;
    const size = 2 ** (BITS - cell.depth);
    const { first, last } = pages.meeting({ from: cell.z * size, to: (cell.z + 1) * size });
    if (first > last) return;
    const distance = Math.max(this.#from, leastDistance(this.#center, cell));
    this.#cells.push({ distance, partition, pages, cell, first, last });
  }
}
