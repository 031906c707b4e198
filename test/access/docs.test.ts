import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { readRules } from '../../src/access/rules.js';

const text = readFileSync(new URL('../../docs/access.md', import.meta.url), 'utf8');
const examples = Array.from(text.matchAll(/^```json\n(.*?)^```/gms), ([, json = '']) => json);

test('docs/access.md has examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4);
});

test.each(examples)('these rules of docs/access.md are accepted: %s', (json) => {
  const { roles } = readRules(JSON.parse(json));
  expect(Object.values(roles).flatMap(({ rules }) => rules)).not.toEqual([]);
});
