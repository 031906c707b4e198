import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../../src/errors.js';
import { readDocument } from '../../../src/graphql/limits/document-limits.js';
import { DEFAULT_LIMITS, type Limits } from '../../../src/model/limits.js';

function refusal(source: string, limits: Partial<Limits> = {}): CellportError | undefined {
  try {
    readDocument(source, { ...DEFAULT_LIMITS, ...limits });
    return undefined;
  } catch (error) {
    if (error instanceof CellportError) return error;
    throw error;
  }
}

const nested = (depth: number) => `${'{a'.repeat(depth)}${'}'.repeat(depth)}`;

describe('a document is rejected before validation', () => {
  test('for nested fields, from the first level beyond the limit', () => {
    expect(refusal(nested(12))).toBeUndefined();
    expect(refusal(nested(13))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'depth of the query is 13, the limit is 12: nest fewer fields',
      details: { field: 'depth of the query', value: 13, limit: 12 },
    });
  });

  test('for depth that comes from fragments alone', () => {
    const source = '{a{...A}} fragment A on T{b{... on U{c{...B}}}} fragment B on T{d{e}}';
    expect(refusal(source, { maxDepth: 5 })).toBeUndefined();
    expect(refusal(source, { maxDepth: 4 })?.details).toMatchObject({ value: 5 });
  });

  test('for its aliases, counted wherever fragments are spread', () => {
    const source = '{x{...A} y{...A}} fragment A on T{p:b q:c}';
    expect(refusal(source, { maxAliases: 4 })).toBeUndefined();
    expect(refusal(source, { maxAliases: 3 })?.details).toMatchObject({
      field: 'number of aliases in the query',
      value: 4,
    });
    expect(refusal(`{${Array.from({ length: 201 }, (_, index) => `a${index}:a`).join(' ')}}`)?.code).toBe(
      'LIMIT_EXCEEDED',
    );
  });

  test('for its fields: 2,000 identical ones never reach validation, which would compare them', () => {
    expect(refusal(`{${Array.from({ length: 1_000 }, (_, index) => `a${index}`).join(' ')}}`)).toBeUndefined();
    expect(refusal(`{${'a '.repeat(2_000)}}`)?.details).toMatchObject({
      field: 'number of fields in the query',
      value: 2_000,
    });
  });

  test('for fields that merge into one, at the top, deeper down, or by fragments', () => {
    const equal = { details: { field: 'number of identical fields in one selection of the query', limit: 50 } };
    expect(refusal(`{${'a '.repeat(50)}}`)).toBeUndefined();
    expect(refusal(`{${'a '.repeat(51)}}`)).toMatchObject(equal);
    expect(refusal(`{${'a{b c} '.repeat(51)}}`)).toMatchObject(equal);
    expect(refusal(`{${`a{${'b '.repeat(10)}} `.repeat(6)}}`)).toMatchObject(equal);
    expect(refusal(`{${'...F '.repeat(6)}} fragment F on T{${'... on U{b} '.repeat(10)}}`)).toMatchObject(equal);
    expect(refusal(`{a} fragment F on T{${'b '.repeat(51)}}`)).toMatchObject(equal);
    const apart = Array.from({ length: 150 }, (_, index) => `v${index}:v{a b c}`).join(' ');
    expect(refusal(`{${apart}}`), 'the same names at different places are no trouble').toBeUndefined();
  });

  test('for fields of unused fragments and of operations that are not executed', () => {
    expect(refusal(`{a} fragment F on T {${'a '.repeat(1_001)}}`)?.details).toMatchObject({ value: 1_002 });
    expect(refusal(`query A{a} query B{${'a '.repeat(1_000)}}`)?.details).toMatchObject({ value: 1_001 });
  });

  test('for its tokens, of any kind', () => {
    expect(refusal(`{a(b:[${'1 '.repeat(8_001)}])}`)?.details).toMatchObject({
      field: 'number of tokens in the query',
      limit: 8_000,
    });
    expect(refusal(`{a${'@b'.repeat(5_000)}}`)?.details).toMatchObject({ field: 'number of tokens in the query' });
    expect(refusal(`{a(b:"${'1 '.repeat(10_000)}")}`), 'a long text is one token').toBeUndefined();
  });

  test('for its size in bytes, before it is parsed', () => {
    const size = { field: 'size of the query', limit: 1_024 };
    const limits = { maxDocumentBytes: 1_024 };
    expect(refusal(`{a}#${'x'.repeat(1_020)}`, limits)).toBeUndefined();
    expect(refusal(`{a}#${'x'.repeat(1_021)}`, limits)?.details).toMatchObject(size);
    expect(refusal(`{a}#${'å'.repeat(511)}`, limits)?.details, 'in UTF-8').toMatchObject({ ...size, value: 1_026 });
    expect(refusal('{'.repeat(100_000))?.details).toMatchObject({ field: 'size of the query' });
  });

  test('for overlong names, because messages repeat them', () => {
    expect(refusal(`{${'a'.repeat(250)}}`)).toBeUndefined();
    for (const source of ['{#}', 'query #{a}', '{a(#:1)}', '{a @#}', '{#:a}', 'query($#:Int){a}', '{...#}']) {
      const found = refusal(source.replace('#', 'a'.repeat(251)));
      expect(found?.details).toEqual({ field: 'length of a name in the query', value: 251, limit: 250 });
    }
  });

  test('for values in fragments, counted each time they are used, and for its operations', () => {
    const list = `a(b:[${'1 '.repeat(99)}] c:{d:1}) @e(f:1)`;
    const queries = (count: number) => Array.from({ length: count }, (_, index) => `query Q${index}{...F}`).join(' ');
    expect(refusal(`${queries(8)} fragment F on T{${list}}`, { maxTokens: 832 })).toBeUndefined();
    expect(refusal(`${queries(8)} fragment F on T{${list}}`, { maxTokens: 831 })?.details).toEqual({
      field: 'number of values in the query',
      value: 832,
      limit: 831,
    });
    expect(refusal(`${queries(100)} fragment F on T{a}`)).toBeUndefined();
    expect(refusal(`${queries(101)} fragment F on T{a}`)?.details).toMatchObject({
      field: 'number of operations in the query',
    });
  });

  test('for the total of comparisons of identical fields', () => {
    const places = (count: number) =>
      `{${Array.from({ length: count }, (_, at) => `p${at}{${'a '.repeat(25)}}`).join(' ')}}`;
    const field = 'number of comparisons of identical fields and fragments in the query';
    expect(refusal(places(16))).toBeUndefined();
    expect(refusal(places(17))?.details).toEqual({ field, value: 17 * 25 * 24, limit: 10_000 });
    expect(refusal(`{${'a(b:[1 2 3]) '.repeat(34)}}`)?.details, 'arguments are compared, too').toMatchObject({ field });
    expect(refusal(`{${Array.from({ length: 101 }, (_, at) => `...F${at}`).join(' ')}}`)?.details).toMatchObject({
      field,
    });
  });

  test('for brackets that would overflow the parser’s stack', () => {
    const limits = { maxTokens: 1_000_000, maxDocumentBytes: 1_000_000 };
    expect(refusal(`{a(b:${'['.repeat(400_000)}`, limits)?.details).toMatchObject({
      field: 'nesting of brackets in the query',
    });
    expect(refusal(nested(100_000), limits)?.details).toMatchObject({ field: 'nesting of brackets in the query' });
  });
});

describe('fragments are expanded safely', () => {
  test('sixty that each spread the next one twice are counted without delay, and rejected', () => {
    const fragments = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on T{...F${index + 1} ...F${index + 1}}`,
    );
    const found = refusal(`{...F0} ${fragments.join(' ')} fragment F60 on T{a}`);
    expect(found?.details).toMatchObject({ field: 'number of fields in the query' });
    expect(found?.details['value']).toBeGreaterThan(2 ** 59);
  });

  test.each([
    ['into itself', '{...A} fragment A on T{a{...A}}'],
    ['into one another', '{...A} fragment A on T{...B} fragment B on T{b{...C}} fragment C on T{...A ...B}'],
    ['that are not there', '{...Nobody}'],
  ])('spread %s, they terminate and are left to validation', (_name, source) => {
    expect(refusal(source)).toBeUndefined();
  });

  test('that all spread each other take a bounded number of steps', () => {
    const names = Array.from({ length: 40 }, (_, index) => `F${index}`);
    const spreads = names.map((name) => `...${name}`).join(' ');
    const source = `{...F0} ${names.map((name) => `fragment ${name} on T{a ${spreads}}`).join(' ')}`;
    expect(() => refusal(source, { maxFields: 1_000_000 })).not.toThrow();
  });

  test('the order of fragments in the document does not change the counts', () => {
    const names = ['A', 'B', 'C', 'D'];
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)).filter(([from, to]) => from < to),
          { maxLength: 8 },
        ),
        fc.shuffledSubarray(names, { minLength: 4 }),
        (spreads, order) => {
          const fragment = (name: string) =>
            `fragment ${name} on T{x:a ${spreads.flatMap(([from, to]) => (from === name ? [`...${to}`] : [])).join(' ')}}`;
          const value = (text: string) => refusal(text, { maxAliases: 0 })?.details['value'];
          expect(value(`{...A} ${order.map(fragment).join(' ')}`)).toBe(
            value(`{...A} ${names.map(fragment).join(' ')}`),
          );
        },
      ),
    );
  });
});

describe('a document is not rejected', () => {
  test('for introspection, however deep its types are nested', () => {
    expect(refusal(`{__schema{types{fields{type${'{ofType'.repeat(9)}{name}${'}'.repeat(9)}}}}}`)).toBeUndefined();
  });

  test('for a syntax error, which is left to the parser', () => {
    expect(() => refusal('{')).toThrow(GraphQLError);
    expect(() => refusal('}}}}')).toThrow(GraphQLError);
    expect(() => refusal('')).toThrow(GraphQLError);
    expect(() => refusal('{a(b:"')).toThrow(GraphQLError);
  });
});
