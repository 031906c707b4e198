import fc from 'fast-check';
import { expect, test } from 'vitest';

import { JsonText, spliced, stringify } from '../../src/graphql/json-text.js';

const textOf = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)));
const written = (value: unknown) => String(spliced(stringify(value)));

test('serialized JSON text is embedded as its value, wherever and however often it occurs in a response', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.jsonValue(), (values, between) => {
      const around = (list: readonly unknown[]) => ({ a: list, b: [between, { c: list[0], list }], d: list.at(-1) });
      const texts = values.map(textOf);
      expect(written(around(texts))).toBe(JSON.stringify(around(values)));
    }),
  );
});

test('JSON text alone, a response without any, and JSON text passed to JSON.stringify are serialized correctly', () => {
  const text = textOf({ a: [1, '$&'] });
  expect(written(text)).toBe(text.text);
  expect(written({ a: '$&', b: null })).toBe('{"a":"$&","b":null}');
  expect(JSON.stringify([text])).toBe(`[${text.text}]`);
});

test('a response that cannot be serialized does not affect the next one', () => {
  const text = textOf(1);
  expect(() => stringify([text, 1n])).toThrow(TypeError);
  expect(JSON.stringify(text)).toBe('1');
  expect(written([text])).toBe('[1]');
});
