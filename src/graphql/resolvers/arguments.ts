import { badInput } from '../../errors.js';

/** Validates a page length. Throws BAD_USER_INPUT naming `field` unless it is 1 to `max`. */
export function readFirst(field: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw badInput(field, value, `an integer from 1 to ${max}`);
}

const PREFIX = 'collections:';

/** The cursor of a collection in the list of all collections: opaque, and distinct from cursors of other lists. */
export function collectionCursor(key: string): string {
  return Buffer.from(PREFIX + key).toString('base64url');
}

/** The collection key in a cursor made by `collectionCursor`. Throws BAD_USER_INPUT for any other cursor. */
export function readCollectionCursor(field: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const key = text.slice(PREFIX.length);
  if (text.startsWith(PREFIX) && collectionCursor(key) === cursor) return key;
  throw badInput(field, cursor, 'a cursor returned by this list');
}
