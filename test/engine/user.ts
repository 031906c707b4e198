/**
 * A process that uses the engine, for tests to kill: connects to the engine of the given folder, reports that, and with
 * `write` puts rows from a number on, printing each number once it is acknowledged. With `transact` it writes ten rows
 * of 20 KB a transaction, and a refused transaction is followed by the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';

import { startEngine } from '../../src/engine/start.js';

const [folder, task, from = '0'] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

process.on('SIGINT', () => say({ interrupted: true }));

try {
  const engine = await startEngine({ dataDir: folder ?? null });
  say({ endpoint: engine.endpoint, accessKey: engine.credentials.accessKeyId });
  if (task === 'write') {
    const client = new DynamoDBClient({ ...engine });
    for (let n = Number(from); ; n += 1) {
      const put = new PutItemCommand({ TableName: 'rows', Item: { pk: { S: String(n) } } });
      // Like a server: a failed write is retried, and only a successful one is acknowledged.
      while (!(await client.send(put).catch(() => undefined))) await sleep(50);
      say({ acknowledged: n });
    }
  }
  if (task === 'transact') {
    const client = new DynamoDBClient({ ...engine, maxAttempts: 1 });
    const text = { S: 'x'.repeat(20_000) };
    for (let first = Number(from); ; first += 10) {
      const rows = Array.from({ length: 10 }, (_, index) => first + index);
      const TransactItems = rows.map((n) => ({ Put: { TableName: 'rows', Item: { pk: { S: String(n) }, text } } }));
      const written = await client.send(new TransactWriteItemsCommand({ TransactItems })).catch(() => undefined);
      for (const n of rows) say(written === undefined ? { refused: n } : { acknowledged: n });
      if (written === undefined) await sleep(20);
    }
  }
  setInterval(() => undefined, 60_000);
} catch (error) {
  say({ error: error instanceof Error ? error.message : String(error) });
}
