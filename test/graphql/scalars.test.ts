import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parseValue, type ValueNode } from 'graphql';
import { describe, expect, test } from 'vitest';

import { scalars } from '../../src/graphql/scalars.js';

const literal = (name: keyof typeof scalars, text: string, variables = {}): unknown =>
  scalars[name].parseLiteral(parseValue(text) as ValueNode, variables);

describe('DateTime', () => {
  test.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.123456Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z'],
    ['2024-02-29T23:59:59-01:00', '2024-03-01T00:59:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('reads %s as the instant %s in UTC', (given, instant) => {
    expect(scalars.DateTime.parseValue(given)).toBe(instant);
    expect(literal('DateTime', JSON.stringify(given))).toBe(instant);
  });

  test.each([
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00+25:00',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '',
    'now',
    1_700_000_000_000,
    null,
    {},
  ])('rejects %j, and shows the expected format', (value) => {
    expect(() => scalars.DateTime.parseValue(value)).toThrow('RFC 3339');
  });

  test('parses every instant that it formats', () => {
    const instants = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (date) => {
        expect(scalars.DateTime.parseValue(date.toISOString())).toBe(date.toISOString());
      }),
    );
  });
});

test.each(['Latitude', 'Longitude'] as const)('%s passes on whatever is sent, in variables and in literals', (name) => {
  for (const value of [180, -540, 0.1 + 0.2, '5', true, null, [1], { a: 1 }]) {
    expect(scalars[name].parseValue(value)).toEqual(value);
    const text = JSON.stringify(value).replaceAll('"a"', 'a');
    expect(JSON.stringify(literal(name, text))).toBe(JSON.stringify(value));
  }
  expect(literal(name, '1e999')).toBe(Infinity);
});

describe('JSON', () => {
  test('has the same value as a literal and as a variable', () => {
    const values = fc.jsonValue({ noUnicodeString: false }).filter((value) => !JSON.stringify(value).includes('e'));
    /** A JSON value as a GraphQL literal: its keys are names, not strings. */
    const written = (value: unknown): string => {
      if (Array.isArray(value)) return `[${value.map(written).join(' ')}]`;
      if (typeof value !== 'object' || value === null) return JSON.stringify(value);
      return `{${Object.entries(value)
        .map(([, inner], index) => `k${index}: ${written(inner)}`)
        .join(' ')}}`;
    };
    const renamed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(renamed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.values(value).map((inner, index) => [`k${index}`, renamed(inner)]));
    };
    fc.assert(
      fc.property(values, (value) => {
        fc.pre(!/\d{16}|-0(?!\.)/.test(JSON.stringify(value)) && !Object.is(value, -0));
        expect(JSON.stringify(literal('JSON', written(value)))).toBe(JSON.stringify(renamed(value)));
      }),
    );
  });

  test('accepts variables inside literals', () => {
    expect(literal('JSON', '{a: [1 $x]}', { x: { b: 2 } })).toEqual({ a: [1, { b: 2 }] });
  });

  test('never loses digits silently', () => {
    expect(literal('JSON', '9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => literal('JSON', '{id: [9007199254740993]}')).toThrow('53 bits');
    expect(() => literal('JSON', '1e999')).toThrow('1.8e308');
  });
});

test('a JSON literal equals the same value as a variable, whatever its names', () => {
  const text = '{a: [{b: null}], __proto__: {c: 1}, constructor: {name: "Set"}, toString: 2}';
  const json = JSON.parse(text.replace(/(\w+):/g, '"$1":')) as unknown;
  expect(isDeepStrictEqual(literal('JSON', text), scalars.JSON.parseValue(json))).toBe(true);
});

describe('JSONObject and GeoJSON', () => {
  test('accept objects only, GeoJSON those of a known type', () => {
    expect(scalars.JSONObject.parseValue({ a: null })).toEqual({ a: null });
    expect(literal('JSONObject', '{a: null}')).toEqual({ a: null });
    for (const value of [[], 'a', 1, null]) expect(() => scalars.JSONObject.parseValue(value)).toThrow('a JSON object');
    const point = { type: 'Point', coordinates: [1, 2] };
    expect(scalars.GeoJSON.parseValue(point)).toEqual(point);
    expect(literal('GeoJSON', '{type: "Point" coordinates: [1 2]}')).toEqual(point);
    for (const value of [{}, { type: 'Circle' }, [point], 'Point']) {
      expect(() => scalars.GeoJSON.parseValue(value)).toThrow('FeatureCollection');
    }
  });
});

describe('Geohash', () => {
  test('reads upper case as lower case and rejects invalid geohashes', () => {
    expect(scalars.Geohash.parseValue('U33DC')).toBe('u33dc');
    expect(literal('Geohash', '"U33DC"')).toBe('u33dc');
    for (const value of ['', 'a', 'u33dcu33dcu33', 5, null]) {
      expect(() => scalars.Geohash.parseValue(value)).toThrow('0123456789bcdefghjkmnpqrstuvwxyz');
    }
  });
});
