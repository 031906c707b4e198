import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';

import { resolvers } from './resolvers/all.js';

/** schema/ stands beside src/ and beside dist/, in the repository as in the package. */
const FOLDER = join(import.meta.dirname, '../../schema');

/** The schema of schema/*.graphql with its resolvers. Throws where a resolver answers to no field. */
export function buildSchema(): GraphQLSchema {
  const typeDefs = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  return makeExecutableSchema({
    typeDefs,
    resolvers,
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
  });
}
