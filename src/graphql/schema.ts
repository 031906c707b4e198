import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';

import { boundFields } from './limits/bounded-lists.js';
import { resolvers } from './resolvers/all.js';

/** schema/ is next to src/ in the repository and next to dist/ in the package. */
const FOLDER = join(import.meta.dirname, '../../schema');

/** Builds the schema of schema/*.graphql with its resolvers. Throws if a resolver has no field. */
export function buildSchema(): GraphQLSchema {
  const typeDefs = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers,
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
  });
  boundFields(schema);
  return schema;
}
