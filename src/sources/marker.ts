import { reasonFor } from '../errors.js';
import type { Point } from '../geo/bounds.js';
import { decimalIn } from '../geo/point-formats.js';
import { readPlace } from '../keys/place.js';
import { readMarkerKey } from '../keys/validate.js';
import { readInstant } from '../model/instant.js';
import { jsonOfStored } from '../model/json.js';
import type { Properties } from '../model/marker.js';
import type { Place } from '../model/place.js';
import { pathsOf } from './attributes.js';
import { entriesIn, entryKey, type Entry } from './entries.js';
import { keyText, label, mustBeAt, pathText, valueAt, type Item, type Mapping, type Path } from './mapping.js';
import { readPosition, type Fault } from './position.js';
import { formatTemplate, joinKey, splitByTemplate } from './template.js';

/** A value by which the newest of several items is told; undefined comes before all others. */
export type Newest = number | bigint | string | undefined;

/** A marker in an item: what maps draw. */
export interface SourceMarker {
  readonly kind: 'marker';
  readonly key: string;
  readonly position: Point;
  readonly name: string | null;
  readonly category: string | null;
  readonly place: Place;
  readonly properties: Properties;
  readonly newest: Newest;
  /** In milliseconds since 1970; undefined if it does not expire. */
  readonly expiresAt: number | undefined;
  /** The item, with one entry in place of the list if the mapping has `each`. */
  readonly item: Item;
}

/**
 * An item that matches but is no marker. If it has a key and is the newest item with it, no other item is the marker
 * with that key, either.
 */
export interface RejectedItem extends Fault {
  readonly kind: 'rejected';
  readonly key?: string;
  readonly newest?: Newest;
}

/** What an item is to a mapping; `other` does not match, or has expired. */
export type MappedItem = SourceMarker | RejectedItem | { readonly kind: 'other' };

const OTHER = { kind: 'other' } as const;
/** Seconds above this would be after the year 5138; milliseconds below it, before 1973. */
const MOST_SECONDS = 1e11;

/** A time in milliseconds since 1970: from seconds, milliseconds, either as text, or RFC 3339; undefined for others. */
function millisOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? decimalIn(value) : value;
  if (typeof number === 'number' || typeof number === 'bigint') {
    return Number(number) < MOST_SECONDS ? Number(number) * 1_000 : Number(number);
  }
  // Quicker than to try, as many items have no time.
  if (typeof value !== 'string') return undefined;
  try {
    return Date.parse(readInstant('time', value));
  } catch {
    return undefined;
  }
}

/** The values of the parts in templates of an item's attributes, by name; undefined if it does not match them. */
export function itemParts(items: NonNullable<Mapping['items']>, item: Item): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>();
  for (const [attribute, template] of Object.entries(items)) {
    const text = Object.hasOwn(item, attribute) ? keyText(item[attribute]) : undefined;
    const values = text === undefined ? undefined : splitByTemplate(template, text);
    if (values === undefined) return undefined;
    for (const [at, value] of values.entries()) {
      const part = template.parts[at] ?? '';
      if ((found.get(part) ?? value) !== value) return undefined;
      found.set(part, value);
    }
  }
  return found;
}

/** The key of the marker in an item that matches, or why it has none. */
function keyOf({ key }: Mapping, { item, index }: Entry, parts: ReadonlyMap<string, string>): string | Fault {
  const values: string[] = key === undefined ? [...parts.values()] : [];
  for (const path of key?.paths ?? []) {
    const value = valueAt(item, path);
    const text = keyText(value);
    if (text === undefined) {
      return { reason: 'no key', message: mustBeAt(path, 'non-empty text, a number or bytes', value) };
    }
    values.push(text);
  }
  const written = key === undefined ? joinKey(values) : formatTemplate(key, values);
  try {
    return readMarkerKey('key', entryKey(written, index));
  } catch (error) {
    return { reason: 'invalid key', message: reasonFor(error) };
  }
}

function placeOf(paths: readonly Path[], item: Item): Place {
  const names = paths.map((path) => label(valueAt(item, path)) ?? '');
  const missing = names.indexOf('');
  try {
    return readPlace('place', missing < 0 ? names : names.slice(0, missing));
  } catch {
    // A name is too long. A marker needs no place.
    return [];
  }
}

function propertiesAt(paths: readonly Path[], item: Item): Properties {
  const found = paths.map((path) => [pathText(path), valueAt(item, path)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === undefined ? [] : [[name, jsonOfStored(value)]])),
  );
}

function newestOf(path: Path | undefined, item: Item): Newest {
  const value = path === undefined ? undefined : valueAt(item, path);
  // A double would make long IDs that count up equal.
  if (typeof value === 'string') return /^\d{16,38}$/.test(value) ? BigInt(value) : (decimalIn(value) ?? value);
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

/** Compares by time: nothing, then texts by their characters, then numbers. Negative if `a` is older. */
export function compareNewest(a: Newest, b: Newest): number {
  const rank = (value: Newest) => (value === undefined ? 0 : typeof value === 'string' ? 1 : 2);
  if (rank(a) !== rank(b) || a === undefined || b === undefined) return rank(a) - rank(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What an item is to a mapping, at a time in milliseconds since 1970: one, or with `each` one for each entry. */
export function markersOf(mapping: Mapping, item: Item, now: number): readonly MappedItem[] {
  return entriesIn(mapping, item).map((entry) => markerOf(mapping, entry, now));
}

function markerOf(mapping: Mapping, entry: Entry, now: number): MappedItem {
  const { item } = entry;
  const parts = itemParts(mapping.items ?? {}, item);
  if (parts === undefined) return OTHER;
  for (const { path, holds } of mapping.where) if (!holds(jsonOfStored(valueAt(item, path)))) return OTHER;
  const expiry = mapping.ttl && millisOf(valueAt(item, mapping.ttl));
  // 0 means that it never expires.
  const expiresAt = expiry === 0 ? undefined : expiry;
  if (expiresAt !== undefined && expiresAt <= now) return OTHER;
  const key = keyOf(mapping, entry, parts);
  if (typeof key !== 'string') return { kind: 'rejected', ...key };
  const newest = newestOf(mapping.newest, item);
  const position = readPosition(mapping.position, item);
  if ('reason' in position) return { kind: 'rejected', ...position, key, newest };
  return {
    kind: 'marker',
    key,
    position,
    name: mapping.name === undefined ? null : label(valueAt(item, mapping.name)),
    category: mapping.category === undefined ? null : label(valueAt(item, mapping.category)),
    place: placeOf(mapping.place, item),
    properties: propertiesAt(mapping.properties, item),
    newest,
    expiresAt,
    item,
  };
}

/** What is read of an item when a marker's details are asked for; undefined where the mapping or the item does not say. */
export interface Details {
  readonly properties: Properties;
  readonly version: number | undefined;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
}

/** The details of a marker: its properties, those that maps draw among them, with its version and times. */
export function detailsOf(mapping: Mapping, item: Item): Details {
  const { properties, details, position } = mapping;
  const at = (path: Path | undefined) => (path === undefined ? undefined : valueAt(item, path));
  const time = (path: Path | undefined) => {
    const date = new Date(millisOf(at(path)) ?? Number.NaN);
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  };
  const version = at(mapping.version);
  const used = [mapping.name, mapping.category, ...mapping.place, ...pathsOf(position), ...pathsOf(position.fallback)];
  const isUsed = (name: string) => used.some((path) => path?.length === 1 && path[0] === name);
  const rest =
    details === '*'
      ? Object.keys(item)
          .filter((name) => !isUsed(name))
          .map((name) => [name])
      : details;
  return {
    properties: { ...propertiesAt(rest, item), ...propertiesAt(properties, item) },
    version: Number.isSafeInteger(version) ? (version as number) : undefined,
    createdAt: time(mapping.createdAt),
    updatedAt: time(mapping.updatedAt),
  };
}
