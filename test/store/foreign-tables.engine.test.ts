import {
  CreateTableCommand,
  UpdateTimeToLiveCommand,
  type CreateTableCommandInput,
  type GlobalSecondaryIndex,
} from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { MonthKeeper } from '../../src/jobs/month-tables.js';
import { silentLog } from '../../src/log.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { readReadingsOf, recordReadings } from '../../src/store/reading/readings.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { deleteTables, ensureMonthTable, listMonths, monthTable } from '../../src/store/table/month-tables.js';
import { tableDefinitions } from '../../src/store/table/table-definitions.js';
import { deleteTable, describeTables, ensureTables, openTables, ownTables } from '../../src/store/table/tables.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { createStreamsClient, openStream } from '../../src/stream/source/dynamodb.js';
import { interceptCalls } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { engine, newDatabase, testCollection } from '../support/test-database.js';

type Schema = Omit<CreateTableCommandInput, 'TableName'>;

/** A table as somebody else has it. */
interface Foreign {
  readonly schema: Schema;
  readonly ttl?: string;
  readonly item?: Readonly<Record<string, unknown>>;
}

const BASE: Schema = {
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
};
const BY_ID: Schema = {
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
};
const GSI: GlobalSecondaryIndex = {
  IndexName: 'GSI1',
  KeySchema: [{ AttributeName: 'sk', KeyType: 'HASH' }],
  Projection: { ProjectionType: 'ALL' },
};
const LSI = {
  IndexName: 'byTime',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' as const },
    { AttributeName: 'at', KeyType: 'RANGE' as const },
  ],
  Projection: { ProjectionType: 'ALL' as const },
};
const ITEM = { pk: 'ORDER#1', sk: 'LINE#1', ttl: 1, price: 5 };

function ours(index: number): Schema {
  const { TableName: _, ...schema } = tableDefinitions({ entities: 'a', derived: 'b' })[index]!.request;
  return schema;
}
function withoutPlace(): Schema {
  const { GlobalSecondaryIndexes = [], AttributeDefinitions = [], ...rest } = ours(0);
  return {
    ...rest,
    GlobalSecondaryIndexes: GlobalSecondaryIndexes.filter(({ IndexName }) => IndexName !== 'place'),
    AttributeDefinitions: AttributeDefinitions.filter(
      ({ AttributeName }) => !['ppk', 'psk'].includes(`${AttributeName}`),
    ),
  };
}

/** Tables that neither the derived table nor that of a month can be. */
const PLAIN: readonly (readonly [string, Foreign, string])[] = [
  [
    'has another key',
    { schema: BY_ID, item: { id: '1', ttl: 1 } },
    'key must be pk (HASH), sk (RANGE); found id (HASH)',
  ],
  [
    'expires by another attribute',
    { schema: BASE, ttl: 'expires', item: ITEM },
    'TTL attribute must be ttl; found expires',
  ],
  ['has our key, no TTL, and an item', { schema: BASE, item: ITEM }, 'TTL attribute must be ttl; found none'],
  [
    'has an index',
    { schema: { ...BASE, GlobalSecondaryIndexes: [GSI] }, ttl: 'ttl', item: ITEM },
    'indexes must be none; found GSI1',
  ],
  [
    'has a local index',
    {
      schema: {
        ...BASE,
        AttributeDefinitions: [...BASE.AttributeDefinitions!, { AttributeName: 'at', AttributeType: 'S' }],
        LocalSecondaryIndexes: [LSI],
      },
    },
    'indexes must be none; found byTime',
  ],
  [
    'has a number as sort key',
    {
      schema: {
        ...BASE,
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'N' },
        ],
      },
      ttl: 'ttl',
    },
    'type of attribute sk must be S; found N',
  ],
];

/** Tables that the entities table cannot be. */
const ENTITIES: readonly (readonly [string, Foreign, string])[] = [
  [
    'has another key',
    { schema: BY_ID, item: { id: '1', ttl: 1 } },
    'key must be pk (HASH), sk (RANGE); found id (HASH)',
  ],
  ['has our key, but no indexes', { schema: BASE, item: ITEM }, 'index geoA must be present; found missing'],
  [
    'has our key and TTL, but no indexes',
    { schema: BASE, ttl: 'ttl', item: ITEM },
    'index geoA must be present; found missing',
  ],
  [
    'has other indexes',
    { schema: { ...BASE, GlobalSecondaryIndexes: [GSI] }, item: ITEM },
    'index geoA must be present',
  ],
  ['lacks one of our indexes', { schema: withoutPlace(), item: ITEM }, 'index place must be present; found missing'],
  [
    'has our indexes, and expires by another attribute',
    { schema: ours(0), ttl: 'expires' },
    'TTL attribute must be ttl; found expires',
  ],
];

const switchTtl = ({ client }: Database, TableName: string, AttributeName: string) =>
  client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { AttributeName, Enabled: true } }));

async function make(database: Database, name: string, { schema, ttl, item }: Foreign): Promise<void> {
  await database.client.send(new CreateTableCommand({ ...schema, TableName: name }));
  if (ttl !== undefined) await switchTtl(database, name, ttl);
  if (item !== undefined) await database.client.send(new PutCommand({ TableName: name, Item: { ...item } }));
}

/** All that is in some tables, and how they are. */
async function contents(database: Database) {
  const states = await describeTables(database);
  return Promise.all(
    states.map(async ({ description, ...state }) => [
      state,
      description,
      description && (await database.client.send(new ScanCommand({ TableName: state.name }))).Items,
    ]),
  );
}

/** The names of commands that were sent to a table. */
const sentTo = ({ commands }: ReturnType<typeof recordCalls>, table: string) => [
  ...new Set(commands.filter(({ input }) => JSON.stringify(input).includes(table)).map(({ name }) => name)),
];
const LOOKING = ['DescribeTable', 'DescribeTimeToLive'];

/** Tries everything that creates, changes or deletes tables. */
async function expectRefused(database: Database, table: string, fault: string): Promise<void> {
  const before = await contents(database);
  const calls = recordCalls(database);
  for (const act of [openTables, ensureTables, ownTables, deleteTables]) {
    await expect(act(database)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`table ${table}: ${fault}`),
    });
  }
  const names = new Set(calls.commands.map(({ name }) => name));
  names.delete('ListTables');
  // The style of its keys is read from a table of ours.
  if (table !== database.tables.entities) names.delete('Query');
  expect([...names].sort()).toEqual(LOOKING);
  expect(sentTo(calls, `"${table}"`).sort()).toEqual(LOOKING);
  expect(await contents(database)).toEqual(before);
}

const OTHERS = ['is missing', 'is ours', 'is half made'] as const;

async function makeOther(database: Database, index: 0 | 1, state: (typeof OTHERS)[number]): Promise<void> {
  if (state === 'is missing') return;
  const { entities, derived } = database.tables;
  const ttl = state === 'is ours' ? { ttl: 'ttl' } : {};
  await make(database, index === 0 ? entities : derived, { schema: ours(index), ...ttl });
}

describe.each(variants(OTHERS))('where the other table %s, nothing is sent but a look', (other) => {
  test.each(ENTITIES)('at an entities table that %s', async (_, foreign, fault) => {
    const database = newDatabase();
    await make(database, database.tables.entities, foreign);
    await makeOther(database, 1, other);
    await expectRefused(database, database.tables.entities, fault);
  });

  test.each(PLAIN)('at a derived table that %s', async (_, foreign, fault) => {
    const database = newDatabase();
    await make(database, database.tables.derived, foreign);
    await makeOther(database, 0, other);
    await expectRefused(database, database.tables.derived, fault);
  });
});

const NOW = new Date('2028-03-01T00:00:10.000Z');
const OLD = '2027-06';
const MONTH = '2028-03';

describe('a table with the name of a month’s', () => {
  test.each(variants(PLAIN, 3))(
    'that %s is not read, written, followed, changed or deleted',
    async (_, foreign, fault) => {
      const database = newDatabase();
      await ensureTables(database);
      const input = { key: 'monthly', name: 'M', readingsTable: 'MONTHLY' as const, readingsTtlDays: 400 };
      const collection = await testCollection(database, input, NOW.toISOString());
      const reference = { collection, key: 'm' };
      await createMarker(newCall(database), collection, { key: 'm', position: { lng: 1, lat: 1 } }, NOW.toISOString());
      const [own, old] = [monthTable(database.tables, '2028-02'), monthTable(database.tables, '2027-07')];
      await ensureMonthTable(database, '2028-02', NOW.getTime());
      await ensureMonthTable(database, '2027-07', Date.parse('2027-07-01T00:00:00.000Z'));
      const tables = [OLD, MONTH].map((month) => monthTable(database.tables, month));
      const stream = { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' as const } };
      for (const table of tables) await make(database, table, { ...foreign, schema: { ...foreign.schema, ...stream } });
      const scans = () =>
        Promise.all(
          tables.map(async (TableName) => (await database.client.send(new ScanCommand({ TableName }))).Items),
        );
      const before = await scans();

      const calls = recordCalls(database);
      const record = (at: string) => recordReadings(newCall(database), reference, [{ at, values: { t: 1 } }], NOW);
      await expect(record('2028-03-01T00:00:00.000Z')).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(`table ${tables[1]}: ${fault}`),
      });
      expect(await record('2028-02-29T00:00:00.000Z')).toBe(1);

      const [marker] = await getMarkers(newCall(database), [reference]);
      const options = { now: NOW.getTime(), mostPassed: 100 };
      const readings = readReadingsOf(newCall(database), reference, marker!.incarnation, { last: 9 }, options);
      // A restored table of ours has its key: not to read it must not look as if there were nothing.
      if (/^(?:key|type)/.test(fault)) expect(await readings).toHaveLength(1);
      else await expect(readings).rejects.toThrow(`table ${tables[1]}: ${fault}`);
      await deleteMarker(newCall(database), reference, { now: NOW.toISOString() });

      const streams = createStreamsClient(engine());
      const now = vi.spyOn(database.clock, 'wall').mockReturnValue(NOW.getTime());
      onTestFinished(() => now.mockRestore());
      const port = openStream(database, streams);
      const { shards } = await port.listShards(await port.identify(), undefined);
      expect(shards.map(({ id }) => id.slice(0, 8)).filter((id) => /^\d{4}-/.test(id))).toEqual(['2028-02/']);
      streams.destroy();
      for await (const _page of openRecount(database, 'cells').scanMarkers());

      expect(await listMonths(database)).toEqual(['2027-07', '2028-02']);
      const keep = (iso: string) => new MonthKeeper(database, silentLog).keep([collection], Date.parse(iso));
      await expect(keep('2028-03-02T00:00:00.000Z')).rejects.toThrow(`table ${tables[1]}: ${fault}`);
      // Those of ours are cooled, and later deleted, all the same.
      expect(sentTo(calls, `"${old}"`)).toContain('UpdateTable');
      await keep('2029-06-01T00:00:00.000Z');
      expect(await listMonths(database)).toEqual(['2029-06']);

      await expect(deleteTables(database)).rejects.toThrow(`table ${tables[1]}: ${fault}`);
      for (const table of tables) expect(sentTo(calls, `"${table}"`).sort()).toEqual(LOOKING);
      expect(sentTo(calls, `"${database.tables.entities}"`)).not.toContain('DeleteTable');
      expect(sentTo(calls, `"${own}"`)).toContain('DeleteTable');
      expect(await scans()).toEqual(before);
    },
  );

  test('is looked at once if it is ours, and again once it exists if there was none', async () => {
    const database = newDatabase();
    await ensureTables(database);
    const input = { key: 'monthly', name: 'M', readingsTable: 'MONTHLY' as const, readingsTtlDays: 40 };
    const collection = await testCollection(database, input, NOW.toISOString());
    const reference = { collection, key: 'm' };
    await createMarker(newCall(database), collection, { key: 'm', position: { lng: 1, lat: 1 } }, NOW.toISOString());
    await ensureMonthTable(database, '2028-02', NOW.getTime());
    const [marker] = await getMarkers(newCall(database), [reference]);
    const options = { now: NOW.getTime(), mostPassed: 100 };
    const calls = recordCalls(database);
    const read = () => readReadingsOf(newCall(database), reference, marker!.incarnation, { last: 9 }, options);
    await Promise.all([read(), read()]);
    const months = calls.count('Query') / 2;
    expect(months).toBeGreaterThan(1);
    expect(calls.count('DescribeTable')).toBe(months);
    await read();
    expect(calls.count('DescribeTable')).toBe(months);

    const stream = { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' as const } };
    await make(database, monthTable(database.tables, MONTH), { schema: { ...BASE, ...stream }, item: ITEM });
    expect(await listMonths(database)).toEqual(['2028-02']);
    await expect(read()).rejects.toThrow(`table ${monthTable(database.tables, MONTH)}: TTL attribute must be ttl`);
  });

  test('that is half made is completed, however many writers do so', async () => {
    const database = newDatabase();
    const name = monthTable(database.tables, MONTH);
    await make(database, name, { schema: BASE });
    await Promise.all([1, 2, 3].map(() => ensureMonthTable(database, MONTH, NOW.getTime())));
    expect((await describeTables(database, [{ request: { ...BASE, TableName: name }, ttl: 'ttl' }]))[0]?.ttl).toBe(
      'ttl',
    );
  });

  test('is only that of a month of the calendar', async () => {
    const database = newDatabase();
    await ensureTables(database);
    const names = ['2028-13', '2028-00', '2028-1', '2028-011', 'old'].map((month) =>
      monthTable(database.tables, month),
    );
    for (const name of names) await make(database, name, { schema: BASE, ttl: 'ttl' });
    expect(await deleteTables(database)).toEqual([database.tables.entities, database.tables.derived]);
    for (const name of names) await database.client.send(new ScanCommand({ TableName: name }));
  });
});

describe('our own tables', () => {
  test.each([
    ['both', [0, 1]],
    ['entities', [0]],
    ['derived', [1]],
  ])('are completed if a process was killed before TTL was on: %s', async (_, made) => {
    const database = newDatabase();
    for (const index of made) await makeOther(database, index as 0 | 1, 'is half made');
    const { created } = await openTables(database);
    expect(created).toHaveLength(2 - made.length);
    expect((await describeTables(database)).map(({ ttl }) => ttl)).toEqual(['ttl', 'ttl']);
  });

  test('are deleted when half made, or when one of them is missing', async () => {
    const database = newDatabase();
    await makeOther(database, 0, 'is half made');
    expect(await deleteTables(database)).toEqual([database.tables.entities]);
    await makeOther(database, 1, 'is half made');
    expect(await deleteTables(database)).toEqual([database.tables.derived]);
    await makeOther(database, 1, 'is ours');
    expect(await deleteTables(database)).toEqual([database.tables.derived]);
  });

  test('are known by the entities table, which is deleted last: without it, no table with items is used or deleted', async () => {
    const database = newDatabase();
    await ensureTables(database);
    const { entities, derived } = database.tables;
    await database.client.send(new PutCommand({ TableName: derived, Item: ITEM }));
    const calls = recordCalls(database);
    await deleteTables(database);
    const deleted = calls.commands.filter(({ name }) => name === 'DeleteTable').map(({ input }) => input['TableName']);
    expect(deleted).toEqual([derived, entities]);

    // Otherwise, one that looks like ours would be taken for ours as soon as there is a new entities table.
    for (const name of [derived, monthTable(database.tables, '2026-11')]) {
      await make(database, name, { schema: BASE, ttl: 'ttl', item: ITEM });
      for (const act of [openTables, deleteTables]) {
        await expect(act(database)).rejects.toThrow(
          `table ${name}: table ${entities}, by which it is known, must be present; found missing`,
        );
      }
      expect((await database.client.send(new ScanCommand({ TableName: name }))).Items).toEqual([ITEM]);
      expect((await describeTables(database))[0]?.description).toBeUndefined();
      await deleteTable(database, name);
    }
    // This is no name of ours.
    await make(database, monthTable(database.tables, 'archive'), { schema: BASE, ttl: 'ttl', item: ITEM });
    expect((await openTables(database)).created.toSorted()).toEqual([entities, derived]);
  });

  test('get TTL on again after a restore with all their markers, as their indexes show whose they are', async () => {
    const database = newDatabase();
    await makeOther(database, 0, 'is half made');
    await database.client.send(new PutCommand({ TableName: database.tables.entities, Item: { pk: 'a', sk: 'b' } }));
    await openTables(database);
    expect((await describeTables(database))[0]?.ttl).toBe('ttl');
  });

  test('are not refused while another process switches TTL on and writes the first item', async () => {
    const database = newDatabase();
    await makeOther(database, 0, 'is ours');
    await makeOther(database, 1, 'is half made');
    const { derived } = database.tables;
    const other = newDatabase('readable', { tables: database.tables });
    let looks = 0;
    // The other one does so while this one looks whether the table is empty.
    interceptCalls(database, 'Scan', async (input, ask) => {
      looks += 1;
      await switchTtl(other, derived, 'ttl');
      await other.client.send(new PutCommand({ TableName: derived, Item: { pk: 'a', sk: 'b' } }));
      return ask(input);
    });
    await openTables(database);
    expect(looks).toBe(1);
  });

  test('are told from a table that another process creates after the first look', async () => {
    const database = newDatabase();
    await makeOther(database, 1, 'is ours');
    const { entities } = database.tables;
    const other = newDatabase('readable', { tables: database.tables });
    let isMade = false;
    interceptCalls(database, 'CreateTable', async (input, ask) => {
      if (!isMade) await make(other, entities, { schema: BASE, item: ITEM });
      isMade = true;
      return ask(input);
    });
    const calls = recordCalls(database);
    await expect(ensureTables(database)).rejects.toThrow(
      `table ${entities}: index geoA must be present; found missing`,
    );
    expect(calls.count('UpdateTimeToLive')).toBe(0);
  });

  test('are created again once a deletion that is under way has ended, with TTL', async () => {
    const database = newDatabase();
    await ensureTables(database);
    let looks = 0;
    interceptCalls(database, 'DescribeTable', async (input, ask) => {
      const answer = await ask(input);
      if (input['TableName'] !== database.tables.derived) return answer;
      looks += 1;
      if (looks === 3) await deleteTables(newDatabase('readable', { tables: database.tables }));
      if (looks >= 3) return ask(input);
      return { ...answer, Table: { ...(answer['Table'] as object), TableStatus: 'DELETING' } };
    });
    expect(await ensureTables(database)).toEqual([database.tables.derived]);
    const fresh = newDatabase('readable', { tables: database.tables });
    expect((await describeTables(fresh))[1]?.ttl).toBe('ttl');
  });
});
