import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { hashOfKey, idOf, newApiKey } from '../../src/access/api-key.js';
import { readConfig } from '../../src/config.js';
import { silentLog } from '../../src/log.js';
import { openServer } from '../../src/server/open-server.js';
import { storeKey, storeRules, type StoredKey } from '../../src/store/access/access-items.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { postQuery } from '../support/post-query.js';
import { engine, engineSettings } from '../support/test-database.js';

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
export const ISSUER = 'https://id.example.org/';
export const JWT = {
  jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] },
  issuer: ISSUER,
  audience: 'maps',
  variables: { fleet: 'fleet' },
};

/** A token of the issuer. */
export const token = (
  claims: Readonly<Record<string, unknown>>,
  {
    expires = '5m',
    issuer = ISSUER,
    audience = 'maps',
  }: { readonly expires?: string | number; readonly issuer?: string; readonly audience?: string } = {},
): Promise<string> =>
  new SignJWT({ sub: 'ann', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuedAt()
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime(expires)
    .sign(privateKey);

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Creates an API key. */
export async function createKey(db: Database, key: Partial<StoredKey> & Pick<StoredKey, 'roles'>): Promise<string> {
  const secret = newApiKey();
  const hash = hashOfKey(secret) ?? '';
  const createdAt = new Date().toISOString();
  const stored = {
    hash,
    id: idOf(hash),
    name: key.roles.join('-'),
    variables: {},
    createdAt,
    expiresAt: null,
    usedAt: null,
  };
  await storeKey(newCall(db), { ...stored, ...key });
  return secret;
}

export const setRules = (db: Database, rules: object) => storeRules(newCall(db), JSON.stringify(rules));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Answers have any shape; the assertions of each test say what it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly errors: readonly any[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly extensions?: any;
}

/** A whole server that asks who its clients are, under these rules if there are any, with its consumer. */
export async function guardedServer(database: Database, rules: object | undefined, env: Record<string, string> = {}) {
  if (rules !== undefined) await setRules(database, rules);
  const streams = createStreamsClient(engine());
  const storageFault = () => Promise.resolve(undefined);
  const backend = { database, streams, where: '', storageFault, close: () => Promise.resolve() };
  const config = readConfig({}, { ...engineSettings(), PORT: '0', CELLPORT_AUTH: 'on', CELLPORT_AUDIT: 'off', ...env });
  const server = openServer(config, backend, {}, silentLog);
  const url = await server.listen();
  return {
    url,
    async ask(query: string, variables: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await postQuery(url, query, { variables, headers });
      const answer = (await response.json()) as Partial<Answer>;
      return { errors: [], data: undefined, ...answer, status: response.status, headers: response.headers };
    },
    async close() {
      await server.close();
      streams.destroy();
    },
  };
}

export type GuardedServer = Awaited<ReturnType<typeof guardedServer>>;
