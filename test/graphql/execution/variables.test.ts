import { parse, type OperationDefinitionNode } from 'graphql';
import { expect, test } from 'vitest';

import { variableErrors } from '../../../src/graphql/execution/variables.js';
import { buildSchema } from '../../../src/graphql/schema.js';

const schema = buildSchema();
const DOCUMENT = parse(
  'query ($ids: [ID!]!, $filter: MarkerFilter, $markers: [MarkerInput!], $json: JSON) { nodes(ids: $ids) { id } }',
);
const codesOf = (given: Readonly<Record<string, unknown>>) =>
  variableErrors(schema, DOCUMENT.definitions[0] as OperationDefinitionNode, given, { hideSuggestions: true }).map(
    (error) => ('code' in error ? error.code : error.message),
  );
const many = <T>(count: number, item: T) => Array.from({ length: count }, () => item);

test('lists of variables have at most 100,000 items together, wherever they are; JSON has its own limits', () => {
  expect(codesOf({ ids: many(60_000, 'a'), filter: { category: many(40_000, 'b') } })).toEqual([]);
  expect(codesOf({ ids: many(60_000, 'a'), filter: { category: many(40_001, 'b') } })).toEqual(['LIMIT_EXCEEDED']);
  expect(codesOf({ ids: [], json: many(200_000, 1) })).toEqual([]);
});

test('an input object counts as four items, and its own lists count, too', () => {
  const marker = { position: { lng: 1, lat: 2 }, place: ['a'] };
  expect(codesOf({ ids: [], markers: many(20_000, marker) })).toEqual([]);
  expect(codesOf({ ids: [], markers: many(20_001, marker) })).toEqual(['LIMIT_EXCEEDED']);
});
