import type { GraphQLSchema } from 'graphql';

/** The types, and as `Type.field` the fields, of which servers that embed this one have given the resolvers. */
const resolved = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

/** Notes resolvers by type and field. */
export function noteResolvers(schema: GraphQLSchema, all: readonly Readonly<Record<string, object>>[]): void {
  const types = all.flatMap((resolvers) => Object.entries(resolvers));
  const names = types.flatMap(([type, fields]) => [type, ...Object.keys(fields).map((field) => `${type}.${field}`)]);
  resolved.set(schema, new Set(names));
}

/** Whether others have resolvers for this type or `Type.field`. */
export const isResolvedByOthers = (schema: GraphQLSchema, name: string): boolean =>
  resolved.get(schema)?.has(name) ?? false;
