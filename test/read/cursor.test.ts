import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Grant } from '../../src/model/grant.js';
import { Cursors } from '../../src/read/cursor.js';
import { readFilter } from '../../src/read/filter.js';

const rows = readFilter({ properties: [{ name: 'fleet', eq: 'north' }] });
const granted = (): Grant => ({ rows, hidden: new Set(), cursorSecret: randomBytes(32) });
const position = fc.string({ minLength: 1, maxLength: 300 }).map((key) => `u33dc0tn0h::${key}`);

test('cursors under rows are the same for the same position, hide it, and are read by all servers with the secret', () => {
  const grant = granted();
  const lists = { own: new Cursors(['a'], grant), same: new Cursors(['a'], grant), other: new Cursors(['b'], grant) };
  fc.assert(
    fc.property(position, position, (one, two) => {
      const cursor = lists.own.write(one);
      expect(lists.same.read(cursor)).toBe(one);
      expect(lists.same.write(one)).toBe(cursor);
      expect(Buffer.from(cursor, 'base64url').includes('u33dc0tn0h')).toBe(false);
      // Neither the nonce nor anything else is shared by two positions, and the length tells little.
      if (one !== two) expect(lists.own.write(two).slice(0, 16)).not.toBe(cursor.slice(0, 16));
      expect((Buffer.from(cursor, 'base64url').length - 28) % 64).toBe(0);
      expect(() => lists.other.read(cursor)).toThrow(/a cursor from a page of the same list/);
    }),
  );
});

test('a cursor that was changed, is not encrypted or has another secret is rejected', () => {
  const own = new Cursors(['a'], granted());
  const plain = new Cursors(['a']);
  const cursor = own.write('u33dc0tn0h::key');
  const bytes = Buffer.from(cursor, 'base64url');
  const changed = Array.from(bytes, (byte, index) => {
    const copy = Buffer.from(bytes);
    copy[index] = byte ^ 1;
    return copy.toString('base64url');
  });
  const others = [plain.write('u33dc0tn0h::key'), new Cursors(['a'], granted()).write('u33dc0tn0h::key'), '', 'AAAA'];
  for (const wrong of [...changed, ...others, `${cursor}A`, `${cursor}=`, cursor.slice(0, -1)]) {
    expect(() => own.read(wrong)).toThrow(/a cursor from a page of the same list/);
  }
  expect(() => plain.read(cursor)).toThrow(/a cursor from a page of the same list/);
  expect(own.read(cursor)).toBe('u33dc0tn0h::key');
});
