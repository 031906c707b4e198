import { makeExecutableSchema } from '@graphql-tools/schema';
import { graphql } from 'graphql';
import { expect, test } from 'vitest';

import { boundFields } from '../../../src/graphql/limits/bounded-lists.js';
import { Work } from '../../../src/graphql/work.js';
import { DEFAULT_LIMITS } from '../../../src/model/limits.js';
import { memoryDatabase } from '../../support/memory-store.js';

/** The answer to a query, and how many times each field was resolved. */
async function ask(source: string, { maxNodes = 1_000, variables = {} } = {}) {
  const resolved: string[] = [];
  const schema = makeExecutableSchema({
    typeDefs: `
      scalar JSON
      type Item { id: Int, items(count: Int = 2): [Item!] }
      type Query { items(count: Int, like: JSON): [Item!] }
      type Mutation { items(count: Int): [Item!] }
    `,
    resolvers: {
      Query: {
        items: (_, { count }: { count: number }) => {
          resolved.push(`items ${count}`);
          return Array.from({ length: count }, (_none, id) => ({ id }));
        },
      },
      Mutation: {
        items: (_, { count }: { count: number }) => {
          resolved.push(`items ${count}`);
          return [];
        },
      },
      Item: { items: (_, { count }: { count: number }) => Array.from({ length: count }, (_none, id) => ({ id })) },
    },
  });
  boundFields(schema);
  const work = new Work({ ...DEFAULT_LIMITS, maxNodes }, memoryDatabase());
  const { data, errors = [] } = await graphql({ schema, source, variableValues: variables, contextValue: { work } });
  work.end();
  return { data, errors: errors.map(({ message }) => message), resolved, aborted: work.signal.aborted };
}

test('fields with equal arguments are resolved once in a query, however they are written', async () => {
  const { data, resolved } = await ask(
    'query($n: Int, $v: JSON) { a: items(count: 1) { id } b: items(count: $n) { id } c: items(count: 2) { id } d: items(count: 2, like: $v) { id } e: items(count: 2, like: [{x: 1}]) { id } }',
    { variables: { n: 1, v: [{ x: 1 }] } },
  );
  expect(resolved).toEqual(['items 1', 'items 2', 'items 2']);
  expect(data?.['a']).toEqual(data?.['b']);
  expect(data?.['d']).toEqual([{ id: 0 }, { id: 1 }]);
});

test('fields of a mutation are resolved each time', async () => {
  const { resolved } = await ask('mutation { a: items(count: 1) { id } b: items(count: 1) { id } }');
  expect(resolved).toEqual(['items 1', 'items 1']);
});

test('nested lists add up to the limit of objects, and one more ends the request', async () => {
  const query = '{ a: items(count: 10) { items(count: 9) { id } } }';
  expect((await ask(query, { maxNodes: 100 })).errors).toEqual([]);
  const { errors, aborted } = await ask(query, { maxNodes: 99 });
  expect(errors).toContainEqual(expect.stringMatching(/^number of objects in the answer is more than 99/));
  expect(aborted).toBe(true);
});

test('objects with many fields count as several', async () => {
  const fields = Array.from({ length: 41 }, (_, index) => `a${index}: id`).join(' ');
  expect((await ask(`{ items(count: 10) { ${fields} } }`, { maxNodes: 30 })).errors).toEqual([]);
  expect((await ask(`{ items(count: 10) { ${fields} } }`, { maxNodes: 29 })).errors).toHaveLength(1);
});

test('a long list is completed in order', async () => {
  const { data } = await ask('{ items(count: 20000) { id } }', { maxNodes: 20_000 });
  expect(data?.['items']).toEqual(Array.from({ length: 20_000 }, (_, id) => ({ id })));
});
