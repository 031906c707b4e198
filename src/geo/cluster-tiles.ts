import type { Bounds } from './bounds.js';
import { windowsOf, type Spacing } from './cluster-windows.js';
import { latToY, lngToX, xToLng, yToLat } from './mercator.js';

const TURN = 360;
/** Windows in the width of a tile. */
const WINDOWS = 2;
/** A tile's bounds are rounded, and extend by this many degrees, so that they contain all that is in the tile. */
const ROUNDING = 1e-9;

/** Columns and rows of tiles, both included; columns continue eastwards across the antimeridian. */
export interface TileSpan {
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
}

/** A division of the Mercator world into tiles of whole windows, for clusters of one spacing. */
export class ClusterTiles {
  readonly #zoom: number;
  /** Width and height of a tile in px; those at the eastern and southern edge may be smaller. */
  readonly #side: number;
  /** Number of tiles around the world, and from north to south. */
  readonly #count: number;

  constructor(spacing: Spacing) {
    const { count, side } = windowsOf(spacing);
    this.#zoom = spacing.zoom;
    this.#side = WINDOWS * side;
    this.#count = Math.ceil(count / WINDOWS);
  }

  #columnOf(lng: number): number {
    // The antimeridian belongs to the first column.
    if (lng >= 180) return this.#count + this.#columnOf(lng - TURN);
    return Math.floor(lngToX(lng, this.#zoom) / this.#side);
  }

  #rowOf(lat: number): number {
    return Math.min(this.#count - 1, Math.floor(latToY(lat, this.#zoom) / this.#side));
  }

  /** The tiles that have a position in a bounding box. */
  spanOf({ west, south, east, north }: Bounds): TileSpan {
    const first = this.#columnOf(west);
    const last = this.#columnOf(east < west ? east + TURN : east);
    return {
      west: first,
      east: Math.min(last, first + this.#count - 1),
      north: this.#rowOf(north),
      south: this.#rowOf(south),
    };
  }

  /** The bounds of a span, as `normalizeBounds` takes them. */
  boundsOf({ west, south, east, north }: TileSpan): Bounds {
    const edge = (column: number) =>
      xToLng((column % this.#count) * this.#side, this.#zoom) + TURN * Math.floor(column / this.#count);
    return {
      west: edge(west) - ROUNDING,
      east: edge(east + 1) + ROUNDING,
      north: north === 0 ? 90 : yToLat(north * this.#side, this.#zoom) + ROUNDING,
      south: south === this.#count - 1 ? -90 : yToLat((south + 1) * this.#side, this.#zoom) - ROUNDING,
    };
  }

  /** Identifies a tile, the same for all turns around the globe. */
  nameOf({ west, north }: TileSpan): string {
    return `${west % this.#count} ${north}`;
  }
}

/** The tiles of a span, from north to south. */
export function tilesOf({ west, south, east, north }: TileSpan): TileSpan[] {
  const tiles: TileSpan[] = [];
  for (let row = north; row <= south; row++) {
    for (let column = west; column <= east; column++)
      tiles.push({ west: column, east: column, north: row, south: row });
  }
  return tiles;
}

/** The smallest span that has two others. */
export const around = (a: TileSpan, b: TileSpan): TileSpan => ({
  west: Math.min(a.west, b.west),
  east: Math.max(a.east, b.east),
  north: Math.min(a.north, b.north),
  south: Math.max(a.south, b.south),
});

export const sizeOfSpan = ({ west, south, east, north }: TileSpan): number => (east - west + 1) * (south - north + 1);
