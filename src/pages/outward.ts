import TinyQueue from 'tinyqueue';

import { greatestDistance, leastDistance } from '../geo/circle.js';
import { type Halving, halves } from '../geo/cover.js';
import { LONGEST_Z, cellBounds, toZ } from '../geo/geohash.js';
import type { Point } from '../geo/point.js';
import type { PartitionPages } from './directory.js';

const BITS = 5 * LONGEST_Z;

/** A Z-order cell with the pages whose stretches overlap it, and its minimum distance from the center in metres. */
interface OpenCell {
  readonly distance: number;
  readonly partition: string;
  readonly pages: PartitionPages;
  readonly cell: Halving;
  readonly first: number;
  readonly last: number;
}

/** A page of a directory, by its index there, and the minimum distance in metres from the center to its stretch. */
export type PageAhead = Pick<OpenCell, 'distance' | 'partition' | 'first'>;

/**
 * Yields the pages of partitions by increasing minimum distance from a center (best first: Hjaltason and Samet 1999):
 * the nearest cell is halved until it overlaps only one page. Pages whose markers are all nearer than `from` metres are
 * skipped.
 */
export class PagesOutward {
  readonly #center: Point;
  readonly #from: number;
  readonly #cells = new TinyQueue<OpenCell>([], (a, b) => a.distance - b.distance);
  readonly #taken = new Set<string>();

  constructor(center: Point, from: number) {
    this.#center = center;
    this.#from = from;
  }

  add(partition: string, pages: PartitionPages): void {
    this.#add(partition, pages, { ...cellBounds(partition), depth: 5, z: toZ(partition) });
  }

  /** The nearest page that has not been taken; undefined if none is left. */
  peek(): PageAhead | undefined {
    for (let next = this.#cells.peek(); next; next = this.#cells.peek()) {
      const { partition, pages, cell, first, last } = next;
      if (first === last && !this.#taken.has(partition + String(first))) return next;
      this.#cells.pop();
      if (first === last) continue;
      if (cell.depth < BITS) for (const half of halves(cell)) this.#add(partition, pages, half);
      else for (let page = first; page <= last; page++) this.#cells.push({ ...next, first: page, last: page });
    }
    return undefined;
  }

  take({ partition, first }: PageAhead): void {
    this.#taken.add(partition + String(first));
  }

  #add(partition: string, pages: PartitionPages, cell: Halving): void {
    if (this.#from > 0 && greatestDistance(this.#center, cell) < this.#from) return;
    const size = 2 ** (BITS - cell.depth);
    const { first, last } = pages.meeting({ from: cell.z * size, to: (cell.z + 1) * size });
    if (first > last) return;
    this.#cells.push({ distance: leastDistance(this.#center, cell), partition, pages, cell, first, last });
  }
}
