import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { TableKeyAttribute } from '../../src/model/collection.js';
import { keyText, parsePath, pathText, readMapping, valueAt, writePath, type Path } from '../../src/sources/mapping.js';
import { primaryKeyOf } from '../../src/sources/primary-key.js';
import {
  formatTemplate,
  joinKey,
  parseTemplate,
  splitByTemplate,
  splitKey,
  splitOneWay,
} from '../../src/sources/template.js';
import { markerOf } from './marker-of.js';

const POSITION = { lng: 'lng', lat: 'lat' };
/** Text with what separates parts, escapes and quotes in it. */
const aText = fc.string({
  unit: fc.constantFrom('a', '1', ':', '#', '%', '/', '.', '[', ']', '"', '{', '}', 'é', '😀', ' '),
});
const aPart = aText.filter((text) => text !== '');
const aPath: fc.Arbitrary<Path> = fc
  .tuple(aPart, fc.array(fc.oneof(aPart, fc.nat(9))))
  .map(([first, rest]) => [first, ...rest]);

describe('paths', () => {
  test('are read as they are written, whatever their names hold', () => {
    fc.assert(
      fc.property(aPath, (path) => {
        expect(parsePath(writePath(path))).toEqual(path);
      }),
    );
    expect(parsePath('a.b[0][12].c d')).toEqual(['a', 'b', 0, 12, 'c d']);
    expect(pathText(['Address.City', 'x', 0])).toBe('Address.City.x[0]');
  });

  test.each([
    '',
    '.a',
    'a.',
    'a..b',
    '[0]',
    'a[x]',
    'a[0]b',
    'a[-1]',
    'a]',
    '[]',
    '[0]',
    '["a", -1]',
    '["a", {}]',
    '["a", null]',
    '["a", 9007199254740993]',
    '["a", 1e400]',
    '["a", 0.5]',
    '["a"',
    '"a[0]"',
    '{"0": ["a"]}',
  ])('%j is none', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });

  test('lead to own entries of maps and lists, and nowhere else', () => {
    const item = {
      a: { b: [{ c: 1 }] },
      text: 'abc',
      bytes: new Uint8Array([7]),
      set: new Set(['x']),
      ['__proto__']: 3,
    };
    expect(valueAt(item, ['a', 'b', 0, 'c'])).toBe(1);
    for (const path of [
      ['a', 'b', 'length'],
      ['text', 0],
      ['bytes', '0'],
      ['bytes', 0],
      ['set', 'size'],
      ['constructor'],
      ['a', 'x', 'y'],
    ]) {
      expect(valueAt(item, path)).toBeUndefined();
    }
  });
});

describe('templates', () => {
  /** Templates of up to three parts, with any text around and some text between them. */
  const aTemplate = fc
    .tuple(aText, fc.array(fc.tuple(fc.constantFrom('key', 'a', 'b'), aPart), { minLength: 1, maxLength: 3 }), aText)
    .filter(([, parts]) => new Set(parts.map(([name]) => name)).size === parts.length)
    .map(([before, parts, behind]) => {
      const doubled = (text: string) => text.replaceAll(/[{}]/g, '$&$&');
      const between = parts.map(([name, text], at) => `{${name}}${at < parts.length - 1 ? doubled(text) : ''}`);
      return doubled(before) + between.join('') + doubled(behind);
    });
  const values = fc.array(aPart, { minLength: 3, maxLength: 3 });

  /** How often a text has another one in it, also where they overlap. */
  function timesIn(text: string, part: string): number {
    let times = 0;
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) times += 1;
    return times;
  }

  test('read what they write, unless the values hold the text between them', () => {
    fc.assert(
      fc.property(aTemplate, values, (source, all) => {
        const template = parseTemplate(source);
        if (template === undefined) throw new Error(source);
        const given = all.slice(0, template.parts.length);
        const text = formatTemplate(template, given);
        const read = splitByTemplate(template, text);
        expect(read && formatTemplate(template, read)).toBe(text);
        const between = template.literals.slice(1, -1);
        if (!between.some((literal) => timesIn(text, literal) > 1)) expect(read).toEqual(given);
        const only = splitOneWay(template, text);
        if (only) expect(only).toEqual(given);
      }),
    );
  });

  test.each(['', '{a}{b}', '{a}-{a}', '{a', 'a}', '{}', '{{a}', 'SHOP#{key}}'])('%j is none', (source) => {
    expect(parseTemplate(source)).toBeUndefined();
  });

  test('take linear time for text that nearly matches', () => {
    const template = parseTemplate('{a}#{b}#{c}#{d}#{e}!');
    expect(template && splitByTemplate(template, '#'.repeat(100_000))).toBeUndefined();
  });

  test('values make one key and come back from it', () => {
    fc.assert(
      fc.property(fc.array(aPart, { minLength: 1, maxLength: 4 }), (given) => {
        expect(splitKey(joinKey(given), given.length)).toEqual(given);
      }),
    );
  });
});

describe('the primary key', () => {
  const TABLE: readonly TableKeyAttribute[] = [
    { name: 'PK', type: 'S' },
    { name: 'SK', type: 'S' },
  ];

  test.each<[string, object]>([
    ['all parts', { items: { PK: 'SHOP#{city}', SK: '{shop}' } }],
    ['one part in both', { items: { PK: '{key}', SK: 'SHOP#{key}' } }],
    ['a key apart', { key: '{PK}#{SK}' }],
    ['a key apart, which tells the rest', { items: { PK: 'SHOP#{key}', SK: 'META' }, key: '{PK}' }],
    ['a key that tells a part', { items: { PK: '{city}#{shop}', SK: '{shop}' }, key: '{PK}' }],
  ])('is that of the item with the marker, or unknown: %s', (_name, mapping) => {
    const compiled = readMapping({ table: 'tab', position: POSITION, ...mapping });
    let known = 0;
    fc.assert(
      fc.property(aPart, aPart, fc.boolean(), (pk, sk, isSame) => {
        const [PK, SK] = isSame ? [`SHOP#${pk}`, 'META'] : [`SHOP#${pk}`, sk];
        const items = [
          { PK, SK },
          { PK: pk, SK: `SHOP#${pk}` },
          { PK: `${pk}#${sk}`, SK: sk },
          { PK: pk.replaceAll('#', '-'), SK: sk.replaceAll('#', '-') },
        ];
        for (const item of items) {
          const read = markerOf(compiled, { ...item, lng: 1, lat: 2 }, 0);
          const primaryKey = read.kind === 'marker' ? primaryKeyOf(compiled, TABLE, read.key) : undefined;
          if (primaryKey === undefined) continue;
          known++;
          expect(primaryKey).toEqual(item);
        }
      }),
    );
    expect(known).toBeGreaterThan(0);
  });

  test('any text that is no key of a marker has none', () => {
    const compiled = readMapping({ table: 'tab', position: POSITION, items: { PK: '{a}#{b}', SK: '{c}' } });
    expect(primaryKeyOf(compiled, TABLE, 'a::b::c')).toEqual({ PK: 'a#b', SK: 'c' });
    // Of the item with PK a#b#c, the parts are a and b#c.
    for (const key of ['a#b::c::d', 'a::b', 'a::b::c::d', '::b::c', 'a%3a::b::c', '']) {
      expect(primaryKeyOf(compiled, TABLE, key)).toBeUndefined();
    }
    const whole = readMapping({ table: 'tab', position: POSITION, key: '{PK}#{SK}' });
    expect(primaryKeyOf(whole, TABLE, 'a#b')).toEqual({ PK: 'a', SK: 'b' });
    expect(primaryKeyOf(whole, TABLE, 'a#b#c')).toBeUndefined();
    const other = readMapping({ table: 'tab', position: POSITION, key: '{itemId}' });
    expect(primaryKeyOf(other, TABLE, 'a')).toBeUndefined();
  });

  test('has numbers and bytes exactly', () => {
    const compiled = readMapping({ table: 'tab', position: POSITION, items: { id: '{key}' } });
    const back = (type: TableKeyAttribute['type'], key: string) =>
      primaryKeyOf(compiled, [{ name: 'id', type }], key)?.['id'];
    fc.assert(
      fc.property(
        fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e120, max: 1e120 }), fc.bigInt()),
        (any) => {
          // As the store reads them.
          const number =
            typeof any === 'bigint'
              ? Number.isSafeInteger(Number(any))
                ? Number(any)
                : any
              : Number.isInteger(any) && !Number.isSafeInteger(any)
                ? BigInt(any)
                : any + 0;
          const text = keyText(number) ?? '';
          expect(text).toMatch(/^-?\d+(\.\d+)?$/);
          expect(Number(text)).toBe(Number(number));
          const digits = text.replaceAll(/[-.]|(?<=^-?)0+|0+$/g, '');
          if (digits.length <= 38) expect(back('N', text)).toBe(number);
        },
      ),
    );
    expect(keyText(1e-7)).toBe('0.0000001');
    expect(back('N', '0.12345678901234567890123')).toBe('0.12345678901234567890123');
    for (const text of ['007', '1.50', '+1', '-0', '1e3', '', 'x', '1'.repeat(39)])
      expect(back('N', text)).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        expect(back('B', keyText(bytes) ?? '')).toEqual(bytes);
      }),
    );
    expect(back('B', 'AQ')).toBeUndefined();
  });
});
