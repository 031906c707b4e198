import { badInput } from '../errors.js';
import type { Place } from '../model/place.js';
import { byteLength, escapePart, isWellFormed, KEY_BYTES } from './escape.js';

/** More levels than any building needs. */
const MOST_NAMES = 12;
const LONGEST_NAME = 200;

/**
 * Validates a place from a client; its names are normalized to NFC, so that two encodings of one name are the same
 * place. Throws BAD_USER_INPUT naming the name that is empty, not text, or too long.
 */
export function readPlace(field: string, value: unknown): Place {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MOST_NAMES) {
    throw badInput(field, value, `a list of at most ${MOST_NAMES} names, outermost first`);
  }
  return value.map((name: unknown, index) => {
    const named = `${field}[${index}]`;
    if (typeof name !== 'string' || name === '') throw badInput(named, name, 'non-empty text');
    if (!isWellFormed(name)) throw badInput(named, name, 'text of Unicode characters, without lone surrogates');
    const normal = name.normalize('NFC');
    if (byteLength(normal) > LONGEST_NAME) throw badInput(named, name, `at most ${LONGEST_NAME} bytes of UTF-8`);
    return normal;
  });
}

/**
 * Throws BAD_USER_INPUT if a place and a marker's key together exceed the sort key of the index of places: 1,024 bytes
 * for all names but the outermost, the key, and the separators between them.
 */
export function checkPlaceFits(place: Place, key: string): void {
  const bytes = byteLength([...place.slice(1), key].map((part) => escapePart(part, 'sort')).join('::'));
  if (place.length > 0 && bytes > KEY_BYTES.sort) {
    const allowed = `at most ${KEY_BYTES.sort} bytes together with the key, not counting the outermost name (it has ${bytes})`;
    throw badInput('place', place, allowed);
  }
}
