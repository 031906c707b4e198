import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  Kind,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, test } from 'vitest';

import type { RequestContext } from '../../../src/graphql/context.js';
import { compileOperation } from '../../../src/graphql/execution/compiled.js';
import { compiling, interpreting } from '../../../src/graphql/execution/executor.js';
import { comparing, newComparison } from '../../support/compare-executors.js';

/** Has everything that the real schema has: async values, failures, nested lists, arguments that are returned. */
const schema = makeExecutableSchema({
  typeDefs: `
    scalar JSON
    input Inner { a: Int = 7, list: [String!], json: JSON, inner: Inner }
    interface Node { id: ID! }
    type Thing implements Node {
      id: ID!, name: String, late: String, fails: String, failsLate: String!, thing: Thing, must: Thing!
      things(count: Int = 2): [Thing!], holes: [Thing], echo(inner: Inner, json: JSON, text: String, many: [Int!]): JSON
    }
    type Query { thing(id: ID! = "1"): Thing, must: Thing!, node: Node }
    type Mutation { thing: Thing }
  `,
  resolvers: {
    Query: {
      thing: (_, { id }: { id: string }) => ({ id }),
      must: () => ({ id: 'm' }),
    },
    Mutation: { thing: () => ({ id: '1' }) },
    Node: { __resolveType: () => 'Thing' },
    Thing: {
      late: async () => 'late',
      fails: () => {
        throw new Error('at once');
      },
      failsLate: async () => {
        throw new Error('later');
      },
      thing: async ({ id }: { id: string }) => ({ id: `${id}.` }),
      must: ({ id }: { id: string }) => (id.length > 3 ? null : { id: `${id}!` }),
      things: (_, { count }: { count: number }) =>
        Array.from({ length: count }, (_none, index) => ({ id: `${index}` })),
      holes: () => [null, Promise.resolve({ id: 'p' }), { id: 'q' }],
      echo: (_, args: unknown) => args,
    },
  },
});

// None of these resolvers uses it.
const context = { work: { recount: () => undefined, signal: new AbortController().signal } } as RequestContext;

function read(text: string): { document: DocumentNode; operation: OperationDefinitionNode } {
  const document = parse(text);
  const rules = specifiedRules.filter((rule) => rule !== NoUnusedVariablesRule);
  expect(validate(schema, document, rules)).toEqual([]);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return { document, operation: operation! };
}

const isCompiled = (text: string) => {
  const { document, operation } = read(text);
  return compileOperation(schema, document, operation) !== undefined;
};

const INNER = 'query ($i: Inner, $n: Int, $s: String, $m: [Int!], $j: JSON)';

describe('a compiled query returns the same answer as graphql-js', () => {
  test.each<[string, Record<string, unknown>?]>([
    ['{thing {id name late thing {late thing {id __typename}}} other: thing(id: "2") {name id}}'],
    ['{thing {z: id a: id m: late} thing {b: name z: id}}'],
    [
      '{thing {things {id} more: things(count: 3) {id things(count: 1) {late}} none: things(count: 0) {id} holes {id late}}}',
    ],
    ['{thing {...T thing {...T}}} fragment T on Thing {id late ...U} fragment U on Thing {name things {id}}'],
    ['{thing {... on Thing {id} ... {name}} __typename}'],
    ['{thing {constructor: id toString: id hasOwnProperty: id name}}'],
    ['query ($id: ID!) {thing(id: $id) {id}}', { id: 'x' }],
    ['query ($id: ID! = "d") {thing(id: $id) {id}}'],
    ['query ($id: ID!) {thing(id: $id) {id}}', { id: 5 }],
    ['{thing {echo(inner: {list: "one", inner: {a: 1}}, many: 5, text: "\\"); x(\\n\\u2028${1}")}}'],
    ['{thing {echo(json: {a: [1, 2.5, null, {b: "c"}]})}}'],
    [`${INNER} {thing {echo(inner: $i, many: $m, text: $s, json: $j)}}`],
    [`${INNER} {thing {echo(inner: $i, many: $m, text: $s, json: $j)}}`, { i: null, m: null, s: null, j: null }],
    [`${INNER} {thing {echo(inner: $i, many: $m, text: $s, json: $j)}}`, { i: { list: 'x' }, m: 4, s: '"', j: [0] }],
    [`${INNER} {thing {echo(inner: {a: $n, inner: $i, json: {j: $j, s: $s}})}}`, { s: 's' }],
    [`${INNER} {thing {echo(inner: {a: $n, inner: $i, json: [$j]})}}`, { n: null }],
    ['query ($n: Int = 4) {thing {things(count: $n) {id}}}'],
    ['query ($n: Int) {thing {things(count: $n) {id}}}'],
  ])('%s %j', async (text, variables = {}) => {
    const comparison = newComparison();
    await comparing(comparison)(schema)({ ...read(text), operationName: undefined, variables, context });
    expect(comparison).toEqual({ same: 1, interpretedOnly: 0, differences: [] });
  });

  test.each<[string, Record<string, unknown>?]>([
    ['{thing {id fails}}'],
    ['{thing {id failsLate name}}'],
    ['{thing {a: failsLate b: failsLate fails thing {failsLate}}}'],
    ['{must {failsLate} thing {id}}'],
    ['{thing {holes {failsLate} things {id failsLate}}}'],
    ['{thing {must {must {must {must {id}}}} thing {id}}}'],
    ['query ($id: ID!) {thing(id: $id) {id}}'],
    ['query ($m: [Int!]) {thing {echo(many: $m)}}', { m: [1, null] }],
    ['query ($l: [String!]) {thing {echo(inner: {list: $l, a: 3})}}', { l: 5 }],
    ['query ($id: ID = "x") {thing(id: $id) {id}}', { id: null }],
  ])('with errors: %s %j', async (text, variables = {}) => {
    const execution = { ...read(text), operationName: undefined, variables, context };
    const [quick, slow] = [compiling(schema, { runsBefore: 0 }), interpreting(schema)];
    const answer = await quick(execution);
    expect(answer.errors).not.toBeUndefined();
    expect(JSON.stringify(answer)).toBe(JSON.stringify(await slow(execution)));
  });
});

describe('graphql-js executes', () => {
  test.each([
    ['mutations', 'mutation {thing {id}}'],
    ['directives', 'query ($yes: Boolean!) {thing {id name @include(if: $yes)}}'],
    ['directives on fragments', '{thing {... @skip(if: false) {id}}}'],
    ['interfaces', '{node {id}}'],
    ['fragments on interfaces', '{thing {... on Node {id}}}'],
    ['introspection', '{__schema {queryType {name}}}'],
    ['several operations', 'query A {thing {id}} query B {thing {id}}'],
    ['a name that sets a prototype', '{__proto__: thing {id}}'],
    ['the same inside', '{thing {__proto__: id}}'],
  ])('%s', (_, text) => {
    expect(isCompiled(text)).toBe(false);
  });

  test('long documents, because compiling cannot be interrupted', () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: thing {...F}`).join(' ');
    const fragment = ' fragment F on Thing {things {id name late}}';
    expect(isCompiled(`{${aliases(30)}}${fragment}`)).toBe(true);
    expect(isCompiled(`{${aliases(31)}}${fragment}`)).toBe(false);
  });
});

test('no literal from a client gets into the compiled code', async () => {
  // graphql-jit replaces a string with this prefix by a date, and writes the rest as code.
  const magic = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
  const text = `${magic}globalThis.wasRun = true`;
  const execution = {
    ...read(`{thing {echo(text: ${JSON.stringify(text)}, json: {__proto__: {a: 1}, b: ["${magic}0"]})}}`),
    operationName: undefined,
    variables: {},
    context,
  };
  const { data } = await compiling(schema, { runsBefore: 0 })(execution);
  expect(JSON.stringify(data)).toBe(
    JSON.stringify({ thing: { echo: { json: JSON.parse(`{"__proto__": {"a": 1}, "b": ["${magic}0"]}`), text } } }),
  );
  expect('wasRun' in globalThis).toBe(false);
});

test('an operation is compiled after two runs, and gives the same answer before and after', async () => {
  const run = compiling(schema);
  const execution = { ...read('{thing {id late}}'), operationName: undefined, variables: {}, context };
  const answers = [await run(execution), await run(execution), await run(execution), await run(execution)];
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});
