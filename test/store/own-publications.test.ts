import fc from 'fast-check';
import { expect, test } from 'vitest';

import { OwnPublications } from '../../src/store/page/own-publications.js';

const HALF_BYTES = 4 * 1024 * 1024;
const scope = fc.constantFrom('parks', 'shops');

test('what an owner has published is known as a whole or not at all', () => {
  const published = fc.record({ scope, isOwn: fc.boolean(), isLarge: fc.boolean() });
  fc.assert(
    fc.property(fc.array(published, { minLength: 1, maxLength: 12 }), scope, fc.nat(12), (all, asked, first) => {
      const own = new OwnPublications();
      // In turns of this process and another one, each publication after a version of its own.
      let began = 0;
      const items = all.map(({ isOwn, isLarge, ...one }, version) => {
        if (isOwn !== all[version - 1]?.isOwn) began = version;
        const item = { pk: one.scope, sk: String(version), d: new Uint8Array(isLarge ? HALF_BYTES : 1) };
        if (isOwn) own.add({ scope: one.scope, version, item });
        return { ...one, version, item, isOwn };
      });
      const to = items.length - 1;
      const found = own.of(asked, first, to, began);
      const right = items.filter((one) => one.scope === asked && one.version >= first).map(({ item }) => item);
      if (found !== undefined) expect(found).toEqual(right);
      if (items.at(-1)?.isOwn !== true || first < began) expect(found).toBeUndefined();
      else if (!all.some(({ isLarge }) => isLarge)) expect(found).toEqual(right);
    }),
  );
});
