import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import Libsql, { type Database } from 'libsql';
import { expect, inject, test, vi } from 'vitest';

import { databaseFile, databaseFolder } from '../../src/engine/database-file.js';
import { keeperFile, readKeeperFile } from '../../src/engine/keeper-file.js';
import type * as engineModule from '../../src/engine/start.js';
import type { Engine } from '../../src/engine/start.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { startEngine } = (await import(join(inject('compiled'), 'src/engine/start.js'))) as typeof engineModule;

/** The sequence numbers of the records in the table's only shard. */
async function numbers(engine: Engine, stream: string): Promise<bigint[]> {
  const client = new DynamoDBStreamsClient({ ...engine });
  const { StreamDescription: described } = await client.send(new DescribeStreamCommand({ StreamArn: stream }));
  const ShardId = described?.Shards?.[0]?.ShardId;
  const command = new GetShardIteratorCommand({ StreamArn: stream, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  const { ShardIterator } = await client.send(command);
  const { Records = [] } = await client.send(new GetRecordsCommand({ ShardIterator }));
  return Records.map(({ dynamodb }) => BigInt(dynamodb?.SequenceNumber ?? 0));
}

/** How SQLite finds a stream's first record, as each request to a table with a stream does. */
const FINDS_FIRST = "EXPLAIN QUERY PLAN SELECT MIN(SequenceNumber) FROM us WHERE StreamID = 'any'";
const byIndex = [expect.objectContaining({ detail: expect.stringContaining('INDEX recordsOfStream') as string })];

/** Ends an engine, and waits until its Java has ended, too. */
async function end(engine: Engine, folder: string): Promise<void> {
  const pid = readKeeperFile(keeperFile(folder))?.java?.pid ?? 0;
  await engine.close();
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 20_000 });
}

test('an engine that starts after 30 hours without a write goes on with later sequence numbers, and indexes streams', async () => {
  const folder = temporaryFolder();
  /** Opens the engine's file for one use: an open statement would lock its tables. */
  function withRows<T>({ credentials, region }: Engine, use: (rows: Database) => T): T {
    const rows = new Libsql(databaseFile(databaseFolder(folder), credentials.accessKeyId, region));
    const result = use(rows);
    rows.close();
    return result;
  }
  const put = (engine: Engine, pk: string) =>
    new DynamoDBClient({ ...engine }).send(new PutItemCommand({ TableName: 'rows', Item: { pk: { S: pk } } }));

  const first = await startEngine({ dataDir: folder });
  const created = await new DynamoDBClient({ ...first }).send(
    new CreateTableCommand({
      TableName: 'rows',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  const stream = created.TableDescription?.LatestStreamArn ?? '';
  for (const pk of ['a', 'b', 'c']) await put(first, pk);
  const [, , last = 0n] = await numbers(first, stream);
  await end(first, folder);

  expect(withRows(first, (rows) => rows.prepare(FINDS_FIRST).all())).toEqual(byIndex);
  withRows(first, (rows) => {
    rows.exec(`UPDATE us SET CreationDateTime = CreationDateTime - ${31 * 3_600_000}`);
    // As in a folder of an earlier version.
    rows.exec('DROP INDEX recordsOfStream');
  });

  const second = await startEngine({ dataDir: folder });
  await put(second, 'd');
  const found = await numbers(second, stream);
  await end(second, folder);
  expect(withRows(second, (rows) => rows.prepare(FINDS_FIRST).all())).toEqual(byIndex);
  expect(found).toHaveLength(1);
  expect(found[0]).toBeGreaterThan(last);
});
