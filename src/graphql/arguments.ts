import { badInput } from '../errors.js';

/** A number of entries from a client. Throws BAD_USER_INPUT naming `field` unless it is 1 to `most`. */
export function readFirst(field: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw badInput(field, value, `an integer from 1 to ${most}`);
}

const MARK = 'collections:';

/** The cursor behind a collection in the list of all: opaque to clients, and told from cursors of other lists. */
export function collectionCursor(key: string): string {
  return Buffer.from(MARK + key).toString('base64url');
}

/** The key that a cursor of `collectionCursor` stands behind. Throws BAD_USER_INPUT for a cursor of anything else. */
export function readCollectionCursor(field: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const key = text.slice(MARK.length);
  if (text.startsWith(MARK) && collectionCursor(key) === cursor) return key;
  throw badInput(field, cursor, 'a cursor of this very list');
}
