import { S2Cell, S2CellId, S2LatLng } from 'nodes2ts';

import { type Area, type Bounds } from '../geo/bounds.js';
import { distance, EARTH_RADIUS } from '../geo/distance.js';
import type { Point } from '../geo/point.js';

/** IDs of S2 cells as the Geo Library stores them, signed: `from <= id < to`. */
export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** How a cell relates to a region. `across` is always correct, but costs more reads. */
type Relation = 'outside' | 'across' | 'inside';

/** An area of the globe to cover with cells, given by how cells relate to it. */
export type S2Region = (cell: S2Cell) => Relation;

const BITS = 64;
const FACES = 6;
const FINEST = 30;
const DEGREES = 180 / Math.PI;
/**
 * Cells are enlarged by this margin: the library rounds positions to cells with its own arithmetic, and across the edge
 * of a face the neighbor's IDs are far away.
 */
const MARGIN_DEGREES = 1e-6;
/** The same for distances, whose error is a few meters between antipodes. */
const MARGIN_METERS = 10;

/** The ID of the leaf cell (about a centimeter) that contains a position. */
export function idAt({ lng, lat }: Point): bigint {
  return BigInt.asIntN(BITS, S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lng).toPoint()).id);
}

/** The center of a cell. */
export function centerOf(id: bigint): Point {
  const { lngDegrees: lng, latDegrees: lat } = new S2CellId(BigInt.asUintN(BITS, id)).toLatLng();
  return { lng, lat };
}

/** Whether an ID is that of a leaf cell, as all IDs stored by the library are. */
export function isLeafId(id: bigint): boolean {
  const unsigned = BigInt.asUintN(BITS, id);
  return BigInt.asIntN(BITS, id) === id && unsigned % 2n === 1n && unsigned >> 61n < BigInt(FACES);
}

/** The bounding box of a cell with the margin; its east may exceed 180. */
function boundsOf(cell: S2Cell): Bounds {
  const { lat, lng } = cell.getRectBound();
  const south = lat.lo * DEGREES - MARGIN_DEGREES;
  const north = lat.hi * DEGREES + MARGIN_DEGREES;
  const farthest = Math.max(Math.abs(south), Math.abs(north));
  if (lng.isFull() || farthest >= 90) return { west: -180, east: 180, south, north };
  const margin = MARGIN_DEGREES / Math.cos(farthest / DEGREES);
  const west = lng.lo * DEGREES;
  const east = lng.hi * DEGREES + (lng.isInverted() ? 360 : 0);
  return { west: west - margin, east: east + margin, south, north };
}

/** The region of a bounding box, all four edges included. */
export function areaRegion({ bounds }: Area): S2Region {
  const { west, south, north } = bounds;
  const east = bounds.east < west ? bounds.east + 360 : bounds.east;
  const around = east - west >= 360;
  return (cell) => {
    const box = boundsOf(cell);
    if (box.south > north || box.north < south) return 'outside';
    const turns = [-360, 0, 360];
    if (!around && !turns.some((turn) => box.west + turn <= east && box.east + turn >= west)) return 'outside';
    const within = around || turns.some((turn) => west <= box.west + turn && box.east + turn <= east);
    // Nothing lies beyond a pole, so the margin there does not count.
    const high = box.north <= north || north === 90;
    const low = box.south >= south || south === -90;
    return within && high && low ? 'inside' : 'across';
  };
}

/** The region between two circles around a point, radii in meters, both circles included. */
export function ringRegion(center: Point, inner: number, outer: number): S2Region {
  return (cell) => {
    const cap = cell.getCapBound();
    const { lngDegrees: lng, latDegrees: lat } = S2LatLng.fromPoint(cap.axis);
    const radius = cap.angle().radians * EARTH_RADIUS + MARGIN_METERS;
    const away = distance(center, { lng, lat });
    if (away - radius > outer || away + radius < inner) return 'outside';
    return away + radius <= outer && away - radius >= inner ? 'inside' : 'across';
  };
}

/** The IDs of a cell and all cells inside it; adjacent cells have adjacent ranges. */
function idsOf(id: S2CellId): IdRange {
  const half = id.lowestOnBit();
  const from = BigInt.asIntN(BITS, id.id - half);
  return { from, to: from + 2n * half };
}

/**
 * The IDs of at most `maxCells` cells that cover a region, sorted, disjoint and not adjacent. The largest cells across its
 * edge are split first.
 */
export function coverRegion(region: S2Region, maxCells: number): IdRange[] {
  const inside: S2CellId[] = [];
  const across: { readonly id: S2CellId; readonly level: number }[] = [];
  const take = (id: S2CellId, level: number): void => {
    const relation = region(new S2Cell(id));
    if (relation === 'inside') inside.push(id);
    else if (relation === 'across') across.push({ id, level });
  };
  for (let face = 0; face < FACES; face++) take(S2CellId.fromFacePosLevel(face, 0n, 0), 0);
  // In the order of levels, as each cell is split into cells of the next level.
  let next = 0;
  for (; next < across.length && inside.length + across.length - next + 3 <= maxCells; next++) {
    const cell = across[next];
    if (!cell || cell.level === FINEST) break;
    const quarter = cell.id.lowestOnBit() >> 2n;
    const first = cell.id.id - 3n * quarter;
    for (let child = 0n; child < 4n; child++) take(new S2CellId(first + 2n * quarter * child), cell.level + 1);
  }
  const ranges = [...inside, ...across.slice(next).map(({ id }) => id)].map(idsOf);
  return united(ranges);
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** The ranges sorted, with adjacent and overlapping ones merged. */
export function united(ranges: readonly IdRange[]): IdRange[] {
  const whole: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => ascending(a.from, b.from))) {
    const last = whole.at(-1);
    if (last && from <= last.to) {
      if (to > last.to) last.to = to;
    } else whole.push({ from, to });
  }
  return whole;
}
