import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isWellFormed } from '../../src/keys/escape.js';
import { readProperties } from '../../src/store/marker/properties.js';

/** A name that JSON writes with a backslash. */
const odd = fc
  .tuple(
    fc.constantFrom('"', '\\', '\n', '\r', '\f', '\b', '\t', '\u0000'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  )
  .map((parts) => parts.join(''))
  .filter(isWellFormed);

describe('an odd property name', () => {
  test('is read as it was written, or refused because this Node may misread it', () => {
    let refused = 0;
    let run = 0;
    fc.assert(
      fc.property(odd, odd, (first, second) => {
        // The parser may confuse the second name with the first one, if no third one followed the same names.
        run += 1;
        for (const name of [first, second]) {
          const text = JSON.stringify({ [`run ${run}`]: 1, [name]: 2 });
          try {
            const properties = readProperties('properties', JSON.parse(text));
            expect(Object.keys(properties)).toEqual([`run ${run}`, name]);
          } catch (error) {
            expect(error).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('may misread') });
            refused += 1;
          }
        }
      }),
      { numRuns: 1_000 },
    );
    // These do not misread names.
    if (/^v(20|22)\./.test(process.version)) expect(refused).toBe(0);
  });
});
