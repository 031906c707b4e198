import { makeExecutableSchema } from '@graphql-tools/schema';
import { defaultFieldResolver, type GraphQLObjectType, type GraphQLScalarType, type GraphQLSchema } from 'graphql';

import { outcomeOf } from './audited.js';
import type { RequestContext } from './context.js';
import { boundFields } from './limits/bounded-lists.js';
import { noteResolvers } from './resolved-by-others.js';
import { resolvers } from './resolvers/all.js';
import { SCHEMA } from './schema-text.js';
import { outcomeOfError, type Outcome } from './work.js';

/** Any parent, arguments and context: types of others decide. */
type FieldResolver = NonNullable<ReturnType<GraphQLObjectType['getFields']>[string]['resolve']>;
type Resolvers = Readonly<Record<string, GraphQLScalarType | Readonly<Record<string, FieldResolver | object>>>>;

/** Types and fields of others, for example `extend type Marker { shop: Shop }`, and their resolvers. */
export interface Extension {
  readonly typeDefs?: string | readonly string[] | undefined;
  readonly resolvers?: Resolvers | readonly Resolvers[] | undefined;
}

/** Servers of others execute mutations without the checks of whole documents. Notes what becomes of each, for the audit. */
function guardMutations(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = async (parent, args, context: RequestContext, info) => {
      if (context.forbidsWrites) throw context.forbidsWrites;
      const { work } = context;
      work.startWriting();
      const note = (outcome: Outcome) => work.outcomes.set(String(info.path.key), outcome);
      try {
        const result: unknown = await resolve(parent, args, context, info);
        note(outcomeOf(result));
        return result;
      } catch (error) {
        note(outcomeOfError(error));
        throw error;
      }
    };
  }
}

/** Builds the schema of schema/*.graphql with its resolvers. Throws if a resolver has no field. */
export function buildSchema(own: Extension = {}): GraphQLSchema {
  const theirs = [own.resolvers ?? []].flat();
  const schema = makeExecutableSchema({
    typeDefs: [...SCHEMA, ...[own.typeDefs ?? []].flat()],
    resolvers: [resolvers, ...theirs],
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
  });
  noteResolvers(schema, theirs);
  boundFields(schema);
  guardMutations(schema);
  return schema;
}
