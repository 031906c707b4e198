import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';

import { readConfig } from '../../src/config.js';
import { runJobs } from '../../src/jobs/run-jobs.js';
import { openHandler } from '../../src/lambda/http-handler.js';
import { silentLog } from '../../src/log.js';
import { openServer } from '../../src/server/open-server.js';
import { openTables } from '../../src/store/table/tables.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { everyMutation, everyQuery } from '../access/every-field.js';
import { eventOf } from '../lambda/http-events.js';
import { createTable, deleteItem, putItem } from '../sources/foreign-table.js';
import { allows, permissionsFor, permissionsIn, type Permission, type Policy } from '../support/iam.js';
import { postQuery } from '../support/post-query.js';
import { engineProxy } from '../support/proxy.js';
import { runsAll } from '../support/rounds.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testDatabase } from '../support/test-database.js';

/** What is asked of DynamoDB, by the role whose work it is. */
const asked = { admin: new Set<Permission>(), http: new Set<Permission>(), server: new Set<Permission>() };
let role: keyof typeof asked = 'admin';
const proxy = engineProxy((operation, body) => {
  for (const permission of permissionsFor(operation, body)) asked[role].add(permission);
  return false;
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const others = process.listeners('exit');
afterAll(() => {
  for (const listener of process.listeners('exit')) if (!others.includes(listener)) process.off('exit', listener);
  proxy.close();
  proxy.closeAllConnections();
});

const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
const folder = temporaryFolder();
const db = await testDatabase('readable', { stream: true, endpoint });
const table = db.tables.entities;
const DAYS = Array.from({ length: 30 }, (_, day) => day);
/** A table of others, with several items for one marker. */
const foreign = `${table}-of-others`;
const settings = {
  ...engineSettings(),
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  CELLPORT_TABLE: table,
  CELLPORT_LOG: 'silent',
};

async function policyOf(name: string, of: string): Promise<readonly Permission[]> {
  return permissionsIn(JSON.parse((await runCliHere(['iam', '--role', name, '--table', of])).output) as Policy);
}

/** What a role may do, but never does; and what it does, but may not. */
async function differences(name: string, done: Iterable<Permission>, of = table) {
  const allowed = await policyOf(name, of);
  const ofOthers = (each: Permission) => each.includes(`table/${foreign}`);
  // Whose records are read is not known.
  const own = [...done].filter((each) => ofOthers(each) === (of === foreign) || each.includes('table/?'));
  const lacking = own.filter((each) => !allowed.some((pattern) => allows(pattern, each)));
  const unused = allowed.filter((pattern) => !own.some((each) => allows(pattern, each)));
  return { lacking, unused };
}

async function expectToRun(...args: string[]): Promise<void> {
  const { code, output } = await runCliHere(args, settings);
  expect({ args, code, output }).toMatchObject({ args, code: 0 });
}

function backend() {
  const streams = createStreamsClient({ ...engine(), endpoint });
  onTestFinished(() => streams.destroy());
  const nothing = () => Promise.resolve(undefined);
  return { database: db, streams, where: '', storageFault: nothing, close: nothing as () => Promise<never> };
}

const SQUARE = '{ type: "Polygon", coordinates: [[[9, 49], [12, 49], [12, 52], [9, 52], [9, 49]]] }';
const HERE = 'position: { lng: 10, lat: 50 }';
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const DAYS_AGO = daysAgo(3);

/** A table of a month as it is before the process that creates it has switched its expiry on. */
async function createMonth(time: string): Promise<void> {
  const key = ['pk', 'sk'].map((name) => ({ name, type: 'S' }) as const);
  await createTable(db, `${table}-readings-${time.slice(0, 7)}`, key, 'NEW_AND_OLD_IMAGES');
}

/** Makes every change to a collection, and asks for every field of one. */
async function useAll(ask: (query: string) => Promise<unknown>, key: string, monthsAgo: number): Promise<void> {
  const months = `months-${key}`;
  const { data } = (await ask(`mutation {
    createCollection(input: { key: "${key}", name: "x", globalIds: true, readingsSummarized: true }) { key }
    months: createCollection(input: { key: "${months}", name: "x", readingsTable: MONTHLY, readingsSummarized: true, readingsTtlDays: 400 }) { key }
    numbered: createCollection(input: { key: "n-${key}", name: "x", idStrategy: SEQUENCE }) { key }
    createMarker(input: { collection: "${key}", key: "canary", ${HERE}, place: ["Town"], properties: { a: 1 } }) { globalId }
    one: createMarker(input: { collection: "${months}", key: "one", ${HERE} }) { key }
    more: createMarkers(collection: "n-${key}", markers: [{ ${HERE} }, { ${HERE} }]) { failures { code } }
    createZone(input: { collection: "${key}", key: "area", geometry: ${SQUARE} }) { key }
    recordReadings(marker: "marker::${key}::canary", readings: [{ at: "${DAYS_AGO}", values: { a: 1 } }])
    monthly: recordReadings(marker: "marker::${months}::one", readings: [{ at: "${daysAgo(31 * monthsAgo)}", values: { a: 1 } }, { values: { a: 1 } }])
  }`)) as { data: { createMarker: { globalId: string } } };
  await ask(
    `{ marker(id: "marker::${months}::one") { readings { at } readingSummaries(value: "a", from: "${DAYS_AGO}") { summaries { count } } } }`,
  );
  for (const [, query] of everyQuery(key, data.createMarker.globalId)) await ask(query);
  const last = ['deleteMarker', 'deleteMarkers', 'deleteZone', 'deleteCollection'];
  const mutations = new Map(everyMutation(key));
  await ask(`mutation { deleteMarker(id: "marker::${months}::one") { key } }`);
  for (const field of [...mutations.keys()].filter((each) => !last.includes(each)))
    await ask(mutations.get(field) ?? '');
  for (const field of last) await ask(mutations.get(field) ?? '');
}

test('whoever purges from a distribution may do that, besides the work of the role', async () => {
  const wrong = await runCliHere(['iam', '--role', 'server', '--table', table, '--cdn', '*']);
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('--cdn must be the ID of') as unknown });
  const { output } = await runCliHere(['iam', '--role', 'server', '--table', table, '--cdn', 'E1']);
  const { Statement } = JSON.parse(output) as { Statement: readonly object[] };
  expect(Statement.at(-1)).toEqual({
    Effect: 'Allow',
    Action: ['cloudfront:CreateInvalidation'],
    Resource: ['arn:aws:cloudfront::*:distribution/E1'],
  });
});

test.runIf(runsAll)('commands', async () => {
  const file = async (name: string, text: string | object) => {
    const path = join(folder, name);
    await writeFile(path, typeof text === 'string' ? text : JSON.stringify(text));
    return path;
  };
  const rows = Array.from({ length: 30 }, (_, n) => `s${n},${n},${n},n${n}`);
  const shops = await file('shops.csv', ['key,lat,lng,name', ...rows].join('\n'));
  const fewer = await file('fewer.csv', ['key,lat,lng,name', ...rows.slice(5)].join('\n'));
  const readings = await file('readings.csv', `key,at,a\ns9,${DAYS_AGO},4\n`);
  const everything = [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }];
  const rules = await file('rules.json', { roles: { all: everything } });
  const documents = await file('all.graphql', 'query All { collections { nodes { key } } }');
  await createTable(
    db,
    foreign,
    [
      { name: 'device', type: 'S' },
      { name: 'day', type: 'N' },
    ],
    'NEW_AND_OLD_IMAGES',
  );
  asked.admin.delete(`dynamodb:CreateTable table/${foreign}`);
  for (const day of DAYS) await putItem(db, foreign, { device: 'a', day, n: 1, at: { lng: 1, lat: day }, more: 'x' });
  asked.admin.delete(`dynamodb:PutItem table/${foreign}`);
  const mapping = {
    table: foreign,
    key: '{device}',
    position: { lng: 'at.lng', lat: 'at.lat' },
    newest: 'day',
    properties: ['n'],
    details: ['more'],
  };
  const source = await file('source.json', mapping);
  for (const line of [
    ['table', 'create'],
    ['table', 'describe'],
    ['import', shops, '-c', 'shops'],
    ['import', fewer, '-c', 'shops', '--prune', '--yes'],
    ['import', readings, '--readings', '-c', 'shops'],
    ['export', '-c', 'shops', '--out', join(folder, 'out.csv')],
    ['recount', '--check'],
    ['recount'],
    ['advise', '--collection', 'shops'],
    ['plan', '-c', 'shops', '--bounds', '0,0,10,10', '--zoom', '5', '--live'],
    ['access', 'set', rules],
    ['access', 'key', 'create', '--role', 'all', '--name', 'Ann'],
    ['access', 'key', 'rotate', 'Ann'],
    ['documents', 'add', documents],
    ['documents', 'remove', '--all'],
    ['dead-letters', '--stream'],
    ['source', 'propose', '--table', foreign],
    ['source', 'check', source],
    ['source', 'create', 'sourced', source],
    ['source', 'status'],
    ['source', 'verify', 'sourced'],
    ['delete', 'shops', '--yes'],
  ]) {
    await expectToRun(...line);
  }
});

test.runIf(runsAll)('the function that answers requests may do what it does, and nothing else', async () => {
  await createMonth(daysAgo(0));
  role = 'http';
  const config = readConfig(
    {},
    { ...settings, CELLPORT_AUTH: 'off', HOST: '0.0.0.0', CELLPORT_CONSUMER: 'off', CELLPORT_AUDIT: 'table' },
  );
  const handler = await openHandler(config, () => Promise.resolve(backend()));
  const headers = { 'content-type': 'application/json' };
  const ask = async (query: string) => {
    const event = eventOf('url', { method: 'POST', path: '/graphql', headers, body: JSON.stringify({ query }) });
    return JSON.parse(Buffer.from((await handler(event)).body, 'base64').toString()) as unknown;
  };
  await useAll(ask, 'first', 2);
  expect(await differences('http', asked.http)).toEqual({ lacking: [], unused: [] });
});

test.runIf(runsAll)('so may a server, which follows a table of others and works in the background', async () => {
  role = 'server';
  const env = { ...settings, CELLPORT_SEARCH_MB: '16', CELLPORT_AUDIT: 'table', CELLPORT_DATA_DIR: folder, PORT: '0' };
  await openTables(db);
  const server = openServer(readConfig({}, env), backend(), {}, silentLog);
  const url = await server.listen();
  const ask = async (query: string) => (await postQuery(url, query)).json();
  await useAll(ask, 'second', 3);
  await ask('{ collection(key: "sourced") { marker(key: "a") { properties } } }');
  // Which item is the marker now has to be looked up: only some are known.
  for (const day of DAYS.slice(1).reverse()) await deleteItem(db, foreign, { device: 'a', day });
  asked.server.delete(`dynamodb:DeleteItem table/${foreign}`);
  // Months that are over, one of them for so long that its readings have expired.
  role = 'admin';
  for (const days of [200, 800]) await createMonth(daysAgo(days));
  role = 'server';
  const stopping = new AbortController();
  const worker = { database: db, self: 'jobs', ownerIsGone: () => false, clock: db.clock, leaseMs: 1_000 };
  const cellsCaughtUp = async (signal: AbortSignal) => {
    await server.derived.caughtUp(signal);
    return server.derived.status().countsExact;
  };
  const jobs = runJobs(
    { worker, cellsCaughtUp, removeSource: async () => undefined, settleMs: 0, everyMs: 50, log: silentLog },
    stopping.signal,
  );
  const untilDone = { timeout: 60_000, interval: 500 };
  try {
    await vi.waitFor(async () => {
      expect((await differences('server', asked.server)).unused).toEqual([]);
      expect((await differences('source', [...asked.admin, ...asked.server], foreign)).unused).toEqual([]);
    }, untilDone);
  } finally {
    stopping.abort();
    await jobs;
    await server.close();
  }
  expect(await differences('server', asked.server)).toEqual({ lacking: [], unused: [] });
});

test('the policy and the schema are those of the configured table, unless another is named', async () => {
  const printed = async (...args: string[]) => JSON.parse((await runCliHere(args, settings)).output) as unknown;
  for (const args of [
    ['iam', '--role', 'server'],
    ['table', 'schema'],
  ]) {
    expect(await printed(...args)).toEqual(await printed(...args, '--table', table));
  }
  const { code, output } = await runCliHere(['iam', '--role', 'source'], settings);
  expect([code, output]).toEqual([2, expect.stringContaining('--table must be the table that is followed')]);
});

test.runIf(runsAll)(
  'so may those who use commands, which also do what a server does, and whoever follows the table of others',
  async () => {
    role = 'admin';
    await expectToRun('table', 'delete', '--yes');
    const all = [...asked.admin, ...asked.server];
    expect(await differences('admin', all)).toEqual({ lacking: [], unused: [] });
    expect(await differences('source', all, foreign)).toEqual({ lacking: [], unused: [] });
  },
);
