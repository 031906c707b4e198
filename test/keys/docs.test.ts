import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { ENTITIES } from '../../src/keys/declarations.js';

// The formatter pads tables.
const page = readFileSync(new URL('../../docs/keys.md', import.meta.url), 'utf8').replace(/ +/g, ' ');

test.each(ENTITIES)('docs/keys.md has a row for $name with its templates in both styles', ({ key, indexes = {} }) => {
  for (const { pk, sk } of [key, ...Object.values(indexes)]) {
    const cells = [...(typeof pk === 'string' ? [pk, pk] : [pk.readable, pk.compact]), sk].map((source) =>
      source === undefined ? '' : `\`${typeof source === 'string' ? source : source.readable}\``,
    );
    expect(page).toContain(`| ${cells.join(' | ')}`.trimEnd());
  }
});
