import { badInput } from '../errors.js';
import { LONGEST_Z } from '../geo/geohash.js';
import { escapePart, fits, isWellFormed, KEY_BYTES, SEPARATOR } from './escape.js';

const COLLECTION_KEY = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const CODE = /^[0-9A-Za-z]{2}$/;

/**
 * The longest sort key that includes a marker's key is that of the geo index: a geohash of 10 characters and a
 * separator precede it.
 */
const MARKER_KEY_BYTES = KEY_BYTES.sort - LONGEST_Z - SEPARATOR.length;

/** Whether this is a valid collection key. */
export function isCollectionKey(value: unknown): value is string {
  return typeof value === 'string' && COLLECTION_KEY.test(value);
}

/** Validates a collection key from a client. Throws BAD_USER_INPUT naming `field` if it is invalid. */
export function readCollectionKey(field: string, value: unknown): string {
  if (isCollectionKey(value)) return value;
  throw badInput(field, value, '1 to 63 characters from a-z, 0-9, "-" and "_", the first a letter or a digit');
}

/**
 * Validates a marker key from a client: any text that fits. Throws BAD_USER_INPUT naming `field` if it is empty or too
 * long.
 */
export function readMarkerKey(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw badInput(field, value, 'non-empty text');
  if (!isWellFormed(value)) throw badInput(field, value, 'well-formed Unicode, without lone surrogates');
  // Measured as escaped in a sort key, where escaping is most frequent, so that the key fits with every prefix length.
  if (fits(escapePart(value, 'sort'), MARKER_KEY_BYTES)) return value;
  throw badInput(field, value, `at most ${MARKER_KEY_BYTES} bytes of UTF-8, escaped as in a sort key`);
}

/** Validates a collection code from a client. Throws BAD_USER_INPUT naming `field` if it is invalid. */
export function readCode(field: string, value: unknown): string {
  if (typeof value === 'string' && CODE.test(value)) return value;
  throw badInput(field, value, 'two characters from A-Z, a-z and 0-9, e.g. "Sh"');
}
