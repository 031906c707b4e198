import { createHash } from 'node:crypto';

import { badInput } from '../errors.js';
import { GEOHASH_ALPHABET, LONGEST_Z } from '../geo/geohash.js';

/**
 * A place in the order of a collection's markers: the geohash of length 10, `::` and the key as sort keys have it; or
 * the geohash alone, which is the place before all markers of that geohash. Places are compared by bytes.
 */
export type CursorPosition = string;

const VERSION = 1;
const PLACE = new RegExp(`^[${GEOHASH_ALPHABET}]{${LONGEST_Z}}(?:::.+)?$`, 's');

/** Whether a text is a place in the order of a collection's markers. */
export function isCursorPosition(place: string): boolean {
  return PLACE.test(place);
}

/** What a list is a list of, in a few characters: a cursor of one list is refused by another. */
export function listName(question: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);
}

/** The cursor that goes on behind a place. */
export function writeCursor(list: string, place: CursorPosition): string {
  return Buffer.from(JSON.stringify([VERSION, list, place])).toString('base64url');
}

/**
 * The place that a cursor of this list goes on from. `fits` tells what a place of this list can be, where it is not one
 * in the order of geohashes. Throws BAD_USER_INPUT for anything else.
 */
export function readCursor(list: string, cursor: unknown, fits = isCursorPosition): CursorPosition {
  const place = placeOf(list, cursor, fits);
  if (place === undefined) throw badInput('after', cursor, 'a cursor that a page of the same list gave');
  return place;
}

function placeOf(list: string, cursor: unknown, fits: (place: string) => boolean): CursorPosition | undefined {
  if (typeof cursor !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 3) return undefined;
    const [version, ofList, place] = parts as readonly unknown[];
    if (version !== VERSION || ofList !== list || typeof place !== 'string' || !fits(place)) return undefined;
    // Another spelling of the same cursor is none that we gave.
    return writeCursor(list, place) === cursor ? place : undefined;
  } catch {
    return undefined;
  }
}
