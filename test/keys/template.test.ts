import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { escapePart, unescapePart } from '../../src/keys/escape.js';
import { compileTemplate } from '../../src/keys/template.js';
import { isBetween, nasty } from './nasty.js';

const compile = <const T extends string>(source: T, role: 'partition' | 'sort' = 'sort') =>
  compileTemplate({ source, role, owner: 'thing' });

describe('escaping', () => {
  test.each([
    ['parks', 'parks'],
    ['2026-11-21T10:48:31.000Z', '2026-11-21T10:48:31.000Z'],
    ['Poznań; Stary Rynek/3', 'Poznań; Stary Rynek/3'],
    ['UPPER', 'UPPER'],
    ['a::b', 'a%3A%3Ab'],
    [':a:', '%3Aa%3A'],
    ['a:;b', 'a%3A;b'],
    ['50%', '50%25'],
    ['a%3Ab', 'a%253Ab'],
    ['a#b', 'a%23b'],
  ])('%j is written as %j in a sort key', (part, text) => {
    expect(escapePart(part, 'sort')).toBe(text);
    expect(unescapePart(text, 'sort')).toBe(part);
  });

  test('a partition key keeps its #, because document IDs are split at the last one', () => {
    expect(escapePart('a#b', 'partition')).toBe('a#b');
    expect(unescapePart('a%23b', 'partition')).toBeUndefined();
  });

  test.each(['a%3Ab', '%41', '%2', '%', 'a%3ab', 'a:', ':a', 'a#b', 'a:;'])(
    '%j is not a valid escaped part',
    (text) => {
      expect(unescapePart(text, 'sort')).toBeUndefined();
    },
  );
});

describe('templates', () => {
  const templates = [
    ['{a}', ['a']],
    ['{a}::{b}', ['a', 'b']],
    ['thing::{a}::{b}', ['a', 'b']],
    ['{a}::thing::{b}', ['a', 'b']],
    ['v{a}.txt::{b}-', ['a', 'b']],
    ['Xx#{a}::{b}', ['a', 'b']],
  ] as const;

  test.each(templates)('%s: parse(format(x)) = x for nasty parts', (source, names) => {
    const key = compile(source, 'partition');
    fc.assert(
      fc.property(fc.record(Object.fromEntries(names.map((name) => [name, nasty]))), (parts) => {
        expect(key.parse(key.format(parts as never))).toEqual(parts);
      }),
    );
  });

  test('lists of any length may be anywhere among other parts', () => {
    for (const source of ['{a}::{list*}::{b}', '{list*}::{a}::{b}', '{a}::{b}::{list*}'] as const) {
      const key = compile(source);
      fc.assert(
        fc.property(nasty, nasty, fc.array(nasty, { maxLength: 4 }), (a, b, list) => {
          expect(key.parse(key.format({ a, b, list }))).toEqual({ a, b, list });
        }),
      );
    }
  });

  test('no key has two spellings: every parsed key is formatted to the same string', () => {
    const templated = ['{a}::{b}', 'thing::{a}', '{a:2}Ma#{b}', '{a}::{list*}'].map((source) =>
      compileTemplate<string>({ source, role: 'partition', owner: 'thing', mayBeEmpty: ['b'] }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...templated), fc.array(nasty, { maxLength: 4 }), (key, pieces) => {
        for (const text of [pieces.join('::'), `thing::${pieces.join('')}`, `ShMa#${pieces.join('')}`]) {
          const parts = key.parse(text);
          expect(parts ? key.format(parts) : text).toBe(text);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('different parts never produce the same key', () => {
    const key = compile('{a}::{b}');
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (a, b, c, d) => {
        expect(key.format({ a, b }) === key.format({ a: c, b: d })).toBe(a === c && b === d);
      }),
    );
  });

  test('a range of leading parts contains exactly the keys that begin with them', () => {
    const key = compile('{list*}::{last}');
    const place = fc.array(nasty, { minLength: 1, maxLength: 3 });
    const near = place.chain((under) =>
      fc.tuple(
        fc.constant(under),
        fc.oneof(
          place,
          fc.array(nasty, { maxLength: 2 }).map((more) => [...under, ...more]),
          nasty.map((more) => [...under.slice(0, -1), (under.at(-1) ?? '') + more]),
        ),
        nasty,
      ),
    );
    fc.assert(
      fc.property(near, ([under, list, last]) => {
        const path = [...list, last];
        const inside = path.length > under.length && under.every((name, index) => path[index] === name);
        expect(isBetween(key.format({ list, last }), key.rangeUnder({ list: under }))).toBe(inside);
      }),
      { numRuns: 3000 },
    );
  });

  test('a range needs the parts that the key begins with', () => {
    expect(compile('aside::{sequence}').rangeUnder({})).toEqual({ from: 'aside::', to: 'aside:;' });
    expect(() => compile('{a}::{b}').rangeUnder({ b: 'x' })).toThrow('requires its leading parts');
  });

  test.each([
    ['', 'is ambiguous'],
    ['{a}{b}', 'is ambiguous'],
    ['{a}x{b}', 'is ambiguous'],
    ['a::::{b}', 'is ambiguous'],
    ['{a', 'is ambiguous'],
    ['{a b}', 'is ambiguous'],
    ['x{a*}', 'is ambiguous'],
    ['100%::{a}', 'is ambiguous'],
    ['a#{a}', 'is ambiguous'],
    ['{a}::{a}', 'names a part twice'],
    ['{a*}::{b*}', 'has two lists'],
  ])('the template %j is rejected', (source, reason) => {
    expect(() => compileTemplate<string>({ source, role: 'sort', owner: 'thing' })).toThrow(reason);
  });
});

describe('a value that does not fit into a key', () => {
  const key = compile('thing::{a}::{b}');

  test.each([
    [{ a: '', b: 'x' }, 'thing.a must be non-empty text; got ""'],
    [{ a: 'x' }, 'thing.b must be non-empty text; got undefined'],
    [{ a: 'x', b: 7 }, 'thing.b must be non-empty text; got 7'],
    [{ a: 'x', b: '\uD800' }, 'thing.b must be well-formed Unicode'],
  ])('%j is rejected with the name of the part', (parts, message) => {
    expect(() => key.format(parts as never)).toThrow(message);
  });

  test('a part of fixed width must have exactly that many characters, none of them escaped', () => {
    const scoped = compile('{scope:2}Ma#{key}', 'partition');
    for (const scope of ['S', 'Shh', '::', 'S%', '']) {
      expect(() => scoped.format({ scope, key: 'k' })).toThrow('thing.scope must be');
    }
  });

  test.each([
    ['partition', 2048],
    ['sort', 1024],
  ] as const)('a %s key may have up to %d bytes of UTF-8', (role, limit) => {
    const fits = compile('thing::{a}::{b}', role);
    const a = 'é'.repeat((limit - 'thing::::x'.length) / 2);
    expect(Buffer.byteLength(fits.format({ a, b: 'x' }))).toBe(limit);
    expect(fits.parse(fits.format({ a, b: 'x' }))).toEqual({ a, b: 'x' });
    expect(fits.parse(`${fits.format({ a, b: 'x' })}y`)).toBeUndefined();
    expect(() => fits.format({ a, b: 'xy' })).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        details: expect.objectContaining({
          field: 'thing.a',
          allowed: `short enough for a ${role} key of at most ${limit} bytes (it would have ${limit + 1})`,
        }),
      }),
    );
  });
});
