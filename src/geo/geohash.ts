import ngeohash from 'ngeohash';

import { badInput } from '../errors.js';
import { canonicalLng, type Area, type Bounds, type Point } from './bounds.js';

/** The 32 characters of a geohash, in the order of their values and of their bytes. */
export const GEOHASH_ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz';

/** The longest geohash that clients may send. */
export const LONGEST_GEOHASH = 12;

/**
 * The length of a marker's geohash, about a meter: the maximum for which the position in Z-order, at 5 bits per
 * character, is a safe integer.
 */
export const LONGEST_Z = 10;

const GEOHASH = /^[0-9b-hjkmnp-zB-HJKMNP-Z]{1,12}$/;

/** Values by character code: plans read thousands of geohashes. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => GEOHASH_ALPHABET.indexOf(String.fromCharCode(code)));

/** Number of bits of a geohash of this length that halve longitudes, starting with the first bit. */
export const lngBits = (length: number): number => Math.ceil((5 * length) / 2);

/** Number of bits of a geohash of this length that halve latitudes. */
export const latBits = (length: number): number => Math.floor((5 * length) / 2);

/** The exact edges of a cell in degrees; the empty geohash is the world. */
export function cellBounds(geohash: string): Bounds {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash);
  return { west, south, east, north };
}

/** The exact center of a cell. */
export function center(geohash: string): Point {
  const { west, south, east, north } = cellBounds(geohash);
  return { lng: (west + east) / 2, lat: (south + north) / 2 };
}

/** Whether a text is a geohash of length 1 to 12. */
export const isGeohash = (text: string): boolean => GEOHASH.test(text);

/** Validates a client's geohash; returns it in lower case. Throws BAD_USER_INPUT naming `field` if it is invalid. */
export function readGeohash(field: string, value: unknown): string {
  if (typeof value === 'string' && isGeohash(value)) return value.toLowerCase();
  throw badInput(field, value, `a geohash: 1 to ${LONGEST_GEOHASH} characters of ${GEOHASH_ALPHABET}`);
}

/**
 * The bits of a valid geohash, of length up to 10, as one integer: its position in Z-order among those of its length.
 */
export function toZ(geohash: string): number {
  let z = 0;
  for (let i = 0; i < geohash.length; i++) z = z * 32 + (VALUES[geohash.charCodeAt(i)] ?? -1);
  return z;
}

/** The geohash of this length at a position in Z-order. */
export function fromZ(z: number, length: number): string {
  let geohash = '';
  for (let rest = z; geohash.length < length; rest = Math.floor(rest / 32)) {
    geohash = GEOHASH_ALPHABET.charAt(rest % 32) + geohash;
  }
  return geohash;
}

/**
 * Which of the 2^bits equal steps from -span to span contains a value, as bisection determines it: a value on the line
 * between two steps belongs to the lower one. Lines are multiples of 45 times a power of two and exact up to 30 bits;
 * the quotient alone would round some values next to a line across it.
 */
function stepOf(value: number, span: number, bits: number): number {
  const steps = 2 ** bits;
  const size = (2 * span) / steps;
  let step = Math.min(steps - 1, Math.max(0, Math.ceil((value + span) / size) - 1));
  while (step > 0 && value <= step * size - span) step--;
  while (step < steps - 1 && value > (step + 1) * size - span) step++;
  return step;
}

/** The column, counted from the west, of a longitude (-180..180) among cells of this length. */
export const columnOf = (lng: number, length: number): number => stepOf(lng, 180, lngBits(length));

/** The row, counted from the south, of a latitude among cells of this length. */
export const rowOf = (lat: number, length: number): number => stepOf(lat, 90, latBits(length));

/** The characters whose bits are, in turn, those of a number of 3 bits and of one of 2 bits: at 4 * first + second. */
const INTERLEAVED = Array.from({ length: 32 }, (_, bits) => {
  const bit = (at: number) => (bits >> at) & 1;
  return GEOHASH_ALPHABET.charAt((bit(4) << 4) | (bit(1) << 3) | (bit(3) << 2) | (bit(0) << 1) | bit(2));
});

/**
 * The geohash, of length 1 to 12, of the cell that contains a position; 180 is indexed as -180. Takes a quarter of the
 * time of the library's, which matters where pages are decoded.
 */
export function encode({ lng, lat }: Point, length: number): string {
  const column = columnOf(canonicalLng(lng), length);
  const row = rowOf(lat, length);
  let lngLeft = lngBits(length);
  let latLeft = latBits(length);
  let geohash = '';
  for (let at = 0; at < length; at++) {
    // Characters take 3 bits of one and 2 of the other, in turn.
    const isEven = at % 2 === 0;
    lngLeft -= isEven ? 3 : 2;
    latLeft -= isEven ? 2 : 3;
    const index = isEven
      ? (((column >> lngLeft) & 7) << 2) | ((row >> latLeft) & 3)
      : (((row >> latLeft) & 7) << 2) | ((column >> lngLeft) & 3);
    geohash += INTERLEAVED[index] ?? '';
  }
  return geohash;
}

/** Positions in Z-order among the geohashes of one length: `from <= z < to`. */
export interface ZRange {
  readonly from: number;
  readonly to: number;
}

/** The Z-order positions of a cell at length 10; for a smaller cell, those of the enclosing cell of length 10. */
export function cellRange(geohash: string): ZRange {
  const hash = geohash.slice(0, LONGEST_Z);
  const size = 32 ** (LONGEST_Z - hash.length);
  return { from: toZ(hash) * size, to: (toZ(hash) + 1) * size };
}

/** In columns and rows of cells, all four included. */
type Box = Bounds;

function boxOf(part: Bounds, length: number): Box {
  return {
    west: columnOf(part.west, length),
    south: rowOf(part.south, length),
    east: columnOf(part.east, length),
    north: rowOf(part.north, length),
  };
}

/** The boxes at `depth` bits, fewer than `length` has. */
function coarsen(boxes: readonly Box[], length: number, depth: number): Box[] {
  const columns = lngBits(length) - Math.ceil(depth / 2);
  const rows = latBits(length) - Math.floor(depth / 2);
  return boxes.map(({ west, south, east, north }) => ({
    west: west >> columns,
    south: south >> rows,
    east: east >> columns,
    north: north >> rows,
  }));
}

/** The number of cells on the rim of a box. */
function rim({ west, south, east, north }: Box): number {
  const wide = east - west + 1;
  const high = north - south + 1;
  return wide <= 2 || high <= 2 ? wide * high : 2 * (wide + high) - 4;
}

/**
 * The ranges of geohashes of `length` (at most 10) that cover an area: every cell of that length with a position in the
 * area is in one of them, and no range lies entirely outside. They are sorted, disjoint and not adjacent. There are at
 * most `most` of them; if necessary, they extend beyond the area.
 *
 * The world is halved by longitude and latitude in turn, like the bits of a geohash. The depth follows from the budget:
 * every run of Z-order within a box contains a cell of the box's rim (follow the run to its end at the boundary of a
 * half: the last cell and the next one share an edge, and the next one is outside), so there are never more ranges than
 * rim cells.
 */
export function coverArea(area: Area, length: number, most: number): ZRange[] {
  const finest = area.parts.map((part) => boxOf(part, length));
  let depth = 5 * length;
  let boxes = finest;
  while (depth > 0 && boxes.reduce((sum, box) => sum + rim(box), 0) > most) {
    depth--;
    boxes = coarsen(finest, length, depth);
  }

  const size = 2 ** (5 * length - depth);
  const ranges: { from: number; to: number }[] = [];
  /** Adds the cells in the boxes that share the first `taken` bits, `z`; (west, south) is the first of these cells. */
  const visit = (taken: number, z: number, west: number, south: number) => {
    const left = depth - taken;
    const columns = ((depth + 1) >> 1) - ((taken + 1) >> 1);
    const rows = left - columns;
    // With powers instead of shifts, a cover takes twice the time.
    const east = west + (1 << columns) - 1;
    const north = south + (1 << rows) - 1;
    let touched = false;
    let inside = false;
    for (const box of boxes) {
      if (box.west > east || box.east < west || box.south > north || box.north < south) continue;
      touched = true;
      inside ||= box.west <= west && east <= box.east && box.south <= south && north <= box.north;
    }
    if (!touched) return;
    if (inside || left === 0) {
      const from = z * 2 ** left * size;
      const to = (z + 1) * 2 ** left * size;
      const last = ranges.at(-1);
      if (last?.to === from) last.to = to;
      else ranges.push({ from, to });
      return;
    }
    const byLng = taken % 2 === 0;
    visit(taken + 1, z * 2, west, south);
    visit(taken + 1, z * 2 + 1, byLng ? west + (1 << (columns - 1)) : west, byLng ? south : south + (1 << (rows - 1)));
  };
  visit(0, 0, 0, 0);
  return ranges;
}

/** The intersection of two lists of ranges, each sorted and disjoint. */
export function intersect(a: readonly ZRange[], b: readonly ZRange[]): ZRange[] {
  const common: ZRange[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const one = a[i];
    const other = b[j];
    if (!one || !other) return common;
    const from = Math.max(one.from, other.from);
    const to = Math.min(one.to, other.to);
    if (from < to) common.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
}
