import type { GraphQLResolveInfo } from 'graphql';

import { CellportError } from '../errors.js';
import type { GeoTable, GeoTableAnswers } from '../geolibrary/answers.js';
import type { Loaders } from '../loaders/loaders.js';
import type { Collection } from '../model/collection.js';
import type { RequestContext } from './context.js';

/** The table of the Geo Library that is served beside the collections, as one request asks it. */
export interface AskedGeoTable {
  readonly collection: Collection;
  /** Items, as DynamoDB counted them when the server started. */
  readonly count: number;
  readonly answers: GeoTableAnswers;
}

/** What a table of the Geo Library has no answer to, or would have to be written for. */
function refusal(key: string, what: string): CellportError {
  return new CellportError(
    'BAD_USER_INPUT',
    `collection ${key} is a table of the Geo Library, served read-only as it stands: it has no ${what}; import it into a collection for that`,
    { field: what, collection: key },
  );
}

/** Loaders for which the table is no collection: whatever does not ask for it by its own way is refused. */
export function refusingGeoTable(loaders: Loaders, { collection }: GeoTable): Loaders {
  const { key } = collection;
  const lookup = () => refusal(key, 'lookup by key (its items are found by hashKey and rangeKey)');
  return {
    ...loaders,
    collection: async (wanted) => {
      if (wanted === key) throw refusal(key, 'such field');
      return loaders.collection(wanted);
    },
    currentMarker: async (wanted, marker) => {
      if (wanted === key) throw lookup();
      return loaders.currentMarker(wanted, marker);
    },
    node: async (name) => {
      if (name.type === 'collection' && name.key === key) return collection;
      if (name.type !== 'collection' && name.collection === key) throw lookup();
      return loaders.node(name);
    },
  };
}

type Field = (parent: never, args: never, context: RequestContext, info: GraphQLResolveInfo) => unknown;

/**
 * Resolvers that know of the table: a field that `keyOf` says is of its collection is answered by `own`, or refused where
 * that has none.
 */
export function knowingGeoTable<R extends object>(
  resolvers: R,
  own: Partial<R>,
  keyOf: (parent: { readonly key?: string }, args: Readonly<Record<string, unknown>>) => unknown,
): R {
  const fields = Object.entries(resolvers) as [string, Field][];
  const knowing = fields.map(([name, resolve]): [string, Field] => {
    const other = (own as Readonly<Record<string, Field | undefined>>)[name];
    return [
      name,
      (parent, args, context, info) => {
        const key = context.geoTable?.collection.key;
        if (key === undefined || keyOf(parent, args) !== key) return resolve(parent, args, context, info);
        if (other === undefined) throw refusal(key, name);
        return other(parent, args, context, info);
      },
    ];
  });
  return Object.fromEntries(knowing) as R;
}

/** The table that a resolver of its own answers from. */
export function geoTableOf({ geoTable }: RequestContext): AskedGeoTable {
  if (geoTable === undefined) throw new Error('a field of a table of the Geo Library, and none is served');
  return geoTable;
}

/** A page of collections with the table's in its place among them; `first` of them at most. */
export function listGeoTable(
  { collections, more }: { readonly collections: readonly Collection[]; readonly more: boolean },
  geoTable: AskedGeoTable | undefined,
  { first, after }: { readonly first: number; readonly after: string | undefined },
): { readonly collections: readonly Collection[]; readonly more: boolean } {
  const own = geoTable?.collection;
  const last = collections.at(-1);
  const here = own && own.key > (after ?? '') && (!more || (last !== undefined && own.key < last.key));
  if (!own || here !== true) return { collections, more };
  const all = [...collections, own].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return { collections: all.slice(0, first), more: more || all.length > first };
}
