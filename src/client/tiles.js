/** One more bit than this, and a column's edge would no longer be exact in a double. */
const FINEST = 30;
/** The level of the tiles, and of what is asked for, at a zoom. */
export const levelAt = (zoom) => Math.max(0, Math.min(FINEST, Math.floor(zoom)));
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
/** The tiles of a level that bounds touch, widened by `padding` px at this zoom. */
export function tilesOver({ west, south, east, north }, zoom, padding, level) {
    const count = 2 ** level;
    const byLng = (padding * 360) / (512 * 2 ** zoom);
    // A degree of latitude is as many px as so many degrees of longitude; at the poles, where it is endless, any will do.
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
/** The names of the tiles of a rectangle, row by row. */
export function tileKeys({ level, column, row, columns, rows }) {
    return Array.from({ length: columns * rows }, (_, at) => {
        const x = (column + (at % columns)) % 2 ** level;
        return `${level}/${x}/${row + Math.floor(at / columns)}`;
    });
}
/** The least number above, and below: one step of a double. */
function step(value, up) {
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
 * The bounds that hold exactly what belongs to the tiles. What stands on the line between two tiles belongs to the western
 * or southern one, as with geohash cells, so western and southern edges are a step of a double inside.
 */
export function tileBounds({ level, column, row, columns, rows }) {
    const count = 2 ** level;
    const lng = (x) => (x * 360) / count - 180;
    const lat = (y) => (y * 180) / count - 90;
    const whole = columns === count;
    const last = column + columns;
    return {
        west: column === 0 ? -180 : step(lng(column), true),
        south: row === 0 ? -90 : step(lat(row), true),
        // The antimeridian belongs to the tiles east of it; only the whole way around has no others.
        east: last === count && !whole ? step(180, false) : lng(last),
        north: lat(row + rows),
    };
}
/** Whether a position on the globe, -180..180, is one of those within bounds of `tileBounds`. */
export function holds({ west, south, east, north }, { lng, lat }) {
    if (lat < south || lat > north)
        return false;
    // The antimeridian is at -180; bounds may run on beyond 180.
    const meridian = lng === 180 ? -180 : lng;
    return (west <= meridian && meridian <= east) || meridian <= east - 360;
}
/** The tiles of a rectangle that are wanted, joined to few rectangles: neighbours in a row first, then equal rows. */
export function joinTiles(rect, isWanted) {
    const { level, column, row, columns, rows } = rect;
    const wanted = tileKeys(rect).map(isWanted);
    const done = [];
    let open = new Map();
    for (let y = 0; y < rows; y++) {
        const runs = new Map();
        for (let x = 0; x < columns; x++) {
            const from = x;
            while (x < columns && wanted[y * columns + x] === true)
                x++;
            if (x === from)
                continue;
            const run = { level, column: (column + from) % 2 ** level, row: row + y, columns: x - from, rows: 1 };
            const name = `${run.column}/${run.columns}`;
            const above = open.get(name);
            runs.set(name, above ? { ...above, rows: above.rows + 1 } : run);
        }
        for (const [name, rectangle] of open)
            if (!runs.has(name))
                done.push(rectangle);
        open = runs;
    }
    return [...done, ...open.values()];
}
