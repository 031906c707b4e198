import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { Authenticator } from '../../src/access/authenticator.js';
import { AUDIT_SHARDS } from '../../src/keys/declarations.js';
import { silentLog } from '../../src/log.js';
import type { AuditedChange } from '../../src/model/audit.js';
import { createHttpServer, createServices } from '../../src/server/services.js';
import { auditTo } from '../../src/store/access/audit.js';
import { allItems } from '../stream/support.js';
import { runCli, runCliHere } from '../support/run-cli.js';
import { engineSettings, testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    anonymous: [{ collections: ['parks'], may: ['read'] }],
    editor: [{ collections: ['parks'], may: ['read', 'write'] }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
let server: GuardedServer;

const now = new Date().toISOString();
beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' }, now);
  server = await guardedServer(db, RULES, { CELLPORT_AUDIT: 'table' });
});
afterAll(() => server.close());

/** What the table has of one principal, oldest first. */
async function storedOf(who: string) {
  const items = await allItems(db, db.tables.derived);
  return items
    .filter((item) => String(item['pk']).startsWith('audit::') && String(item['who']).startsWith(who))
    .sort((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1));
}

test('each change is kept with who, what and its outcome, never with values', async () => {
  const admin = bearer(await createKey(db, { roles: ['admin'], name: 'Ann', id: 'anns' }));
  const markers = Array.from({ length: 30 }, (_, n) => ({
    key: `m${n}`,
    position: { lng: 1, lat: n },
    name: 'secret',
  }));
  await server.ask(
    `mutation Fill($markers: [MarkerInput!]!) {
      ...Both
      again: createMarker(input: { collection: "parks", key: "m1", position: { lng: 1, lat: 1 }, name: "secret" }) { id }
    }
    fragment Both on Mutation { createMarkers(collection: "parks", markers: $markers) { failures { code } } }`,
    { markers },
    admin,
  );
  await server.ask('mutation { deleteMarker(id: "marker::parks::m2") { id } }', {}, admin);
  const [fill, removal, ...more] = await storedOf('key:anns');
  expect(more).toEqual([]);
  expect(fill).toMatchObject({ who: 'key:anns', name: 'Ann' });
  expect(JSON.parse(String(fill?.['changes']))).toEqual([
    {
      what: 'createMarkers',
      collection: 'parks',
      keys: markers.slice(0, 20).map(({ key }) => key),
      more: 10,
      outcome: 'OK',
    },
    { what: 'createMarker', collection: 'parks', keys: ['m1'], more: 0, outcome: 'CONFLICT' },
  ]);
  expect(JSON.parse(String(removal?.['changes']))).toEqual([
    { what: 'deleteMarker', collection: 'parks', keys: ['marker::parks::m2'], more: 0, outcome: 'OK' },
  ]);
  expect(JSON.stringify([fill, removal])).not.toMatch(/secret|lng/);
  const kept = Number(fill?.['ttl']) - Date.parse(now) / 1_000;
  expect(Math.round(kept / 86_400)).toBe(90);
});

test('only what is executed is a change, once, with the values that variables have by default', async () => {
  const admin = bearer(await createKey(db, { roles: ['admin'], id: 'bobs' }));
  const CREATE = `mutation ($key: String! = "d", $c: String! = "parks") {
    createMarker(input: { collection: $c, key: $key, position: { lng: 1, lat: 1 } }) { key }
  }`;
  expect(await server.ask(CREATE, {}, admin)).toMatchObject({ status: 200, data: { createMarker: { key: 'd' } } });
  const UPDATE = `mutation ($id: ID! = "marker::parks::d", $out: Boolean! = true) {
    a: deleteMarker(id: $id) @skip(if: $out) { id }
    ...Other @include(if: false)
    updateMarker(input: { id: $id, category: "c" }) { id }
    updateMarker(input: { id: $id, category: "c" }) { category }
  }
  fragment Other on Mutation { b: deleteMarker(id: $id) { id } }`;
  const updated = { updateMarker: { id: 'marker::parks::d', category: 'c' } };
  expect(await server.ask(UPDATE, {}, admin)).toMatchObject({ status: 200, data: updated });
  const stored = await storedOf('key:bobs');
  expect(stored.map(({ changes }) => JSON.parse(String(changes)) as unknown)).toEqual([
    [{ what: 'createMarker', collection: 'parks', keys: ['d'], more: 0, outcome: 'OK' }],
    [{ what: 'updateMarker', collection: 'parks', keys: ['marker::parks::d'], more: 0, outcome: 'OK' }],
  ]);
  // Nothing is refused that is not executed, and what is, by its rule.
  const DELETE = `mutation ($key: String! = "parks", $out: Boolean!) { deleteCollection(key: $key) @skip(if: $out) { key } }`;
  expect(await server.ask(DELETE, { out: true })).toMatchObject({ status: 200, data: {} });
  expect(await server.ask(DELETE, { out: false })).toMatchObject({
    status: 403,
    errors: [{ extensions: { code: 'FORBIDDEN', collection: 'parks' } }],
  });
});

test('a change is one whatever its answer could not show, and each marker of a list has its own outcome', async () => {
  const admin = bearer(await createKey(db, { roles: ['admin'], id: 'cats' }));
  const some = ['c1', 'c2', 'c3'].map((key) => `{ key: "${key}", position: { lng: 1, lat: 1 } }`).join(' ');
  const operations = [
    // A single value is a list of one.
    'mutation One { upsertMarkers(collection: "parks", markers: { key: "c1", position: { lng: 1, lat: 1 } }) { created } }',
    `mutation { createMarkers(collection: "parks", markers: [${some}]) { failures { code } } }`,
    // The readings that the answer must have are not there.
    `mutation {
      first: deleteMarker(id: "marker::parks::c1") { readings(last: 0) { at } }
      then: deleteMarker(id: "marker::parks::c2") { key }
    }`,
    'mutation { deleteMarkers(ids: ["marker::parks::c1", "marker::parks::c2"]) { deleted } __typename }',
    'mutation { deleteMarkers(ids: "marker::parks::c3") { deleted } }',
  ];
  for (const operation of operations) await server.ask(operation, {}, admin);
  const stored = (await storedOf('key:cats')).map(({ operation, changes }) => [
    operation,
    ...(JSON.parse(String(changes)) as AuditedChange[]).map(
      ({ what, collection, keys, outcome }) => `${outcome}: ${what} in ${collection} ${keys.join()}`,
    ),
  ]);
  const id = (key: string) => `marker::parks::${key}`;
  expect(stored).toEqual([
    ['One', 'OK: upsertMarkers in parks c1'],
    [undefined, 'CONFLICT: createMarkers in parks c1', 'OK: createMarkers in parks c2,c3'],
    [undefined, `OK: deleteMarker in parks ${id('c1')}`, `NOT_EXECUTED: deleteMarker in parks ${id('c2')}`],
    [undefined, `NOT_FOUND: deleteMarkers in parks ${id('c1')}`, `OK: deleteMarkers in parks ${id('c2')}`],
    [undefined, `OK: deleteMarkers in parks ${id('c3')}`],
  ]);
});

test('whoever may change nothing costs no write, but is in the log', async () => {
  const { status } = await server.ask('mutation { deleteCollection(key: "parks") { key } }');
  expect(status).toBe(403);
  for (const attempt of [
    '__typename',
    'deleteMarkers(ids: []) { deleted }',
    'deleteMarkers(ids: ["marker::parks::m1", "marker::unused::m1"]) { deleted }',
  ]) {
    const { data } = await server.ask(`mutation { ${attempt} }`);
    expect([attempt, data]).toEqual([attempt, expect.anything()]);
  }
  expect(await storedOf('anonymous')).toEqual([]);
  const write = vi.fn<(fields: object, message: string) => void>();
  const audited = {
    at: now,
    who: 'anonymous',
    name: null,
    from: '192.0.2.1',
    operation: 'Gone',
    changes: [{ what: 'deleteCollection', collection: undefined, keys: ['parks'], more: 0, outcome: 'FORBIDDEN' }],
  };
  await auditTo(write, db, 'changes', silentLog)(audited);
  const { changes, ...by } = audited;
  expect(write.mock.calls).toEqual([
    [{ audit: { ...by, ...changes[0] } }, 'FORBIDDEN: deleteCollection by anonymous at 192.0.2.1 parks'],
  ]);
  expect(await storedOf('anonymous')).toEqual([]);
  // Some of a batch may have been written before.
  const halfway = { ...changes[0], what: 'upsertMarkers', outcome: 'UNAVAILABLE' } as AuditedChange;
  await auditTo(write, db, 'changes', silentLog)({ ...audited, who: 'halfway', changes: [halfway] });
  expect(await storedOf('halfway')).toHaveLength(1);
});

test('of a mutation that is refused as a whole, the fields that are allowed were not executed', async () => {
  const editor = bearer(await createKey(db, { roles: ['editor'] }));
  const noted: AuditedChange[] = [];
  const audit = async ({ changes }: { readonly changes: readonly AuditedChange[] }) => void noted.push(...changes);
  const services = createServices(db, { authenticator: new Authenticator(db, silentLog), audit });
  const { graphql, close } = await createHttpServer(services);
  onTestFinished(close);
  const query = `mutation {
    updateMarker(input: { id: "marker::parks::m5", name: "x" }) { key }
    deleteCollection(key: "parks") { key }
    deleteMarker(id: "marker::parks::m5") { key }
  }`;
  const headers = { 'content-type': 'application/json', ...editor };
  await graphql.answer({ method: 'POST', headers, search: '', body: { query } }, new AbortController().signal);
  expect(noted.map(({ what, outcome }) => `${outcome}: ${what}`)).toEqual([
    'NOT_EXECUTED: updateMarker',
    'FORBIDDEN: deleteCollection',
    'NOT_EXECUTED: deleteMarker',
  ]);
});

test('commands that change rules and keys are kept, too', async () => {
  const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_AUDIT: 'table' };
  const created = await runCliHere(
    ['access', 'key', 'create', '--role', 'admin', '--budget', '500/hour', '--quota', 'collections=0', '--json'],
    settings,
  );
  const key = JSON.parse(/^\{.*?^\}/ms.exec(created.output)?.[0] ?? '') as {
    readonly id: string;
    readonly key: string;
    readonly budget: object;
    readonly quotas: object;
  };
  expect([key.budget, key.quotas]).toEqual([{ units: 500, per: 'hour' }, { collections: 0 }]);
  const wrong = await runCliHere(['access', 'key', 'create', '--role', 'admin', '--quota', 'markers=2'], settings);
  expect(wrong.output).toMatch(
    /markers=2.*Expected collections, markersPerCollection, bytesPerCollection, bytesPerMarker/,
  );
  await runCliHere(['access', 'key', 'revoke', key.key], settings);
  const stored = await storedOf('cli:');
  expect(stored.map(({ changes }) => JSON.parse(String(changes)) as unknown)).toEqual(
    ['access key create', 'access key revoke'].map((what) => [{ what, keys: [key.id], more: 0, outcome: 'OK' }]),
  );
  expect(JSON.stringify(stored)).not.toContain(key.key);
});

test('commands that change data are kept, also if they fail, and those for access are in the log without a setting', async () => {
  // Imports need not wait for counts.
  const unset = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_CONSUMER: 'off' };
  const settings = { ...unset, CELLPORT_AUDIT: 'table' };
  const folder = await mkdtemp(join(tmpdir(), 'cellport-audit-'));
  const [places, document] = [join(folder, 'p.csv'), join(folder, 'd.graphql')];
  await writeFile(places, 'key,lat,lng\na,1,2\n');
  await writeFile(document, 'query Named { __typename }');
  const before = (await storedOf('cli:')).length;
  await runCliHere(['import', places, '--collection', 'brought'], settings);
  await runCliHere(['repartition', 'brought', '--undo'], settings);
  await runCliHere(['documents', 'add', document], settings);
  await runCliHere(['documents', 'list'], settings);
  await runCliHere(['documents', 'remove', 'Named'], settings);
  await runCliHere(['delete', 'brought', '--yes'], settings);
  // Logs go to standard error of the process itself.
  const revoked = runCli(['access', 'revoke', '--subject', 'eve'], unset);
  await revoked.said(/OK: access revoke by cli:\S+ at \S+ eve/);
  expect(await revoked.ended).toBe(0);
  await runCliHere(['import', places, '--collection', 'unsaid'], unset);
  await rm(folder, { recursive: true });
  const stored = (await storedOf('cli:')).slice(before);
  const changes = stored.flatMap((item) => JSON.parse(String(item['changes'])) as AuditedChange[]);
  expect(changes.map(({ what, collection, outcome }) => [what, collection, outcome])).toEqual([
    ['import', 'brought', 'OK'],
    ['repartition', 'brought', 'CONFLICT'],
    ['documents add', undefined, 'OK'],
    ['documents remove', undefined, 'OK'],
    ['delete', 'brought', 'OK'],
  ]);
  expect(changes[2]?.keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(changes[3]?.keys).toEqual(changes[2]?.keys);
});

test('entries are spread over partitions', () => {
  const partitions = new Set(Array.from({ length: 500 }, (_, n) => db.keys.audit(now, `token ${n}`).pk));
  expect(partitions.size).toBe(AUDIT_SHARDS);
});
