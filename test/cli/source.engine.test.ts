import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { readMapping, type Item } from '../../src/sources/mapping.js';
import { createTable, putItem } from '../sources/foreign-table.js';
import { markerOf } from '../sources/marker-of.js';
import { TABLES } from '../sources/tables.js';
import { allItems } from '../stream/support.js';
import { engineProxy } from '../support/proxy.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, newDatabase, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, settings);
const shops = `${db.tables.entities}-shops`;
let folder = '';

async function mappingFile(name: string, text: string): Promise<string> {
  const path = join(folder, `${name}.json`);
  await writeFile(path, text);
  return path;
}

const key = [
  { name: 'PK', type: 'S' },
  { name: 'SK', type: 'S' },
] as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellport-mappings-'));
  await createTable(db, shops, key);
  for (let at = 0; at < 20; at++) {
    await putItem(db, shops, { PK: `SHOP#${at}`, SK: 'META', title: `Shop ${at}`, at: { lon: at, lat: 50 + at } });
    await putItem(db, shops, { PK: `SHOP#${at}`, SK: `ORDER#${at}`, total: 12.5 });
  }
  await putItem(db, shops, { PK: 'SHOP#north', SK: 'META', title: '\u001b[2J', at: { lon: 1, lat: 91 } });
});
afterAll(() => rm(folder, { recursive: true }));

test('a mapping is proposed from a sample of a table, and passes the check but for the stream; nothing is written', async () => {
  const before = await allItems(db, shops);
  const proposed = await cli('source', 'propose', '--table', shops);
  expect(proposed.code).toBe(0);
  const mapping = proposed.output.slice(proposed.output.indexOf('{'));
  expect(JSON.parse(mapping)).toMatchObject({ table: shops, items: { PK: 'SHOP#{key}' }, name: 'title' });
  expect(proposed.output).toMatch(/41 items looked at/);
  const file = await mappingFile('proposed', mapping);
  const checked = await cli('source', 'check', file);
  expect(checked.output).toMatch(/20 are markers,\n1 match but have no valid key or position, 20 do not match/);
  expect(checked.output).toContain(
    'a latitude in degrees from -90 to 90 (are longitude and latitude swapped?); got 91',
  );
  expect(checked.output).toContain('aws dynamodb update-table');
  expect(checked.code).toBe(2);
  expect(await cli('source', 'check', file, '--every', '1h')).toMatchObject({ code: 0 });
  expect(await allItems(db, shops)).toEqual(before);
});

test('what is wrong is named: the table, the file, the field, the kind, and escapes do not reach the terminal', async () => {
  const missing = await cli('source', 'propose', '--table', 'no-such-table');
  expect(missing).toMatchObject({ code: 1, output: expect.stringContaining('no table "no-such-table"') as string });
  const unnamable = await cli('source', 'propose', '--table', 'my app!');
  expect(unnamable).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^[^\n]*--table must be .*"my app!"\n$/) as string,
  });
  expect((await cli('source', 'propose', '--table', shops, '--kind', 'CAR')).output).toMatch(
    /--kind must be one of .*CAR/,
  );
  expect((await cli('source', 'check', join(folder, 'none.json'))).output).toMatch(/none\.json: there is no such file/);
  expect((await cli('source', 'check', await mappingFile('broken', '{'))).output).toMatch(
    /broken\.json: it is not JSON/,
  );
  const wrong = { table: shops, key: '{PK}', position: { lng: 'at.lon', lat: 'at.lat' }, nmae: 'title' };
  const unknown = await cli('source', 'check', await mappingFile('unknown', JSON.stringify(wrong)));
  expect(unknown).toMatchObject({
    code: 2,
    output: expect.stringMatching(/unknown\.json: nmae is unknown; .* name/) as string,
  });
  const nothing = { ...wrong, nmae: undefined, where: [{ path: 'title', eq: 'x' }] };
  expect((await cli('source', 'check', await mappingFile('nothing', JSON.stringify(nothing)))).output).toMatch(
    /no item of the sample is a marker/,
  );
  const check = async (changes: object) =>
    (await cli('source', 'check', await mappingFile('unlike', JSON.stringify({ ...nothing, where: [], ...changes }))))
      .output;
  expect(await check({ items: { PK: 'STORE#{key}', sk: 'META' } })).toContain('41 × no match by PK, e.g. PK "SHOP#');
  expect(await check({ items: { sk: '{{x}}{key}' } })).toMatch(
    /41 × no sk, .*: sk must be like "\{\{x\}\}\{key\}"; got undefined/,
  );
  expect(await check({ items: { PK: '{key}', SK: '{key}' } })).toContain(
    'a part has different values in two attributes',
  );
  expect(await check({ where: [{ path: 'total', eq: '12.5' }] })).toMatch(
    /20 × .*: total must be as asked by \{"eq":"12.5"\}; got 12.5/,
  );
  expect(await check({ key: '{SK}' })).toContain('these have 1 different keys: of several with the same key, one is');
  expect(await check({ ttl: 'at.lon' })).toMatch(/expired, .*: at.lon must be a time to come; got \d+/);
  expect(await check({ each: 'stops' })).toMatch(
    / 41 do not match or have expired\n  41 × no stops, e\.g\. PK "SHOP#.*: stops must be a list with an entry for each marker; got undefined/,
  );
  const raw = await mappingFile('raw', JSON.stringify({ ...nothing, where: [], key: '{PK}/{SK}', name: 'title' }));
  expect((await cli('source', 'check', raw, '--sample', '100')).output).not.toContain('\u001b');
});

test('what a mapping may have, a source may have: all of its properties', async () => {
  const properties = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const mapping = { table: shops, key: '{PK}', position: { lng: 'at.lon', lat: 'at.lat' }, properties };
  const file = await mappingFile('many', JSON.stringify(mapping));
  expect(await cli('source', 'create', 'many', file, '--every', '1h')).toMatchObject({ code: 0 });
});

test("Cellport's own tables are not followed, as it would follow its own writes", async () => {
  for (const table of Object.values(db.tables)) {
    const refusal = {
      code: 2,
      output: expect.stringContaining(`a table that Cellport does not write; got "${table}"`) as string,
    };
    expect(await cli('source', 'propose', '--table', table)).toMatchObject(refusal);
    const file = await mappingFile(
      'own',
      JSON.stringify({ table, key: '{pk}/{sk}', position: { lng: 'lng', lat: 'lat' } }),
    );
    expect(await cli('source', 'create', 'own', file, '--every', '1h')).toMatchObject(refusal);
  }
});

test('a permission that is missing is named by check, and ends a fill; so is a stream with too many readers', async () => {
  const table = `${shops}-${randomUUID().slice(0, 8)}`;
  await createTable(db, table, key, 'NEW_AND_OLD_IMAGES');
  await putItem(db, table, { PK: 'SHOP#1', SK: 'META', at: { lon: 1, lat: 2 } });
  const mapping = { table, key: '{PK}', position: { lng: 'at.lon', lat: 'at.lat' } };
  const file = await mappingFile('denied', JSON.stringify(mapping));
  let [denied, exception] = ['', 'AccessDeniedException'];
  const proxy = engineProxy(undefined, (operation, body) =>
    operation === denied && body.includes(table) ? exception : undefined,
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const asked = (...args: string[]) => runCliHere(['source', ...args], { ...settings, AWS_ENDPOINT_URL_DYNAMODB: url });
  expect((await asked('check', file)).code).toBe(0);
  for (denied of ['DescribeTable', 'Scan', 'BatchGetItem', 'DescribeStream', 'GetShardIterator', 'GetRecords']) {
    const { code, output } = await asked('check', file);
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(/cellport iam/) as string });
    expect(output).toMatch(new RegExp(`\\(not authorized to perform: dynamodb:${denied}\\)\n$`));
  }
  expect(await asked('create', 'denied', file)).toMatchObject({
    code: 1,
    output: expect.stringContaining('dynamodb:GetRecords') as string,
  });
  exception = 'ProvisionedThroughputExceededException';
  expect(await asked('check', file)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/more readers than DynamoDB allows.*--every 1h/) as string,
  });
});

test('a large partition does not keep others out of the sample, and without a position, what is named like one is told', async () => {
  const table = `${shops}-${randomUUID().slice(0, 8)}`;
  await createTable(db, table, key);
  const item = (PK: string, SK: string, more: Item) => putItem(db, table, { PK, SK, ...more });
  await Promise.all(Array.from({ length: 600 }, (_, at) => item('LOG#1', `LINE#${at}`, { text: 'geo:1,2' })));
  const untold = await cli('source', 'propose', '--table', table);
  expect(untold.output).toMatch(/has a position that is recognized; no attribute is named like one\. Write/);
  for (let at = 0; at < 40; at++) await item(`SHOP#${at}`, 'META', { geo: `geo:${at},2` });
  expect((await cli('source', 'propose', '--table', table)).output).toMatch(
    /these are named like one, but not read: geo \("geo:\d+,2"\)\. Write/,
  );
  for (let at = 0; at < 40; at++) await item(`SHOP#${at}`, 'META', { at: JSON.stringify({ lat: at, lng: 2 }) });
  expect((await cli('source', 'propose', '--table', table)).output).toMatch(
    /500 items looked at in .*\n {2}SHOP# META: [1-9]\d items, [1-9]\d markers\n/,
  );
});

test.each(TABLES.map((table) => [table.id, table] as const))(
  'table %s of others: a mapping is proposed for it, and the one in its file finds as many markers in the table as in its items',
  async (_id, table) => {
    const own = newDatabase();
    const name = `${own.tables.entities}-${table.name}`;
    await createTable(own, name, table.key);
    for (const item of table.items) await putItem(own, name, item);
    expect((await cli('source', 'propose', '--table', name)).code).toBe(0);
    const file = await mappingFile(table.id, JSON.stringify({ ...(table.mapping as object), table: name }));
    const { output } = await cli('source', 'check', file);
    const mapping = readMapping(table.mapping);
    const markers = table.items.filter((item) => markerOf(mapping, item, Date.now()).kind === 'marker');
    expect(output).toContain(`${table.items.length} items looked at in table ${name}: ${markers.length} are markers`);
    own.client.destroy();
  },
);
