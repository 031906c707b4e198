import { GraphQLScalarType, Kind, parse, type SelectionSetNode } from 'graphql';
import { expect, test } from 'vitest';

import { formatOf } from '../../../src/graphql/execution/marker-format.js';
import { withMarkerTexts } from '../../../src/graphql/execution/marker-lists.js';
import { buildSchema } from '../../../src/graphql/schema.js';

function selectionOf(fields: string): SelectionSetNode {
  const [operation] = parse(`{ ${fields} }`).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  return operation.selectionSet;
}

test('fields that take a read of each marker, or that others resolve, are not copied', () => {
  const plain = buildSchema();
  const isCopied = (fields: string, schema = plain) => formatOf(schema, selectionOf(fields), new Map()) !== undefined;
  expect(isCopied('id key name position { lng lat } properties geojson __typename')).toBe(true);
  const others = [
    'version',
    'place',
    'globalId',
    'collection { key }',
    'readings { __typename }',
    'cell(precision: 2) { geohash }',
  ];
  for (const field of others) expect([field, isCopied(`key ${field}`)]).toEqual([field, false]);

  const upper = { Marker: { name: ({ name }: { name: string }) => name.toUpperCase(), shop: () => 'shop' } };
  const extended = buildSchema({ typeDefs: 'extend type Marker { shop: String }', resolvers: upper });
  expect(isCopied('key', extended)).toBe(true);
  expect(isCopied('key name', extended)).toBe(false);
  expect(isCopied('key shop', extended)).toBe(false);
  const scalar = buildSchema({ resolvers: { JSONObject: new GraphQLScalarType({ name: 'JSONObject' }) } });
  expect(isCopied('key', scalar)).toBe(true);
  expect(isCopied('key properties', scalar)).toBe(false);
  const point = buildSchema({ resolvers: { Point: { lng: () => 0 } } });
  expect(isCopied('position { lat }', point)).toBe(true);
  expect(isCopied('position { lng }', point)).toBe(false);
  const list = buildSchema({ resolvers: { MarkerConnection: { nodes: () => [] } } });
  const map = parse('{ viewport(bounds: {}, zoom: 1) { markers(collection: "a") { nodes { key } } } }');
  expect(withMarkerTexts(plain, map).lists).toHaveLength(1);
  expect(withMarkerTexts(list, map).lists).toHaveLength(0);
});
