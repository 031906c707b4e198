import { badInput } from '../errors.js';
import { KEY_BYTES, byteLength, escapePart, isWellFormed } from './escape.js';

/** A geo index's sort key is 10 characters of geohash, the separator and the marker's key; every slot must take it. */
const MARKER_KEY_BYTES = KEY_BYTES.sort - 12;

/** A collection's key from a client. Throws BAD_USER_INPUT naming `field` where it is no text, empty or too long. */
export function readCollectionKey(field: string, value: unknown): string {
  return readKey(field, value, KEY_BYTES.sort);
}

/** A marker's key from a client. Throws BAD_USER_INPUT naming `field` where it is no text, empty or too long. */
export function readMarkerKey(field: string, value: unknown): string {
  return readKey(field, value, MARKER_KEY_BYTES);
}

/** A collection's code: two letters or digits. Throws BAD_USER_INPUT naming `field` for anything else. */
export function readCode(field: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9A-Za-z]{2}$/.test(value)) {
    throw badInput(field, value, 'two letters or digits, e.g. "Sh"');
  }
  return value;
}

function readKey(field: string, value: unknown, limit: number): string {
  if (typeof value !== 'string' || value === '' || !isWellFormed(value)) {
    throw badInput(field, value, 'a text of Unicode characters that is not empty');
  }
  // Counted as it stands in a sort key, where the most characters are escaped.
  if (byteLength(escapePart(value, 'sort')) > limit) throw badInput(field, value, `at most ${limit} bytes of UTF-8`);
  return value;
}
