import { CellportError } from '../../errors.js';
import type { Collection, CollectionSource } from '../../model/collection.js';
import { readMapping, type Mapping } from '../../sources/mapping.js';

/** A collection whose markers are in a table of others. */
export interface SourceCollection extends Collection {
  readonly source: CollectionSource;
}

/** Whether a collection follows a table that others write. */
export const hasSource = (collection: Collection): collection is SourceCollection => collection.source !== undefined;

/** Collections are read again and again, but mappings stay. */
const parsed = new WeakMap<CollectionSource, Mapping>();

/** The mapping of a source, which was checked when it was stored. */
export function mappingOf(source: CollectionSource): Mapping {
  const known = parsed.get(source) ?? readMapping(JSON.parse(source.mapping));
  parsed.set(source, known);
  return known;
}

/** The collection, if its markers are Cellport's own; errors name `field`. Throws BAD_USER_INPUT for one that follows a table. */
export function ownCollection(collection: Collection, field: string): Collection {
  if (!hasSource(collection)) return collection;
  const { key, source } = collection;
  throw new CellportError(
    'BAD_USER_INPUT',
    `${field}: collection ${key} follows table ${source.table}, which Cellport only reads; so it takes no writes, and has no search index and no index of places`,
    { collection: key, table: source.table },
  );
}
