import { createHash } from 'node:crypto';

import { badInput } from '../errors.js';
import { GEOHASH_ALPHABET, LONGEST_Z } from '../geo/geohash.js';

/**
 * A position in the order of a collection's markers: the geohash of length 10, `::` and the key as in sort keys; or the
 * geohash alone, which is the position before all markers of that geohash. Positions are compared by bytes.
 */
export type CursorPosition = string;

const VERSION = 1;
const POSITION = new RegExp(`^[${GEOHASH_ALPHABET}]{${LONGEST_Z}}(?:::.+)?$`, 's');

/** Whether a text is a position in the order of a collection's markers. */
export function isCursorPosition(text: string): boolean {
  return POSITION.test(text);
}

/** A short name of a list, made from what defines it: a cursor of one list is rejected by another. */
export function listName(question: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);
}

/** The cursor of the page that comes after a position. */
export function writeCursor(list: string, position: CursorPosition): string {
  return Buffer.from(JSON.stringify([VERSION, list, position])).toString('base64url');
}

/**
 * The position that the page of a cursor comes after. `isPosition` recognizes positions of lists in another order than that
 * of geohashes. Throws BAD_USER_INPUT for anything but a cursor of this list.
 */
export function readCursor(list: string, cursor: unknown, isPosition = isCursorPosition): CursorPosition {
  const position = positionIn(list, cursor, isPosition);
  if (position === undefined) throw badInput('after', cursor, 'a cursor from a page of the same list');
  return position;
}

function positionIn(list: string, cursor: unknown, isPosition: (text: string) => boolean): CursorPosition | undefined {
  if (typeof cursor !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 3) return undefined;
    const [version, ofList, position] = parts as readonly unknown[];
    if (version !== VERSION || ofList !== list || typeof position !== 'string' || !isPosition(position))
      return undefined;
    // Another encoding of the same cursor was not written by us.
    return writeCursor(list, position) === cursor ? position : undefined;
  } catch {
    return undefined;
  }
}
