import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareBytes } from '../../src/keys/byte-order.js';

test('strings compare by UTF-8 bytes, including characters beyond U+FFFF and private ones', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'z', ':', ';', 'é', '\ud7ff', '\ue000', '\uff5e', '😀', '𐀀') });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
