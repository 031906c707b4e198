import { canonicalLng, normalizeBounds, type Area, type Bounds, type Point } from './bounds.js';
import { latToY, MERCATOR_LAT, worldSize, yToLat, type Pixel } from './mercator.js';

/** A tile of the Web Mercator square: of level z, x from the west and y from the north, each 0 to 2^z - 1. */
export interface Tile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** The finest level. */
export const MOST_LEVEL = 22;

/** Whole units in the width of a tile, which is 512 px. */
export const TILE_UNITS = 4_096;
/** What is drawn beside a tile as well, in units: 32 px, so that symbols on its edge are whole. */
export const TILE_BUFFER = 256;

/** A position in units of a level, from the northwestern corner of the world, or of a tile. */
export type TilePoint = Pixel;

/** Whether Web Mercator has a position: it ends at 85.0511 degrees. */
export const isInMercator = ({ lat }: Point): boolean => Math.abs(lat) <= MERCATOR_LAT;

const unitsOf = (z: number) => TILE_UNITS * 2 ** z;

/** The unit of a level that contains a position. Rounded down, so that exactly one tile has it, without its buffer. */
export function unitAt({ lng, lat }: Point, z: number): TilePoint {
  const units = unitsOf(z);
  const unit = (share: number) => Math.min(units - 1, Math.floor(share * units));
  return { x: unit((canonicalLng(lng) + 180) / 360), y: unit(latToY(lat, 0) / worldSize(0)) };
}

/** The tile of a level that a unit is in. */
export const tileAt = ({ x, y }: TilePoint, z: number): Tile => ({
  z,
  x: Math.floor(x / TILE_UNITS),
  y: Math.floor(y / TILE_UNITS),
});

/** Where a tile with its buffer shows a unit of its level: on both sides of the tile of level 0, which is its own neighbor. */
export function placesIn({ z, x, y }: Tile, unit: TilePoint): TilePoint[] {
  const isShown = (at: number) => at >= -TILE_BUFFER && at < TILE_UNITS + TILE_BUFFER;
  const down = unit.y - y * TILE_UNITS;
  if (!isShown(down)) return [];
  const right = unit.x - x * TILE_UNITS;
  return [right - unitsOf(z), right, right + unitsOf(z)].filter(isShown).map((each) => ({ x: each, y: down }));
}

/** The tiles of a level that a box overlaps, as texts: its eastern edge is not counted. It does not cross the antimeridian. */
export function tilesUnder({ west, south, east, north }: Bounds, z: number): string[] {
  const from = unitAt({ lng: west, lat: north }, z);
  const edge = east >= 180 ? unitsOf(z) : unitAt({ lng: east, lat: north }, z).x;
  const last = tileAt({ x: Math.max(from.x, edge - 1), y: unitAt({ lng: west, lat: south }, z).y }, z);
  const first = tileAt(from, z);
  const tiles: string[] = [];
  for (let x = first.x; x <= last.x; x++) for (let y = first.y; y <= last.y; y++) tiles.push(nameOf({ z, x, y }));
  return tiles;
}

export const nameOf = ({ x, y }: Tile): string => `${x}/${y}`;

/** Rounding of positions to units, in degrees. */
const ROUNDING = 1e-9;

/** The area of a tile and so many units around it. */
export function areaAround({ z, x, y }: Tile, around: number): Area {
  const [count, margin] = [2 ** z, around / TILE_UNITS];
  const lng = (column: number) => (column / count) * 360 - 180;
  const lat = (row: number) => yToLat((Math.max(0, Math.min(count, row)) / count) * worldSize(0), 0);
  return normalizeBounds('tile', {
    west: lng(x - margin) - ROUNDING,
    east: lng(x + 1 + margin) + ROUNDING,
    south: lat(y + 1 + margin) - ROUNDING,
    north: lat(y - margin) + ROUNDING,
  });
}
