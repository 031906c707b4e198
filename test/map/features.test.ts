import fc from 'fast-check';
import { expect, test } from 'vitest';

import { markerFeature, markerFeatureText } from '../../src/map/features.js';
import { awkwardMarker } from '../ingest/awkward-markers.js';
import { expectRfc7946 } from '../support/rfc7946.js';

const marker = { collection: 'parks', geohash: 's000000000', mapVersion: 1, mapProperties: {}, complete: true };

test('a feature serialized as text is byte for byte the one serialized from objects', () => {
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

test('the feature of a marker is valid RFC 7946, whatever the marker contains', () => {
  fc.assert(
    fc.property(awkwardMarker, (one) => {
      const text = markerFeatureText({ ...marker, ...one }, one.properties);
      expectRfc7946(text);
      expect(JSON.parse(text).geometry.coordinates).toEqual([one.position.lng, one.position.lat]);
    }),
  );
});
