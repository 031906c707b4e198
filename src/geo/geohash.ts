import ngeohash from 'ngeohash';

import { badInput } from '../errors.js';
import type { Bounds } from './bounds.js';
import { canonicalLng, type Point } from './point.js';

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

/** The enclosing cell; the parent of a geohash of length 1 is empty. */
export function parent(geohash: string): string {
  return geohash.slice(0, -1);
}

/** The 32 cells inside a cell, sorted by geohash. */
export function children(geohash: string): string[] {
  return Array.from(GEOHASH_ALPHABET, (character) => geohash + character);
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
