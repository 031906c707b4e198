import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';

import { Access } from '../../src/access/access.js';
import { readRules } from '../../src/access/rules.js';

const rulesWith = (where: object) => ({ roles: { one: [{ collections: ['cars'], may: ['read'], where }] } });

test('a text that looks like a variable and is none is refused: everything would be unequal to it', () => {
  const rules = rulesWith({ properties: [{ name: 'owner', ne: '$user-id' }] });
  expect(() => readRules(rules)).toThrow(/roles\.one\[0\]\.where: \$user-id is not a variable/);
  const jwt = { jwks: 'https://id.example/jwks', issuer: 'a', audience: 'b', variables: { 'user-id': 'sub' } };
  expect(() => readRules({ roles: {}, jwt })).toThrow(/variables.*named with letters/);
  const long = { ...jwt, variables: {}, issuer: 'a'.repeat(513) };
  expect(() => readRules({ roles: {}, jwt: long })).toThrow(/issuer must have at most 512 characters/);
});

test.each([
  [{}, /where must be left out, or a comparison; got {}$/],
  [{ properties: [] }, /where must be left out, or a comparison; got {"properties":\[\]}$/],
  [
    { properties: [{ name: 'fleet', ne: '$fleet', not: true }] },
    /where\.properties\[0\] must be .*; got "ne and not"$/,
  ],
  [{ properties: [{ name: '$fleet', ne: 'north' }] }, /where must be with variables as values, .*; got "\$fleet"$/],
  [
    { properties: [{ name: 'fleet', ne: { of: '$fleet' } }] },
    /where must be with variables as values, .*; got "\$fleet"$/,
  ],
])('where: %j, by which a rule would allow more than it seems to, is refused', (where, message) => {
  expect(() => readRules(rulesWith(where))).toThrow(message);
});

test('variables may stand for whatever a comparison takes, and for a time', () => {
  const properties = [
    { name: 'a', in: '$one' },
    { name: 'b', eq: '$one' },
    { name: 'c', exists: '$two' },
    { name: 'd', gt: '$constructor' },
  ];
  const rules = readRules(rulesWith({ updatedAfter: '$since', properties }));
  const variables = { one: ['x'], two: true, constructor: 1, since: '2026-11-21T10:00:00Z' };
  const grant = new Access(
    { id: 'a', name: null, roles: ['one'], variables, expiresAt: undefined },
    rules,
    Buffer.of(),
  ).grant('read', 'cars');
  const marker = { category: null, properties: { a: 'x', b: ['x'], c: null, d: 2 } };
  const at = (updatedAt: string) => grant?.rows?.passes({ ...marker, updatedAt } as never);
  expect([at('2026-11-21T10:00:00Z'), at('2026-11-21T10:00:01Z')]).toEqual([false, true]);
  expect(() => readRules(rulesWith({ updatedAfter: 'yesterday' }))).toThrow(
    /roles\.one\[0\]\.where\.updatedAfter must be/,
  );
});

test('a name that shapes would drop is refused', () => {
  const read = (json: string) => () => readRules(JSON.parse(json));
  expect(read('{ "roles": { "__proto__": [] } }')).toThrow('roles must not have the name "__proto__"');
  const jwt = '{ "jwks": "https://a/", "issuer": "a", "audience": "b", "variables": { "__proto__": "fleet" } }';
  expect(read(`{ "roles": {}, "jwt": ${jwt} }`)).toThrow('jwt.variables must not have the name "__proto__"');
});

test('only public keys verify tokens', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const read = (...keys: object[]) => {
    const jwt = { jwks: { keys }, issuer: 'a', audience: 'b' };
    return () => readRules({ roles: {}, jwt });
  };
  expect(read(publicKey.export({ format: 'jwk' }))).not.toThrow();
  expect(read()).toThrow('or an object with keys; got []');
  for (const key of [privateKey.export({ format: 'jwk' }), { kty: 'oct', k: 'AAAA' }, { kty: 'RSA' }, {}]) {
    expect(read(publicKey.export({ format: 'jwk' }), key)).toThrow('jwt.jwks.keys[1] must be a public key');
  }
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

const rules = [{ collections: ['cars'], may: ['write'] }];
const withQuotas = (quotas: unknown) => ({ roles: { one: { rules, quotas } } });

test.each([
  [
    { markersPerCollections: 5 },
    /^roles\.one\.quotas\.markersPerCollections is unknown; the nearest name is markersPerCollection$/,
  ],
  [{ collections: -1 }, /^roles\.one\.quotas\.collections must be a whole number from 0 to 1,000,000,000,000; got -1$/],
  [{ bytesPerMarker: 1.5 }, /quotas\.bytesPerMarker must be a whole number.*; got 1\.5$/],
  [{ markersPerCollection: '20' }, /quotas\.markersPerCollection must be a whole number.*; got "20"$/],
  [{ collections: 2e12 }, /quotas\.collections must be .* 1,000,000,000,000; got 2000000000000$/],
  [20, /^roles\.one\.quotas must be an object with some of collections, .*; got 20$/],
])('the fault of quotas %j is named', (quotas, message) => {
  expect(() => readRules(withQuotas(quotas))).toThrow(message);
});

test('of each quota the largest of the roles counts, unless a principal has its own', () => {
  const read = readRules({
    roles: {
      free: rules,
      small: { rules, quotas: { collections: 0, markersPerCollection: 10 } },
      large: { rules, quotas: { markersPerCollection: 20, bytesPerMarker: 1_000 } },
    },
  });
  const accessOf = (roles: readonly string[], quotas?: object) =>
    new Access({ id: 'a', name: null, roles, variables: {}, expiresAt: undefined, quotas }, read, Buffer.of());
  expect(accessOf(['free']).quotas).toEqual({});
  expect(accessOf(['small', 'free']).quotas).toEqual({ collections: 0, markersPerCollection: 10 });
  expect(accessOf(['small', 'large', 'none']).quotas).toEqual({
    collections: 0,
    markersPerCollection: 20,
    bytesPerMarker: 1_000,
  });
  const own = accessOf(['small', 'large'], { markersPerCollection: 5 });
  expect(own.quotas).toEqual({ collections: 0, markersPerCollection: 5, bytesPerMarker: 1_000 });
  expect(own.fingerprint).not.toBe(accessOf(['small', 'large']).fingerprint);
});

test('keys of an issuer are read by https, or over the loopback', () => {
  const read = (jwks: string) => () => readRules({ roles: {}, jwt: { jwks, issuer: 'a', audience: 'b' } });
  for (const url of [
    'https://id.example/jwks',
    'http://localhost/jwks',
    'http://127.0.0.1:80/',
    'http://[::1]:8080/jwks',
  ])
    expect(read(url)).not.toThrow();
  for (const url of [
    'http://id.example/jwks',
    'http://localhost:80@id.example/',
    'http://localhost.example/',
    'file:///keys',
  ])
    expect(read(url)).toThrow(/jwks must be an https URL/);
});
