import fc from 'fast-check';

const TROUBLE = [
  ':',
  '::',
  ':::',
  ';',
  ':;',
  '#',
  '%',
  '%3A',
  '%23',
  '%25',
  '%2',
  '%3a',
  'self',
  'total',
  '{',
  '}',
  '*',
  '/',
  '\\',
  ' ',
  '\u0000',
  '\n',
  'é',
  'e\u0301',
  '😀',
  '\uFFFF',
  'Z',
  'z',
  '--',
  '0',
];

/** Strings that are difficult for a key convention, and any other well-formed ones. */
export const nasty = fc.oneof(
  fc.array(fc.constantFrom(...TROUBLE), { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }),
  fc.string({ minLength: 1, maxLength: 20 }),
);

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'.split('');

/** A collection's code. */
export const code = fc.stringMatching(/^[0-9A-Za-z]{2}$/);

export const geohash = (length: number) =>
  fc.string({ minLength: length, maxLength: length, unit: fc.constantFrom(...ALPHABET) });

/** UTF-8 byte order, which is DynamoDB's. */
export const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));

/** The items that DynamoDB's BETWEEN includes. */
export const isBetween = (text: string, { from, to }: { from: string; to: string }) =>
  byBytes(from, text) <= 0 && byBytes(text, to) <= 0;
