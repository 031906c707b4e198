import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { hashOfKey } from '../../src/access/api-key.js';
import { removeKey, revokedSubjects, revokeSubject, storedKey } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, JWT, setRules, token, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const READ = [{ collections: ['parks'], may: ['read'] }];
const RULES = { roles: { anonymous: READ, reader: READ }, jwt: JWT };
const CHANGES = 'subscription { markerChanged(collection: "parks") { id } }';
let servers: readonly GuardedServer[];

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
  servers = [await guardedServer(db, RULES), await guardedServer(db, RULES)];
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** The code with which a server closes a subscription's WebSocket. */
function closedWith(
  { url }: GuardedServer,
  headers: Record<string, string>,
): { opened: Promise<void>; code: Promise<number> } {
  let opened: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => (opened = resolve));
  const code = new Promise<number>((resolve) => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: headers,
      on: { connected: () => opened(), closed: (event) => resolve((event as { readonly code: number }).code) },
    });
    const ignore = () => undefined;
    client.subscribe({ query: CHANGES }, { next: ignore, error: ignore, complete: ignore });
  });
  return { opened: isOpen, code };
}

/** The code of the last error of a subscription's event stream, and whether it was complete then. */
async function endedWith({ url }: GuardedServer, headers: Record<string, string>) {
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: CHANGES }),
  };
  const response = await fetch(`${url}/graphql/stream`, sent);
  const end = response.text().then((text) => {
    const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
    return text.trimEnd().endsWith('event: complete\ndata:') ? code : undefined;
  });
  return { end };
}

/** Both kinds of streams, on both servers. */
async function streams(headers: Record<string, string>) {
  const sockets = servers.map((server) => closedWith(server, headers));
  const events = await Promise.all(servers.map((server) => endedWith(server, headers)));
  await Promise.all(sockets.map(({ opened }) => opened));
  return async () => ({
    sockets: await Promise.all(sockets.map(({ code }) => code)),
    events: await Promise.all(events.map(({ end }) => end)),
  });
}

const both = <T>(value: T) => [value, value];

test('a key that is revoked ends its streams on every server, and no others', async () => {
  const key = await createKey(db, { roles: ['reader'] });
  const other = await createKey(db, { roles: ['reader'] });
  const ended = await streams(bearer(key));
  const kept = await streams({ 'x-api-key': other });
  const stored = await storedKey(newCall(db), hashOfKey(key) ?? '');
  if (stored) await removeKey(newCall(db), stored);
  expect(await ended()).toEqual({ sockets: both(4403), events: both('FORBIDDEN') });
  expect((await servers[0]?.ask('{ __typename }', {}, bearer(key)))?.status).toBe(401);
  const still = await Promise.race([kept(), new Promise((resolve) => setTimeout(resolve, 500, 'open'))]);
  expect(still).toBe('open');
});

test('a token that expires ends its streams, as one whose subject is revoked does', async () => {
  const until = Math.floor(Date.now() / 1_000) + 4;
  const [brief, long] = [
    await token({ roles: ['reader'] }, { expires: until }),
    await token({ sub: 'bob', roles: ['reader'] }),
  ];
  const [expired, revoked] = [await streams(bearer(brief)), await streams(bearer(long))];
  await revokeSubject(newCall(db), 'bob', Date.now() + 2_000);
  expect(await revoked()).toEqual({ sockets: both(4403), events: both('FORBIDDEN') });
  expect(await expired()).toEqual({ sockets: both(4401), events: both('UNAUTHENTICATED') });
});

test('tokens are revoked up to a time that is told, and stay so if an earlier one is told later', async () => {
  const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities };
  const revoke = (...options: readonly string[]) =>
    runCliHere(['access', 'revoke', '--subject', 'carol', ...options], settings);
  const before = async () => (await revokedSubjects(newCall(db)))('carol');
  await revoke('--issued-before', '2026-02-01T12:00:00+02:00');
  expect(await before()).toBe(Date.parse('2026-02-01T10:00:00Z'));
  expect((await revoke('--issued-before', '2026-01-01T00:00:00Z')).code).toBe(0);
  expect(await before()).toBe(Date.parse('2026-02-01T10:00:00Z'));
  for (const time of ['yesterday', '2026-02-01', '2999-01-01T00:00:00Z', '2026-02-30T00:00:00Z']) {
    const { code, output } = await revoke('--issued-before', time);
    expect([code, output]).toEqual([2, expect.stringContaining('--issued-before must be a time that is past')]);
  }
  const now = Date.now();
  await revoke();
  expect(await before()).toBeGreaterThanOrEqual(now);
});

test('a rule that is removed ends the streams of its role, and a collection made private those of anyone', async () => {
  const key = await createKey(db, { roles: ['reader'] });
  const ended = await streams(bearer(key));
  await setRules(db, { ...RULES, roles: { anonymous: READ } });
  expect(await ended()).toEqual({ sockets: both(4403), events: both('FORBIDDEN') });
  const anonymous = await streams({});
  await setRules(db, { roles: { anonymous: [{ collections: ['others'], may: ['read'] }] } });
  expect(await anonymous()).toEqual({ sockets: both(4403), events: both('FORBIDDEN') });
});
