import { areaOverlapsCell, type Area } from './bounds.js';
import type { Cell } from './cell-sums.js';
import type { Cluster } from './clusters.js';
import { cellBounds } from './geohash.js';
import { figuresOf, sumsAt } from './packed-sums.js';

/** A cluster with its cells packed, in a fourth of their memory: an answer seldom needs them. */
export class PackedCluster implements Cluster {
  readonly position: Cluster['position'];
  readonly bounds: Cluster['bounds'];
  readonly count: number;
  /** Number of its cells. */
  readonly size: number;
  /** The geohashes of its cells, all of one length. */
  readonly #geohashes: string;
  readonly #length: number;
  readonly #figures: readonly number[];

  constructor({ position, bounds, count, cells }: Cluster) {
    this.position = position;
    this.bounds = bounds;
    this.count = count;
    this.#length = cells[0]?.geohash.length ?? 0;
    this.#geohashes = cells.map(({ geohash }) => geohash).join('');
    this.#figures = figuresOf(cells);
    this.size = cells.length;
  }

  #geohashAt(index: number): string {
    return this.#geohashes.slice(index * this.#length, (index + 1) * this.#length);
  }

  get first(): string {
    return this.#geohashAt(0);
  }

  get cells(): readonly Cell[] {
    return Array.from({ length: this.size }, (_, index) => {
      return { geohash: this.#geohashAt(index), ...sumsAt(this.#figures, index) };
    });
  }

  /** Whether one of its cells overlaps an area. */
  overlaps(area: Area): boolean {
    for (let index = 0; index < this.size; index++) {
      if (areaOverlapsCell(area, cellBounds(this.#geohashAt(index)))) return true;
    }
    return false;
  }
}
