import { expect, test } from 'vitest';

import { Access } from '../../src/access/access.js';
import { readRules } from '../../src/access/rules.js';

const rulesWith = (where: object) => ({ roles: { one: [{ collections: ['cars'], may: ['read'], where }] } });

test('a text that looks like a variable and is none is refused: everything would be unequal to it', () => {
  const rules = rulesWith({ properties: [{ name: 'owner', ne: '$user-id' }] });
  expect(() => readRules(rules)).toThrow(/roles\.one\[0\]\.where: \$user-id is no variable/);
  const jwt = { jwks: { keys: [] }, issuer: 'a', audience: 'b', variables: { 'user-id': 'sub' } };
  expect(() => readRules({ roles: {}, jwt })).toThrow(/variables.*named by letters/);
});

test('categories may be variables, and names of prototypes are neither roles nor values', () => {
  const rules = readRules(rulesWith({ category: ['$kind'] }));
  const grantOf = (roles: readonly string[], variables: object) =>
    new Access(
      { id: 'a', name: null, roles, variables: { ...variables }, expiresAt: undefined },
      rules,
      Buffer.of(),
    ).grant('read', 'cars');
  const marker = { category: 'bus', properties: {} } as never;
  expect(grantOf(['one'], { kind: 'bus' })?.rows?.passes(marker)).toBe(true);
  expect(grantOf(['one'], { kind: 'car' })?.rows?.passes(marker)).toBe(false);
  expect(grantOf(['one'], {})).toBeUndefined();
  expect(grantOf(['__proto__', 'constructor', 'toString'], { kind: 'bus' })).toBeUndefined();
});
