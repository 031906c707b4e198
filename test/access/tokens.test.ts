import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTHeaderParameters } from 'jose';
import { expect, test } from 'vitest';

import { Tokens } from '../../src/access/tokens.js';

const [own, second, foreign] = await Promise.all([
  generateKeyPair('ES256', { extractable: true }),
  generateKeyPair('ES256', { extractable: true }),
  generateKeyPair('ES256', { extractable: true }),
]);
const keys = [
  { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256' },
  { ...(await exportJWK(second.publicKey)), kid: 'two', alg: 'ES256' },
];
const NOW = Date.parse('2026-11-28T12:00:00Z');
const AT = NOW / 1_000;
const CLAIMS = { sub: 'ann', iss: 'i', aud: 'maps', iat: AT, exp: AT + 60, roles: ['admin'] };
const tokens = new Tokens({
  jwks: { keys: keys as never },
  issuer: 'i',
  audience: 'maps',
  roles: 'roles',
  variables: {},
});

const signed = (
  claims: object,
  header: JWTHeaderParameters = { alg: 'ES256', kid: 'one' },
  key: Parameters<SignJWT['sign']>[0] = own.privateKey,
) => new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader(header).sign(key);
const ES = { alg: 'ES256', kid: 'one' } as const;
const secret = (text: string) => new TextEncoder().encode(text);

test('a token counts with its issuer’s signature, also among several audiences and clocks that differ by less than a minute', async () => {
  for (const claims of [{}, { aud: ['other', 'maps'] }, { exp: AT - 50 }, { nbf: AT + 50 }]) {
    const { subject, principal } = await tokens.verify(await signed(claims), NOW);
    expect([subject, principal.roles]).toEqual(['ann', ['admin']]);
  }
});

test('a forged token is refused, and so is one that is not for here or now', async () => {
  const jwk = await exportJWK(foreign.publicKey);
  const [head, body, signature] = (await signed({})).split('.');
  const other = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'root' })).toString('base64url');
  const forged: Record<string, string> = {
    'no signature': new UnsecuredJWT(CLAIMS).encode(),
    'signature cut off': `${head}.${body}.`,
    'other claims': `${head}.${other}.${signature}`,
    'the public key as a secret': await signed(
      {},
      { alg: 'HS256', kid: 'one' },
      secret(await exportSPKI(own.publicKey)),
    ),
    'the JWK as a secret': await signed({}, { alg: 'HS256', kid: 'one' }, secret(JSON.stringify(keys[0]))),
    'a foreign key of the same name': await signed({}, ES, foreign.privateKey),
    'a key of its own': await signed({}, { ...ES, jwk }, foreign.privateKey),
    'an address of keys': await signed({}, { ...ES, jku: 'http://127.0.0.1:1/keys' }, foreign.privateKey),
    'another name': await signed({}, { alg: 'ES256', kid: 'three' }),
    'no name, and several keys': await signed({}, { alg: 'ES256' }),
    expired: await signed({ exp: AT - 61 }),
    'not yet': await signed({ nbf: AT + 61 }),
    'for ever': await signed({ exp: undefined }),
    'of nobody': await signed({ sub: undefined }),
    'of a number': await signed({ sub: 42 }),
    'of another issuer': await signed({ iss: 'j' }),
    'for others': await signed({ aud: ['others', 'map'] }),
    'for nobody': await signed({ aud: undefined }),
    'a date of issue that is none': await signed({ iat: 'x' }),
    huge: await signed({ x: 'x'.repeat(9_000) }),
    nothing: '',
    'two points': '..',
    unicode: 'ключ.ключ.ключ',
  };
  const critical = Buffer.from(JSON.stringify({ ...ES, crit: ['x'], x: 1 })).toString('base64url');
  forged['an extension that must be understood'] = `${critical}.${body}.${signature}`;
  for (const [name, token] of Object.entries(forged)) {
    const code = await tokens.verify(token, NOW).then(
      () => 'OK',
      (error: unknown) => (error as { readonly code?: string }).code,
    );
    expect([name, code]).toEqual([name, 'UNAUTHENTICATED']);
  }
});

test.each([
  [500, '{}'],
  [200, 'no JSON'],
  [200, '{}'],
  [0, ''],
])('a token is not refused if the issuer answers for its keys %i %j', async (status, body) => {
  const issuer = createServer((_request, response) =>
    status === 0 ? response.destroy() : response.writeHead(status).end(body),
  ).listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  const jwks = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/`;
  const late = new Tokens({ jwks, issuer: 'i', audience: 'maps', roles: 'roles', variables: {} });
  await expect(late.verify(await signed({}), NOW)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  issuer.close();
});
