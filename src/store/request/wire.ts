import type { Item } from '../database.js';

/**
 * A value in wire format: one entry, whose name is its type. Numbers are strings; so are bytes, unless the SDK has read
 * them.
 */
type Wire = Readonly<Record<string, unknown>>;
export type WireMap = Readonly<Record<string, Wire>>;

const WHOLE = /^-?\d+$/;

/**
 * Integers of more than 53 bits become BigInt, as in lib-dynamodb; fractions that large, for which BigInt throws, are
 * rounded.
 */
function numberOf(text: string): number | bigint {
  const number = Number(text);
  const large = Number.isFinite(number) && Math.abs(number) > Number.MAX_SAFE_INTEGER;
  return large && WHOLE.test(text) ? BigInt(text) : number;
}

/** Bytes that JSON has as DynamoDB reads them. */
class WireBytes extends Uint8Array {
  toJSON(): string {
    return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64');
  }
}
const wireBytes = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new WireBytes(buffer as ArrayBuffer, byteOffset, byteLength);

const bytesOf = (bytes: string | Uint8Array) =>
  typeof bytes === 'string' ? new Uint8Array(Buffer.from(bytes, 'base64')) : bytes;

/**
 * DynamoDB has no empty names, so names that consist only of NUL characters, including the empty name, are stored with
 * one more.
 */
const isPadded = (name: string) => (name === '' || name.charCodeAt(0) === 0) && /^\0*$/.test(name);
export const storedName = (name: string) => (isPadded(name) ? `${name}\0` : name);
const nameOfStored = (name: string) => (isPadded(name) ? name.slice(1) : name);

const OWN = { enumerable: true, configurable: true, writable: true } as const;

/**
 * Sets an entry, even one named `__proto__`, which an assignment would not make. Takes a third of the time of
 * `Object.fromEntries`.
 */
export function setOwn<T>(map: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') Object.defineProperty(map, name, { ...OWN, value });
  else map[name] = value;
}

/** Converts a DynamoDB value to JavaScript like lib-dynamodb, but keeps all entries of a map. */
export function valueOf(wire: Wire): unknown {
  for (const type in wire) {
    const value = wire[type];
    switch (type) {
      case 'S':
        return value;
      case 'N':
        return numberOf(value as string);
      case 'M':
        return itemOf(value as WireMap);
      case 'BOOL':
        return value;
      case 'NULL':
        return null;
      case 'L':
        return (value as readonly Wire[]).map(valueOf);
      case 'B':
        return bytesOf(value as string | Uint8Array);
      case 'SS':
        return new Set(value as readonly string[]);
      case 'NS':
        return new Set((value as readonly string[]).map(numberOf));
      case 'BS':
        return new Set((value as readonly (string | Uint8Array)[]).map(bytesOf));
      default:
    }
  }
  throw new Error(`a value of unknown type: ${JSON.stringify(wire)}`);
}

/** Converts an item, or a map within one, in place, because nothing else refers to the parsed object. */
export function itemOf(wire: WireMap): Item {
  const item = wire as Record<string, unknown>;
  let renamed = false;
  for (const name in wire) {
    const value = wire[name];
    // `__proto__` is an ordinary entry: the parsed object has it as its own property.
    if (value !== undefined) item[name] = valueOf(value);
    renamed ||= isPadded(name);
  }
  if (!renamed) return item;
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [nameOfStored(name), value]));
}

/** The wire format of a set, by the type of its first member. */
function wireOfSet(set: ReadonlySet<unknown>): Wire {
  const [first] = set;
  if (typeof first === 'string') return { SS: [...set] };
  if (first instanceof Uint8Array) return { BS: [...(set as ReadonlySet<Uint8Array>)].map(wireBytes) };
  return { NS: [...set].map(String) };
}

/**
 * The wire format of a value. lib-dynamodb mistakes a map with an entry `constructor` for an instance of a class and
 * loses `__proto__`; this stores any JSON. Undefined entries are omitted.
 */
export function wireOf(value: unknown): Wire {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return { N: String(value) };
  if (value === null) return { NULL: true };
  if (typeof value !== 'object') throw new Error(`DynamoDB cannot store ${String(value as undefined)}`);
  if (Array.isArray(value)) return { L: value.filter((entry) => entry !== undefined).map(wireOf) };
  if (value instanceof Uint8Array) return { B: wireBytes(value) };
  if (value instanceof Set) return wireOfSet(value);
  const map: Record<string, Wire> = {};
  for (const [name, entry] of Object.entries(value))
    if (entry !== undefined) setOwn(map, storedName(name), wireOf(entry));
  return { M: map };
}

/** An item as DynamoDB will return it: without undefined entries, and with 0 for -0. */
export const asStored = (item: Item): Item => structuredClone(itemOf(wireOf(item)['M'] as WireMap));

/** Digits that every double keeps. */
const SAFE_DIGITS = 15;
const digitsOf = (number: string) =>
  number
    .replace(/e.*/i, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');
const isRounded = (number: string) =>
  number.length > SAFE_DIGITS && !WHOLE.test(number) && digitsOf(String(Number(number))) !== digitsOf(number);

type Missing = Readonly<Record<string, Wire | undefined>>;

/**
 * A copy of a stream value. DynamoDB Local writes an empty map there as a value without a type. With `exact`, fractions
 * that a double would change become text.
 */
function wholeValue(wire: Wire, exact: boolean): Wire {
  if (wire['M'] !== undefined) return { M: wholeMap(wire['M'] as WireMap, exact) };
  if (wire['L'] !== undefined) return { L: (wire['L'] as readonly Wire[]).map((each) => wholeValue(each, exact)) };
  if (exact && isRounded((wire['N'] as string | undefined) ?? '')) return { S: wire['N'] };
  for (const _type in wire) return wire;
  return { M: {} };
}

function wholeMap(wire: Missing, exact: boolean): WireMap {
  const copy: Record<string, Wire> = {};
  for (const name in wire) setOwn(copy, name, wholeValue(wire[name] ?? {}, exact));
  return copy;
}

/** Some attributes of a stream image, which is not changed; with `exact`, as `exactItemOf`. */
export function attributesOf(image: Missing, names: readonly string[], exact = false): Item {
  const some: Record<string, Wire> = {};
  for (const name of names) if (Object.hasOwn(image, name)) setOwn(some, name, wholeValue(image[name] ?? {}, exact));
  return itemOf(some);
}

/** The item in a stream image, which is not changed. */
export const itemOfImage = (image: Missing): Item => itemOf(wholeMap(image, false));

/** The item in an image of a table of others, with fractions that a double would change as their text. */
export const exactItemOf = (image: Missing): Item => itemOf(wholeMap(image, true));
