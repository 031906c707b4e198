import { badInput } from '../../errors.js';
import { storedName, type WireMap } from './wire.js';

/** DynamoDB's limit of one item, attribute names included. */
export const MAX_ITEM_BYTES = 400 * 1024;

const significantDigits = (value: number) =>
  Math.abs(value).toExponential().replace(/e.*$/, '').replace('.', '').replace(/0+$/, '').length;

function numberBytes(value: number): number {
  // Takes a fifth of the time, which counts in lists of half a million.
  const isPlain = Number.isSafeInteger(value) && value % 10 !== 0;
  const digits = isPlain ? String(Math.abs(value)).length : significantDigits(value);
  // Two digits per byte and one byte for the exponent; one more for negative numbers and for digits that do not pair
  // up.
  return Math.ceil(digits / 2) + (value < 0 ? 3 : 2);
}

/**
 * The size of a value in an item in bytes, by DynamoDB's published rules (names and strings as UTF-8, a list or map 3
 * bytes plus 1 per entry). Never too small: numbers are rounded up by at most one byte.
 */
export function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, entry) => sum + 1 + valueBytes(entry), 3);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).reduce(
      (sum, [name, entry]) => sum + 1 + Buffer.byteLength(storedName(name)) + valueBytes(entry),
      3,
    );
  }
  return 1;
}

/** The same of a value in wire format, of those that JSON has. In streams of DynamoDB Local, an empty map has no type. */
export function wireBytes(wire: WireMap[string]): number {
  const { S, N, L, M } = wire;
  if (S !== undefined) return Buffer.byteLength(S as string);
  if (N !== undefined) return numberBytes(Number(N));
  if (L !== undefined) return (L as readonly WireMap[string][]).reduce((sum, each) => sum + 1 + wireBytes(each), 3);
  if (M === undefined) return 'BOOL' in wire || 'NULL' in wire ? 1 : 3;
  return Object.entries(M as WireMap).reduce(
    (sum, [name, each]) => sum + 1 + Buffer.byteLength(name) + wireBytes(each),
    3,
  );
}

/** The size of a whole item in bytes: its attributes with their names. Undefined attributes are not written. */
export function itemBytes(item: Readonly<Record<string, unknown>>): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => (value === undefined ? sum : sum + Buffer.byteLength(name) + valueBytes(value)),
    0,
  );
}

/** Throws BAD_USER_INPUT naming `field` if DynamoDB would refuse an item as too large. */
export function checkItemSize(item: Readonly<Record<string, unknown>>, what: string, field: string): void {
  const bytes = itemBytes(item);
  if (bytes <= MAX_ITEM_BYTES) return;
  throw badInput(field, `${bytes} bytes`, `small enough to keep the whole ${what} under ${MAX_ITEM_BYTES} bytes`);
}
