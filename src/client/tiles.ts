/** A bounding box in degrees as map libraries report it: longitudes may exceed 180 or -180. */
export interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** In degrees. */
export interface Position {
  readonly lng: number;
  readonly lat: number;
}

/**
 * A rectangle of tiles of one level. At level n the world is 2^n tiles wide and high, in degrees, so that tile edges
 * are also edges of geohash cells; a tile is 512 px wide at zoom n. Columns count from -180 and may exceed the last
 * one; rows count from -90.
 */
export interface TileRect {
  readonly level: number;
  readonly column: number;
  readonly row: number;
  readonly columns: number;
  readonly rows: number;
}

/** At the next level, a column's edge would no longer be exact in a double. */
const FINEST = 30;

/** The tile level for a zoom; also the zoom that is requested. */
export const levelAt = (zoom: number): number => Math.max(0, Math.min(FINEST, Math.floor(zoom)));

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** The tiles of a level that intersect the bounds plus a margin of `padding` px at this zoom. */
export function tilesOver(
  { west, south, east, north }: Bounds,
  zoom: number,
  padding: number,
  level: number,
): TileRect {
  const count = 2 ** level;
  const byLng = (padding * 360) / (512 * 2 ** zoom);
  // A degree of latitude is 1 / cos(lat) times as many px as one of longitude; clamped at 85 degrees near the poles.
  const byLat = byLng * Math.cos((clamp((south + north) / 2, -85, 85) * Math.PI) / 180);
  const column = Math.floor(((west - byLng + 180) / 360) * count);
  const lastColumn = Math.floor(((east + byLng + 180) / 360) * count);
  const row = clamp(Math.floor(((south - byLat + 90) / 180) * count), 0, count - 1);
  const lastRow = clamp(Math.floor(((north + byLat + 90) / 180) * count), 0, count - 1);
  const columns = lastColumn - column + 1;
  return columns >= count
    ? { level, column: 0, row, columns: count, rows: lastRow - row + 1 }
    : { level, column: ((column % count) + count) % count, row, columns, rows: lastRow - row + 1 };
}

/** Level, column and row of a tile. */
export type TileKey = string;

/** The tiles of a rectangle, row by row. */
export function tileKeys({ level, column, row, columns, rows }: TileRect): TileKey[] {
  return Array.from({ length: columns * rows }, (_, index) => {
    const x = (column + (index % columns)) % 2 ** level;
    return `${level}/${x}/${row + Math.floor(index / columns)}`;
  });
}

/** The next double above or below a value. */
function step(value: number, up: boolean): number {
  const view = new DataView(new ArrayBuffer(8));
  if (value === 0) {
    view.setBigInt64(0, 1n);
    return up ? view.getFloat64(0) : -view.getFloat64(0);
  }
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 === up ? 1n : -1n));
  return view.getFloat64(0);
}

/**
 * The bounds that contain exactly the markers of the tiles. A marker on the line between two tiles belongs to the western
 * or southern one, as with geohash cells, so the western and southern edges are one double inside.
 */
export function tileBounds({ level, column, row, columns, rows }: TileRect): Bounds {
  const count = 2 ** level;
  const lng = (x: number) => (x * 360) / count - 180;
  const lat = (y: number) => (y * 180) / count - 90;
  const whole = columns === count;
  const last = column + columns;
  return {
    west: column === 0 ? -180 : step(lng(column), true),
    south: row === 0 ? -90 : step(lat(row), true),
    // The antimeridian belongs to the tiles east of it, unless the rectangle spans the globe.
    east: last === count && !whole ? step(180, false) : lng(last),
    north: lat(row + rows),
  };
}

/** Whether a position, -180..180, is inside bounds returned by `tileBounds`. */
export function holds({ west, south, east, north }: Bounds, { lng, lat }: Position): boolean {
  if (lat < south || lat > north) return false;
  // The antimeridian counts as -180; bounds may exceed 180.
  const meridian = lng === 180 ? -180 : lng;
  return (west <= meridian && meridian <= east) || meridian <= east - 360;
}

/** The bounds of some tiles plus half a tile around them. */
export function surroundings({ level, column, row, columns, rows }: TileRect): Bounds {
  const count = 2 ** (level + 1);
  const [from, to] = [Math.max(0, 2 * row - 1), Math.min(count, 2 * (row + rows) + 1)];
  const wide = { level: level + 1, row: from, rows: to - from };
  return 2 * columns + 2 >= count
    ? tileBounds({ ...wide, column: 0, columns: count })
    : tileBounds({ ...wide, column: (2 * column - 1 + count) % count, columns: 2 * columns + 2 });
}

/** Joins the wanted tiles of a rectangle into few rectangles: first neighbors in a row, then equal rows. */
export function joinTiles(rect: TileRect, isWanted: (key: TileKey) => boolean): TileRect[] {
  const { level, column, row, columns, rows } = rect;
  const wanted = tileKeys(rect).map(isWanted);
  const done: TileRect[] = [];
  let open = new Map<string, TileRect>();
  for (let y = 0; y < rows; y++) {
    const runs = new Map<string, TileRect>();
    for (let x = 0; x < columns; x++) {
      const from = x;
      while (x < columns && wanted[y * columns + x] === true) x++;
      if (x === from) continue;
      const run = { level, column: (column + from) % 2 ** level, row: row + y, columns: x - from, rows: 1 };
      const name = `${run.column}/${run.columns}`;
      const above = open.get(name);
      runs.set(name, above ? { ...above, rows: above.rows + 1 } : run);
    }
    for (const [name, rectangle] of open) if (!runs.has(name)) done.push(rectangle);
    open = runs;
  }
  return [...done, ...open.values()];
}
