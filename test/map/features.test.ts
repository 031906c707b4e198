import fc from 'fast-check';
import { expect, test } from 'vitest';

import { markerFeature, markerFeatureText } from '../../src/map/markers/features.js';
import { JsonText, spliced, stringify } from '../../src/map/json-text.js';
import { awkwardMarker } from '../ingest/awkward-markers.js';
import { expectRfc7946 } from '../support/rfc7946.js';

const textOf = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)));
const written = (value: unknown) => String(spliced(stringify(value)));

const marker = { collection: 'parks', mapVersion: 1, mapProperties: {}, complete: true };

test('a feature written as a text is the one written from objects, letter by letter', () => {
  const names = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('key', 'name', 'category', '1', 'a'));
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.option(fc.string({ unit: 'binary' })),
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.double({ min: -90, max: 90, noNaN: true }),
      fc.dictionary(names, fc.jsonValue()),
      (key, name, lng, lat, properties) => {
        const one = { ...marker, key, name, category: name, position: { lng, lat } };
        expect(markerFeatureText(one, properties)).toBe(JSON.stringify(markerFeature(one, properties)));
      },
    ),
  );
});

test('the feature of a marker is what RFC 7946 has, whatever is in the marker', () => {
  fc.assert(
    fc.property(awkwardMarker, (one) => {
      const text = markerFeatureText({ ...marker, ...one }, one.properties);
      expectRfc7946(text);
      expect(JSON.parse(text).geometry.coordinates).toEqual([one.position.lng, one.position.lat]);
    }),
  );
});

test('texts stand in an answer as the values they are, wherever and however often', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.jsonValue(), (values, between) => {
      const around = (list: readonly unknown[]) => ({ a: list, b: [between, { c: list[0], list }], d: list.at(-1) });
      const texts = values.map(textOf);
      expect(written(around(texts))).toBe(JSON.stringify(around(values)));
    }),
  );
});

test('a text alone, no text, and a text met by JSON.stringify are written right', () => {
  const text = textOf({ a: [1, '$&'] });
  expect(written(text)).toBe(text.text);
  expect(written({ a: '$&', b: null })).toBe('{"a":"$&","b":null}');
  expect(JSON.stringify([text])).toBe(`[${text.text}]`);
});

test('an answer that cannot be written leaves the next one alone', () => {
  const text = textOf(1);
  expect(() => stringify([text, 1n])).toThrow(TypeError);
  expect(JSON.stringify(text)).toBe('1');
  expect(written([text])).toBe('[1]');
});
