import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ScanCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import type { Finding } from '../../src/server/doctor.js';
import { createCellport, type Cellport } from '../../src/server/public.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { until } from '../live/support.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings } from '../support/test-database.js';

const folder = temporaryFolder();
const { endpoint, region, credentials } = engine();
const client = new DynamoDBClient({ endpoint, region, credentials });
const good = `good-${randomUUID()}`;

async function doctor(settings: Readonly<Record<string, string>>) {
  const env = { ...engineSettings(), CELLPORT_DATA_DIR: folder, ...settings };
  const { code, output } = await runCliHere(['doctor', '--json'], env);
  const findings = JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1)) as readonly Finding[];
  return { code, findings, of: (what: string) => findings.find((finding) => finding.what === what) };
}
const unwell = (findings: readonly Finding[]) => findings.filter(({ verdict }) => verdict !== 'ok');

/** Everything in the database, but for what a consumer keeps writing, to see that nothing is written. */
async function everything(): Promise<unknown> {
  const { TableNames: names = [] } = await client.send(new ListTablesCommand({}));
  const TableNames = names.filter((name) => !name.startsWith(good));
  const scans = TableNames.map((name) => client.send(new ScanCommand({ TableName: name })));
  return (await Promise.all(scans)).map(({ Items = [] }, at) => [TableNames[at], Items]);
}

let cellport: Cellport;
beforeAll(async () => {
  cellport = await createCellport({ table: good, client, log: silentLog, settings: { CELLPORT_ENGINE: 'aws' } });
  await cellport.execute({ query: 'mutation { createCollection(input: { key: "shops", name: "Shops" }) { key } }' });
  await cellport.markers.upsert('shops', [{ key: 'one', position: { lng: 1, lat: 2 } }]);
});
afterAll(async () => {
  await cellport.close();
  client.destroy();
});

test('a table in use is well, from the permissions to the release of the consumer, and nothing is written', async () => {
  await until(async () => {
    const { code, findings, of } = await doctor({ CELLPORT_TABLE: good });
    const names = findings.map(({ what }) => what);
    expect(names).toEqual(
      expect.arrayContaining([`table ${good}`, `permissions on ${good}-derived`, 'clock', 'stream']),
    );
    // Counts follow the stream.
    return code === 0 && unwell(findings).length === 0 && /^exact, .*format/.test(of('counts')?.found ?? '');
  });
  const { of } = await doctor({ CELLPORT_TABLE: good });
  expect(of('consumer')?.found).toMatch(new RegExp(`^process ${process.pid} on .*, release \\d+\\.\\d+\\.\\d+$`));
  const lines = await runCliHere(['doctor'], { ...engineSettings(), CELLPORT_TABLE: good, CELLPORT_DATA_DIR: folder });
  expect(lines.output).toContain(`ok       table ${good}: schema, indexes, stream, TTL\n`);
});

test('a missing table is named with the command that creates it, and is not created', async () => {
  const before = await everything();
  const { code, of } = await doctor({ CELLPORT_TABLE: 'missing', CELLPORT_TYPO: '1' });
  expect(code).toBe(1);
  expect(of('settings')).toMatchObject({ verdict: 'warning', found: 'unknown: CELLPORT_TYPO' });
  expect(of('table missing')).toMatchObject({
    verdict: 'problem',
    advice: expect.stringContaining('cellport table create') as unknown,
  });
  expect(of('permissions on missing')).toBeUndefined();
  expect(await everything()).toEqual(before);
});

test('a table of others is neither tried nor changed', async () => {
  await client.send(
    new CreateTableCommand({
      TableName: 'foreign',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'customer', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'customer', AttributeType: 'S' }],
    }),
  );
  const { code, findings, of } = await doctor({ CELLPORT_TABLE: 'foreign' });
  expect(code).toBe(1);
  expect(of('table foreign')?.found).toContain("not Cellport's: key must be pk (HASH)");
  expect(findings.filter(({ what }) => what.startsWith('permissions'))).toEqual([]);
});

test('a stream that is off, a TTL that is off and a consumer that never ran are told apart', async () => {
  const tables = { entities: 'silent', derived: 'silent-derived' };
  for (const { request } of tableDefinitions(tables)) await client.send(new CreateTableCommand(request));
  const before = await everything();
  const fresh = await doctor({ CELLPORT_TABLE: 'silent' });
  expect(await everything()).toEqual(before);
  expect(fresh.code).toBe(0);
  expect(unwell(fresh.findings).map(({ what, found }) => `${what}: ${found}`)).toEqual([
    'table silent: TTL attribute must be ttl; found none',
    'table silent-derived: TTL attribute must be ttl; found none',
    'counts: no process has read the stream yet',
  ]);
  const off = { TableName: 'silent', StreamSpecification: { StreamEnabled: false } };
  await client.send(new UpdateTableCommand(off));
  const { code, of } = await doctor({ CELLPORT_TABLE: 'silent' });
  expect(code).toBe(1);
  expect(of('table silent')).toMatchObject({
    verdict: 'problem',
    found: expect.stringContaining('stream must be NEW_AND_OLD_IMAGES; found none') as unknown,
    advice: expect.stringContaining('recount') as unknown,
  });
  expect(of('stream')?.verdict).toBe('problem');
});

test('operations that are denied are named, and so is a Redis that does not answer', async () => {
  const denied = new Set(['PutItem', 'BatchGetItem']);
  const proxy = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
      const { IndexName } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly IndexName?: string };
      if (denied.has(operation) || denied.has(`${operation} on index ${IndexName}`)) {
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
        response.end('{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not authorized"}');
        return;
      }
      const { host: _, 'content-length': __, ...headers } = request.headers as Record<string, string>;
      void fetch(endpoint, { method: 'POST', headers, body: Buffer.concat(chunks) }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { code, of } = await doctor({ CELLPORT_TABLE: good, AWS_ENDPOINT_URL_DYNAMODB: url });
  expect(code).toBe(1);
  expect(of(`permissions on ${good}`)).toMatchObject({ verdict: 'problem', found: 'denied: BatchGetItem, PutItem' });
  const readOnly = await doctor({ CELLPORT_TABLE: good, AWS_ENDPOINT_URL_DYNAMODB: url, CELLPORT_READ_ONLY: 'on' });
  expect(readOnly.of(`permissions on ${good}`)?.found).toBe('denied: BatchGetItem');
  // Each of them is a permission of its own.
  for (const action of ['Query on index geoB', 'UpdateItem', 'BatchWriteItem']) {
    denied.clear();
    denied.add(action);
    const one = await doctor({ CELLPORT_TABLE: good, AWS_ENDPOINT_URL_DYNAMODB: url });
    expect(one.of(`permissions on ${good}`)?.found).toBe(`denied: ${action}`);
  }

  const gone = await doctor({ CELLPORT_TABLE: good, CELLPORT_REDIS_URL: 'redis://127.0.0.1:1' });
  expect(gone.of('Redis')).toMatchObject({
    verdict: 'problem',
    found: expect.stringContaining('ECONNREFUSED') as unknown,
  });
});
