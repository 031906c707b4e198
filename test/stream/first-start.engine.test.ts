import type { TableDescription } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';

import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall, type Item } from '../../src/store/database.js';
import { send } from '../../src/store/request/send.js';
import { interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { countedCells, markerItem, storedCells, untilRead, whileConsuming } from './support.js';

const THREE_DAYS_MS = 3 * 24 * 3_600_000;

const db = await testDatabase('readable', { stream: true });
const calls = recordCalls(db);

// The table as it will be in three days.
interceptCalls(db, 'DescribeTable', async (input, ask) => {
  const output = await ask(input);
  const { CreationDateTime, LatestStreamLabel, ...table } = output['Table'] as TableDescription;
  const enabled = Date.parse(`${LatestStreamLabel}Z`) - THREE_DAYS_MS;
  return {
    ...output,
    Table: {
      ...table,
      CreationDateTime: new Date(Number(CreationDateTime) - THREE_DAYS_MS),
      LatestStreamLabel: new Date(enabled).toISOString().slice(0, -1),
    },
  };
});

/** Starts a consumer without a state, waits until it has read everything, and returns its gap. */
async function gapOfFirstStart(name: string, meanwhile: () => Promise<unknown>): Promise<string | undefined> {
  await whileConsuming(db, meanwhile, { consumer: name, days: undefined });
  return (await loadStreamState(newCall(db), name))?.gap?.reason;
}

const put = (item: Item) => send(newCall(db), 'put', { TableName: db.tables.entities, Item: item });

test('a first start leaves a gap only if there are collections, however old the table is', async () => {
  const gap = await gapOfFirstStart('early', async () => {
    // Not before the consumer has requested it.
    await untilRead(db, 'early');
    await testCollection(db, { key: 'parks', name: 'Parks' });
    await put(markerItem(db, 'parks', 'first', 16.9, 52.4));
  });
  expect(gap).toBeUndefined();
  expect(await storedCells(db)).toEqual(await countedCells(db));
  const { entities } = db.tables;
  const queries = calls.commands.filter(({ name, input }) => name === 'Query' && input['TableName'] === entities);
  // Whether there is any collection, then whether one has tables of months.
  const ofCollections = { ExpressionAttributeValues: { ':pk': 'collection' } };
  expect(queries[0]).toMatchObject({ input: { ...ofCollections, Limit: 1 } });
  expect(queries).toEqual(
    queries.map(() => expect.objectContaining({ input: expect.objectContaining(ofCollections) })),
  );

  expect(await gapOfFirstStart('late', () => Promise.resolve())).toMatch(/the stream was not read since/);
});
