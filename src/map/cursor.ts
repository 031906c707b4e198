import { createHash } from 'node:crypto';

import { badInput } from '../errors.js';
import { GEOHASH_ALPHABET, LONGEST_Z } from '../geo/geohash.js';

/**
 * A position in the order of a collection's markers: the geohash of length 10, `::` and the key as in sort keys; or the
 * geohash alone, which precedes all markers with that geohash. Positions are compared by bytes.
 */
export type CursorPosition = string;

const VERSION = 1;
const POSITION = new RegExp(`^[${GEOHASH_ALPHABET}]{${LONGEST_Z}}(?:::.+)?$`, 's');

/** Whether a text is a cursor position. */
export function isCursorPosition(text: string): boolean {
  return POSITION.test(text);
}

/** A short name derived from the definition of a list, so that other lists reject its cursors. */
export function listName(question: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);
}

/** The cursor for the page after a position. */
export function writeCursor(list: string, position: CursorPosition): string {
  return Buffer.from(JSON.stringify([VERSION, list, position])).toString('base64url');
}

/**
 * The position in a cursor, after which the page starts. `isPosition` recognizes positions of lists that are not in
 * geohash order. Throws BAD_USER_INPUT for anything but a cursor of this list.
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
    // Another encoding of the same cursor was not produced by this server.
    return writeCursor(list, position) === cursor ? position : undefined;
  } catch {
    return undefined;
  }
}
