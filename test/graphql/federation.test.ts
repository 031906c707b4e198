import { composeServices } from '@apollo/composition';
import { graphql, parse } from 'graphql';
import { expect, test } from 'vitest';

import { asSubgraph } from '../../src/graphql/federation.js';
import { buildSchema } from '../../src/graphql/schema.js';

/** The text that a router gets of the schema. */
async function sdlOf(typeDefs?: string): Promise<string> {
  const { data, errors } = await graphql({
    schema: buildSchema(asSubgraph({ typeDefs, resolvers: typeDefs ? { Marker: { color: () => 'red' } } : {} })),
    source: '{ _service { sdl } }',
    contextValue: {},
  });
  expect(errors).toBeUndefined();
  return (data as { _service: { sdl: string } })._service.sdl;
}

const SHOPS = `
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
type Query { shops: [Shop!]! }
type Shop { name: String! at: Marker }
type Marker @key(fields: "id") { id: ID! shop: Shop }
type Zone @key(fields: "id") { id: ID! owner: String }
`;

test('it composes with a subgraph that extends markers and zones, and types of one’s own are part of it', async () => {
  const own = 'extend type Marker { color: String }';
  const { supergraphSdl, errors } = composeServices([
    { name: 'maps', typeDefs: parse(await sdlOf(own)), url: 'http://maps' },
    { name: 'shops', typeDefs: parse(SHOPS), url: 'http://shops' },
  ]);
  expect(errors).toBeUndefined();
  const fields = /type Marker[^{]*\{([^}]*)\}/.exec(supergraphSdl ?? '')?.[1] ?? '';
  for (const field of ['shop', 'position', 'color']) expect(fields).toContain(`  ${field}: `);
  expect(await sdlOf()).not.toContain('color');
});

test('a subgraph that contradicts it does not compose', async () => {
  const wrong = SHOPS.replace('id: ID! shop', 'id: ID! position: String shop');
  const { errors = [] } = composeServices([
    { name: 'maps', typeDefs: parse(await sdlOf()), url: 'http://maps' },
    { name: 'shops', typeDefs: parse(wrong), url: 'http://shops' },
  ]);
  expect(errors.map(({ message }) => message).join()).toContain('Marker.position');
});
