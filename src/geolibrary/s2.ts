import { S2Cell, S2CellId, S2LatLng } from 'nodes2ts';

import { type Area, type Bounds } from '../geo/bounds.js';
import { EARTH_RADIUS, distance } from '../geo/distance.js';
import type { Point } from '../geo/point.js';

/** Ids of S2 cells as the Geo Library stores them, signed: `from <= id < to`. */
export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** How a cell lies to a region. */
type Relation = 'outside' | 'across' | 'inside';

/** An area of the globe, as far as a cover needs to know it. `across` is always a right answer, only a costly one. */
export type Region = (cell: S2Cell) => Relation;

const BITS = 64;
const FACES = 6;
const FINEST = 30;
const DEGREES = 180 / Math.PI;
/**
 * Cells are taken for this much greater than they are: the library rounded a position to a cell by its own arithmetic, and
 * on the line between two faces the neighbour's ids are far away.
 */
const SPARE_DEGREES = 1e-6;
/** The same for distances, which are off by some metres between opposite points. */
const SPARE_METRES = 10;

/** The id of the leaf cell (about a centimetre) in which a position lies. */
export function idAt({ lng, lat }: Point): bigint {
  return BigInt.asIntN(BITS, S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lng).toPoint()).id);
}

/** The centre of a cell. */
export function centreOf(id: bigint): Point {
  const { lngDegrees: lng, latDegrees: lat } = new S2CellId(BigInt.asUintN(BITS, id)).toLatLng();
  return { lng, lat };
}

/** Whether an id is one of a leaf cell, as all are that the library stores. */
export function isLeafId(id: bigint): boolean {
  const unsigned = BigInt.asUintN(BITS, id);
  return BigInt.asIntN(BITS, id) === id && unsigned % 2n === 1n && unsigned >> 61n < BigInt(FACES);
}

/** The rectangle around a cell, with some room; its east may lie beyond 180. */
function boundsOf(cell: S2Cell): Bounds {
  const { lat, lng } = cell.getRectBound();
  const south = lat.lo * DEGREES - SPARE_DEGREES;
  const north = lat.hi * DEGREES + SPARE_DEGREES;
  const farthest = Math.max(Math.abs(south), Math.abs(north));
  if (lng.isFull() || farthest >= 90) return { west: -180, east: 180, south, north };
  const spare = SPARE_DEGREES / Math.cos(farthest / DEGREES);
  const west = lng.lo * DEGREES;
  const east = lng.hi * DEGREES + (lng.isInverted() ? 360 : 0);
  return { west: west - spare, east: east + spare, south, north };
}

/** The region of a rectangle of a map, all four edges included. */
export function areaRegion({ bounds }: Area): Region {
  const { west, south, north } = bounds;
  const east = bounds.east < west ? bounds.east + 360 : bounds.east;
  const around = east - west >= 360;
  return (cell) => {
    const of = boundsOf(cell);
    if (of.south > north || of.north < south) return 'outside';
    const turns = [-360, 0, 360];
    if (!around && !turns.some((turn) => of.west + turn <= east && of.east + turn >= west)) return 'outside';
    const within = around || turns.some((turn) => west <= of.west + turn && of.east + turn <= east);
    // Nothing lies beyond a pole: the room that was added there is not asked for.
    const high = of.north <= north || north === 90;
    const low = of.south >= south || south === -90;
    return within && high && low ? 'inside' : 'across';
  };
}

/** The region between two circles around a point, radii in metres; both circles belong to it. */
export function ringRegion(center: Point, inner: number, outer: number): Region {
  return (cell) => {
    const cap = cell.getCapBound();
    const { lngDegrees: lng, latDegrees: lat } = S2LatLng.fromPoint(cap.axis);
    const radius = cap.angle().radians * EARTH_RADIUS + SPARE_METRES;
    const away = distance(center, { lng, lat });
    if (away - radius > outer || away + radius < inner) return 'outside';
    return away + radius <= outer && away - radius >= inner ? 'inside' : 'across';
  };
}

/** The ids of a cell and all in it; one cell's end where the next one begins. */
function idsOf(id: S2CellId): IdRange {
  const half = id.lowestOnBit();
  const from = BigInt.asIntN(BITS, id.id - half);
  return { from, to: from + 2n * half };
}

/**
 * The ids of cells that cover a region, sorted, disjoint and not touching each other: at most `most` cells, the coarsest
 * that lie across its edge being cut first.
 */
export function coverRegion(region: Region, most: number): IdRange[] {
  const inside: S2CellId[] = [];
  const across: { readonly id: S2CellId; readonly level: number }[] = [];
  const take = (id: S2CellId, level: number): void => {
    const relation = region(new S2Cell(id));
    if (relation === 'inside') inside.push(id);
    else if (relation === 'across') across.push({ id, level });
  };
  for (let face = 0; face < FACES; face++) take(S2CellId.fromFacePosLevel(face, 0n, 0), 0);
  // They stand in the order of their levels, as each is cut into cells of the next one.
  let next = 0;
  for (; next < across.length && inside.length + across.length - next + 3 <= most; next++) {
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

/** Ranges in their order, those that touch or overlap as one. */
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
