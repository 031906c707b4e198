import type { GraphQLResolveInfo } from 'graphql';

import { badInput } from '../errors.js';
import type { RequestContext } from './context.js';
import { typeOf } from './resolvers/all.js';
import { nodesById } from './resolvers/query.js';
import { SCHEMA } from './schema-text.js';
import type { Extension } from './schema.js';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
/** Types that other subgraphs may extend, by their ID. */
const ENTITIES = ['Collection', 'Marker', 'Zone'];
const TYPES = `
scalar _Any
union _Entity = ${ENTITIES.join(' | ')}
type _Service { sdl: String! }
extend type Query {
  _service: _Service!
  _entities(representations: [_Any!]!): [_Entity]!
}`;

/** The ID in what another subgraph knows of an object. Throws BAD_USER_INPUT. */
function idIn(representation: unknown): string {
  const { __typename: type, id } = (representation ?? {}) as Readonly<Record<string, unknown>>;
  const field = 'representations';
  if (typeof type !== 'string' || !ENTITIES.includes(type)) {
    throw badInput(`${field}.__typename`, type, `one of ${ENTITIES.join(', ')}`);
  }
  if (typeof id !== 'string') throw badInput(`${field}.id`, id, 'an ID');
  return id;
}

/** The extension that makes a schema, with one's own types, a subgraph of Federation 2. Objects are found in one batch, as by `nodes`. */
export function asSubgraph({ typeDefs: own = [], resolvers: others = [] }: Extension): Extension {
  const typeDefs = [own].flat();
  const sdl = [LINK, ...ENTITIES.map((type) => `extend type ${type} @key(fields: "id")`), ...SCHEMA, ...typeDefs].join(
    '\n',
  );
  const subgraph = {
    Query: {
      _service: () => ({ sdl }),
      _entities: (
        _root: unknown,
        { representations }: { readonly representations: readonly unknown[] },
        context: RequestContext,
        info: GraphQLResolveInfo,
      ) => nodesById('representations', representations.map(idIn), context, info),
    },
    _Entity: { __resolveType: typeOf },
  };
  return { typeDefs: [...typeDefs, TYPES], resolvers: [subgraph, others].flat() };
}
