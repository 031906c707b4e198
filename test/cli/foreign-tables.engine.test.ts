import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateTableCommand, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { readConfig } from '../../src/config.js';
import { createHandler } from '../../src/lambda/stream.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engineProxy } from '../support/proxy.js';
import { recordCalls } from '../support/record-calls.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, newDatabase } from '../support/test-database.js';

const folder = temporaryFolder();
const file = (name: string) => join(folder, name);
beforeAll(async () => {
  await writeFile(file('markers.csv'), 'key,lng,lat\na,1,1\n');
  await writeFile(file('readings.csv'), 'marker,at,t\na,2026-01-01T00:00:00Z,1\n');
  const ring = '0 0,1 0,1 1,0 0'.split(',').map((point) => point.split(' ').map(Number));
  const zone = { type: 'Feature', id: 'z', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
  await writeFile(file('zones.geojson'), JSON.stringify({ type: 'FeatureCollection', features: [zone] }));
});

const COMMANDS = [
  'serve',
  'table create',
  'table delete --yes',
  'table describe',
  'import FOLDER/markers.csv -c shops',
  'import FOLDER/readings.csv -c shops --readings',
  'import FOLDER/zones.geojson -c shops',
  'export -c shops',
  'export -c shops --zones --out FOLDER/out.geojson',
  'recount',
  'recount --check',
  'repartition shops --prefix-length 3',
  'repartition shops --undo',
  'sweep',
  'hot --spread u3 -c shops',
  'reindex',
  'reindex --check',
  'reindex --dead-letters',
  'dead-letters',
  'dead-letters --stream',
  'search london',
  'advise -c shops',
  'plan --live -c shops --bounds 0,0,1,1 --zoom 9',
];

/** A table of the commonest key, and nothing else. */
const plain = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
});
const ITEM = { pk: 'ORDER#1', sk: 'LINE#1', ttl: 1 };

describe.each([
  ['entities table', 0, 'index geoA must be present; found missing'],
  ['derived table', 1, 'TTL attribute must be ttl; found none'],
] as const)('with a foreign %s', (_, foreign, fault) => {
  const database = newDatabase();
  const names = Object.values(database.tables) as string[];
  const name = names[foreign] ?? '';
  let url = '';
  const operations: string[] = [];

  beforeAll(async () => {
    for (const { request } of tableDefinitions(database.tables)) {
      // The other table is ours.
      const schema = request.TableName === name ? plain(name) : request;
      await database.client.send(new CreateTableCommand(schema));
    }
    await database.client.send(new PutCommand({ TableName: name, Item: ITEM }));
    const proxy = engineProxy((operation) => {
      operations.push(operation);
      return false;
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
    return () => {
      proxy.close();
      proxy.closeAllConnections();
      database.client.destroy();
    };
  });

  /** Operations other than looks at tables. */
  const done = () => [...new Set(operations)].filter((operation) => !/^(?:Describe|List)/.test(operation));
  const items = async () =>
    Promise.all(names.map(async (TableName) => (await database.client.send(new ScanCommand({ TableName }))).Items));

  it.each(COMMANDS)('`cellport %s` names it and what it has, and only describes tables', async (command) => {
    operations.length = 0;
    const { code, output } = await runCliHere(command.replace('FOLDER', folder).split(' '), {
      ...engineSettings(),
      AWS_ENDPOINT_URL_DYNAMODB: url,
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: url,
      CELLPORT_TABLE: database.tables.entities,
      CELLPORT_DATA_DIR: join(folder, 'data'),
      CELLPORT_OBJECTS: join(folder, 'objects'),
      CELLPORT_OPENSEARCH_URL: 'http://127.0.0.1:9',
      PORT: '0',
    });
    expect(output).toContain(name);
    expect(output).toContain(fault);
    expect(code).toBe(1);
    // The style of its keys is read from a table of ours.
    expect(done().filter((operation) => foreign === 0 || operation !== 'Query')).toEqual([]);
    expect(await items()).toEqual(foreign === 0 ? [[ITEM], []] : [[], [ITEM]]);
  });

  it('the handler of the Lambda function takes no lease in it', async () => {
    const other = newDatabase('readable', { tables: database.tables });
    onTestFinished(() => other.client.destroy());
    const calls = recordCalls(other);
    const config = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: 'us-east-1' });
    const handle = createHandler(config, () => ({ database: other, streams: createStreamsClient(engine()) }));
    await expect(handle({ Records: [] })).rejects.toThrow(`table ${name}: ${fault}`);
    expect(new Set(calls.commands.map(({ name: operation }) => operation))).toEqual(
      new Set(['DescribeTable', 'DescribeTimeToLive']),
    );
  });
});
