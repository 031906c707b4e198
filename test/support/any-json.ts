import fc from 'fast-check';

import { readsKeysOf } from './json-keys.js';

/** Names that JavaScript, the SDK, DynamoDB or a file format could misinterpret. */
const HOSTILE_NAMES = [
  '',
  '\0',
  '\0\0',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  'name',
  'Title',
  'id',
  'S',
  'M',
  'NULL',
  'a.b',
  '[0]',
  '$ref',
  '#0',
  ':pk',
  '"',
  "'",
  '\\',
  '\\n',
  ' ',
  '\n',
  '1',
  'ключ',
  '🗝',
];

const anyName = fc
  .oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string({ unit: 'binary', maxLength: 12 }))
  .filter(readsKeysOf);

/** Numbers that DynamoDB stores without loss; JSON has no -0. */
const number = fc.oneof(
  fc.integer(),
  fc.constantFrom(0.1, 1e-7, 1e21 + 0.5, Number.MAX_SAFE_INTEGER, -1e-130).filter((one) => !(one > 2 ** 53)),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
    .map((one) => (Math.abs(one) < 1e-130 ? 0 : one)),
);

/** Objects with any names. */
export const objectOf = <T>(value: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<Record<string, T>> =>
  // Unlike an assignment, this creates an entry `__proto__`.
  fc.array(fc.tuple(anyName, value), { maxLength }).map((entries) => Object.fromEntries(entries));

/** Values that code could mistake for a class instance or a marshalled value. */
const LOOKALIKES = ['Set', 'Map', 'Object', 'Number', 'String', 'Buffer', 'Uint8Array', 'BigInt'].map((name) => ({
  constructor: { name },
}));

const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: 'binary' }),
    number,
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom<unknown>(...LOOKALIKES, { S: 'x' }, { toJSON: 1 }),
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(tie('value'), 4),
  ),
})).value;

/** Properties of a marker or zone: any JSON object with any names. */
export const anyProperties = objectOf(anyValue, 6);

/** Values of a reading. */
export const anyReading = fc
  .array(fc.tuple(anyName, fc.oneof(number, fc.string({ unit: 'binary' }))), { minLength: 1, maxLength: 6 })
  .map((entries): Record<string, unknown> => Object.fromEntries(entries));

/** A value with the entries of its objects as sorted lists: equal exactly if the values have the same names and values. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, entry]) => [name, canonical(entry)] as const);
  return { entries: entries.sort(([a], [b]) => (a < b ? -1 : 1)) };
}
