import type { Point } from '../../geo/bounds.js';
import { isInMercator, tileAt, unitAt } from '../../geo/tiles.js';

const FINEST = 14;
const MOST_TILES = 500;

/** Where a marker was and is; null where it was or is not. */
export interface ChangedPositions {
  readonly previous: Point | null;
  readonly marker: { readonly position: Point } | null;
}

/** The tiles in which markers have changed: at level 14, or at the finest one at which they are not too many. */
export class ChangedTiles {
  #level = FINEST;
  #tiles = new Map<string, readonly [x: number, y: number]>();

  add({ previous, marker }: ChangedPositions): void {
    for (const point of [previous, marker?.position]) {
      if (!point || !isInMercator(point)) continue;
      const { x, y } = tileAt(unitAt(point, this.#level), this.#level);
      this.#tiles.set(`${x}/${y}`, [x, y]);
    }
    while (this.#tiles.size > MOST_TILES) {
      this.#level -= 1;
      const parents = [...this.#tiles.values()].map(([x, y]) => [x >> 1, y >> 1] as const);
      this.#tiles = new Map(parents.map(([x, y]) => [`${x}/${y}`, [x, y]]));
    }
  }

  toJSON() {
    return { z: this.#level, tiles: [...this.#tiles.values()] };
  }
}
