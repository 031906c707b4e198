import { CellportError } from '../../errors.js';
import type { Collection, CollectionSource, TableKeyAttribute } from '../../model/collection.js';
import { attributesDrawn } from '../../sources/attributes.js';
import { itemKey } from '../../sources/entries.js';
import { readMapping, type Mapping } from '../../sources/mapping.js';
import { primaryKeyOf } from '../../sources/primary-key.js';
import type { Item } from '../database.js';

/** A collection whose markers are in a table of others. */
export interface SourceCollection extends Collection {
  readonly source: CollectionSource;
}

/** Whether a collection follows a table that others write. */
export const hasSource = (collection: Collection): collection is SourceCollection => collection.source !== undefined;

/** Collections are read again and again, but mappings stay. */
const parsed = new WeakMap<CollectionSource, { readonly mapping: Mapping; readonly read: readonly string[] }>();

function parsedOf(source: CollectionSource) {
  let known = parsed.get(source);
  if (known === undefined) {
    const mapping = readMapping(JSON.parse(source.mapping));
    const read = new Set([...source.tableKey.map(({ name }) => name), ...attributesDrawn(mapping)]);
    parsed.set(source, (known = { mapping, read: [...read] }));
  }
  return known;
}

/** The mapping of a source, which was checked when it was stored. */
export const mappingOf = (source: CollectionSource): Mapping => parsedOf(source).mapping;

/** The attributes that tell which marker an item of a source is, and what maps draw of it. */
export const attributesRead = (source: CollectionSource): readonly string[] => parsedOf(source).read;

/** The collection, if its markers are Cellport's own; errors name `field`. Throws BAD_USER_INPUT for one that follows a table. */
export function ownCollection(collection: Collection, field: string): Collection {
  if (!hasSource(collection)) return collection;
  const { key } = collection;
  // Whoever reads the collection need not know the name of its table.
  throw new CellportError(
    'BAD_USER_INPUT',
    `${field}: collection ${key} follows a table, which Cellport only reads; so it takes no writes, and has no index of places`,
    { collection: key },
  );
}

/**
 * The primary key of the only item that can ever be the marker with this key; undefined if several can: the key does not
 * tell which, or consists of what an item may change.
 */
export function onlyItemOf(source: CollectionSource, key: string): Item | undefined {
  const mapping = mappingOf(source);
  return mapping.newest === undefined && isFixed(source) ? partOfKey(source, source.tableKey, key) : undefined;
}

/** See `primaryKeyOf`. */
export function partOfKey(source: CollectionSource, part: readonly TableKeyAttribute[], key: string): Item | undefined {
  const mapping = mappingOf(source);
  const own = itemKey(mapping, key);
  return own === undefined ? undefined : primaryKeyOf(mapping, part, own);
}

/** Whether the key of a marker consists of what its item cannot change. */
function isFixed(source: CollectionSource): boolean {
  const { items = {}, key: template } = mappingOf(source);
  const names = template?.paths.map(([first]) => first) ?? Object.keys(items);
  return names.every((name) => source.tableKey.some((attribute) => attribute.name === name));
}

/** Whether nothing but the order of their records tells which of several items is the marker. */
export const isOrderedByRecords = (source: CollectionSource): boolean =>
  mappingOf(source).newest === undefined && !isFixed(source);

type WireImage = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The primary key of an item in wire format, as records and scans name it. */
export function keysOf({ tableKey }: CollectionSource, image: WireImage): Record<string, Record<string, unknown>> {
  const valueIn = ({ name, type }: TableKeyAttribute) => {
    const value = image[name]?.[type];
    return { [type]: value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value };
  };
  return Object.fromEntries(tableKey.map((attribute) => [attribute.name, valueIn(attribute)]));
}
