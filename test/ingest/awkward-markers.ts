import fc from 'fast-check';

import type { Marker } from '../../src/model/marker.js';
import { objectOf } from '../support/any-json.js';

/** The parts of a marker that a file must preserve. */
export type Kept = Pick<Marker, 'key' | 'position' | 'name' | 'category' | 'place' | 'properties'>;

export const kept = ({ key, position, name, category, place, properties }: Kept): Kept => ({
  key,
  position,
  name,
  category,
  place,
  properties,
});

/** Strings that are hard to encode. */
const AWKWARD_TEXTS = [
  '',
  ' ',
  '"',
  '""',
  '"quoted"',
  '"half',
  "it's",
  ',',
  ';',
  '\t',
  '|',
  'a,b;c|d',
  'line\nline',
  'line\r\nline',
  '\r',
  '\n',
  '\ufeff',
  '\ufeffmark',
  'mark\ufeff',
  ' blanks around ',
  '007',
  '1e3',
  '-0',
  '12345678901234567890',
  'NaN',
  'null',
  'true',
  '[]',
  '["a"]',
  '{}',
  '{"a":1}',
  '=1+1',
  'Poznań',
  'naïve 🗺️ 日本語',
  '\u2028\u2029\u0000\u001f\u007f',
  '\\',
  '\\"',
  '__proto__x',
];

const text = fc.oneof(fc.constantFrom(...AWKWARD_TEXTS), fc.string({ unit: 'binary', maxLength: 20 }));

const lng = fc.oneof(
  fc.constantFrom(-180, 180, 0, 179.9999999, -179.99999999999997, 1e-7, 16.933333333333334),
  fc.double({ min: -180, max: 180, noNaN: true }),
);
const lat = fc.oneof(
  fc.constantFrom(-90, 90, 0, 89.99999999999999, -5e-8, 52.40640000000001),
  fc.double({ min: -90, max: 90, noNaN: true }),
);

/** DynamoDB stores no smaller number, and returns -0 as 0. */
const stored = (value: number): number => (Math.abs(value) < 1e-130 ? 0 : value);

const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.1, 1e-7, 1e21 + 0.5, Number.MAX_SAFE_INTEGER, 3.0000000000000004),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number.map(stored).filter((one) => !Number.isInteger(one) || Number.isSafeInteger(one)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(tie('value'), 4),
  ),
})).value;

/** Properties, including some with the names of a marker's attributes. */
const properties = fc
  .tuple(
    objectOf(value, 6),
    fc.dictionary(
      fc.constantFrom('name', 'category', 'place', 'key', 'id', 'lng', 'lat', 'properties', 'type'),
      value,
      {
        maxKeys: 2,
      },
    ),
  )
  .map(([any, named]): Record<string, unknown> => ({ ...any, ...named }));

const place = fc.array(
  fc.oneof(fc.constantFrom('A', '2', '["a"]', '"', 'a;b,c', ' '), fc.string({ minLength: 1, maxLength: 8 })),
  { maxLength: 4 },
);

/** Valid markers whose parts are all as hard to encode as possible. */
export const awkwardMarker: fc.Arbitrary<Kept> = fc.record({
  key: text.filter((one) => one !== ''),
  position: fc.record({ lng: lng.map(stored), lat: lat.map(stored) }),
  name: fc.option(text),
  category: fc.option(text),
  place: place.map((names) => names.map((one) => one.normalize('NFC'))),
  properties,
});

/** Several of them, with distinct keys. */
export const awkwardMarkers = (most: number): fc.Arbitrary<Kept[]> =>
  fc.uniqueArray(awkwardMarker, { selector: ({ key }) => key, maxLength: most });
