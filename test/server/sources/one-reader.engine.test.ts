import { expect, test, vi } from 'vitest';

import { silentLog } from '../../../src/log.js';
import { SourceKeeper } from '../../../src/server/sources/keeper.js';
import { createCollection } from '../../../src/store/collection/collections.js';
import { newCall } from '../../../src/store/database.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { createTable, putItem } from '../../sources/foreign-table.js';
import { inTurn } from '../../support/rounds.js';
import { engine, testDatabase } from '../../support/test-database.js';

const turn = inTurn(2);
const db = await testDatabase('readable', { stream: true });
const table = `${db.tables.entities}-app`;
const tableKey = [{ name: 'PK', type: 'S' }] as const;

async function create(key: string): Promise<void> {
  const mapping = { table, items: { PK: `${key}#{key}` }, position: { lng: 'lng', lat: 'lat' } };
  const source = { table, mapping: JSON.stringify(mapping), tableKey };
  const input = { key, name: key, mapProperties: [], source };
  await createCollection(newCall(db), input, new Date().toISOString());
}

test('one server follows all sources of a table, whichever was created first, and so does the next one', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  await createTable(db, table, tableKey, 'NEW_AND_OLD_IMAGES');
  await putItem(db, table, { PK: 'm#1', lng: 1, lat: 2 });
  const streams = [createStreamsClient(engine()), createStreamsClient(engine())];
  const keepers = streams.map((client) => new SourceKeeper({ database: db, streams: client }, silentLog));
  const countOf = (keeper: SourceKeeper) => [...keeper.statuses().values()].filter(({ owner }) => owner).length;
  const counts = () => keepers.map(countOf).toSorted((a, b) => a - b);
  const waiting = { timeout: 60_000, interval: 100 };

  await create('m');
  await vi.waitFor(() => expect(counts()).toEqual([0, 1]), waiting);
  for (const key of ['a', 'k', 'p', 'z']) await create(key);
  await vi.waitFor(() => expect(counts()).toEqual([0, 5]), waiting);

  const follower = keepers.find((keeper) => countOf(keeper) > 0);
  await follower?.stop();
  await vi.waitFor(() => expect(counts()).toEqual([0, 5]), waiting);
  await Promise.all(keepers.map((keeper) => keeper.stop()));
  for (const client of streams) client.destroy();
});
