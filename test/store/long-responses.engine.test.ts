import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { Scheduler } from '../../src/scheduling/scheduler.js';
import { queryCommand } from '../../src/store/request/query-items.js';

test('the items of a long response are converted in turns with other work', async () => {
  const { takeTurn } = new Scheduler(systemClock);
  const count = 2_048;
  const Items = Array.from({ length: count }, (_, at) => ({ pk: { S: `p${at}` }, n: { N: String(at) } }));
  let others = 0;
  let done = false;
  async function* body() {
    yield Buffer.from(JSON.stringify({ Count: count, Items }));
    others = 0;
  }
  const client = new DynamoDBClient({
    region: 'local',
    endpoint: 'http://127.0.0.1:1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: { handle: async () => ({ response: { statusCode: 200, headers: {}, body: body() } }) },
  });
  const other = async () => {
    for (; !done; others += 1) await takeTurn();
  };
  const working = other();
  const answer = await DynamoDBDocumentClient.from(client).send(queryCommand({ TableName: 't' }, takeTurn));
  const between = others;
  done = true;
  await working;
  expect(answer.Items).toEqual(Items.map((_, at) => ({ pk: `p${at}`, n: at })));
  // One turn for every 256 items.
  expect(between).toBeGreaterThanOrEqual(count / 256);
});
