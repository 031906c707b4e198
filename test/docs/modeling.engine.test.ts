import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { defineEntity, type EntityDeclaration, type EntityOf } from '../../src/keys/public.js';
import { newDatabase } from '../support/test-database.js';

const page = readFileSync(new URL('../../docs/modeling.md', import.meta.url), 'utf8');
const code = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block).join('\n');

type AnyEntity = EntityOf<EntityDeclaration>;
interface Example {
  readonly line: string;
  readonly value: unknown;
  readonly comment: unknown;
}

/** Runs the code of the page. A line `expression; // value` becomes an example. */
function runPage() {
  const examples: Example[] = [];
  const body = code
    .replace(/^import .*$/m, '')
    .replaceAll(/^(\w.*); \/\/ (.*)$/gm, (_, expression: string, comment: string) => {
      return `example(${JSON.stringify(expression)}, ${expression}, (${comment}));`;
    });
  const run = runInThisContext(`(defineEntity, example) => {
    ${body}
    return { sensor, manual, reading, device, membership };
  }`) as (
    define: typeof defineEntity,
    example: (line: string, value: unknown, comment: unknown) => void,
  ) => Readonly<Record<'sensor' | 'manual' | 'reading' | 'device' | 'membership', AnyEntity>>;
  const entities = run(defineEntity, (line, value, comment) => examples.push({ line, value, comment }));
  return { entities, examples };
}

const { entities, examples } = runPage();

test.each(examples)('$line has the value in its comment', ({ value, comment }) => {
  expect(value).toEqual(comment);
});

test('the page has an example of each relation', () => {
  expect(examples.length).toBeGreaterThanOrEqual(8);
});

const { client, tables } = newDatabase();
const table = tables.entities;
const INDEXES = { byRoom: ['rpk', 'rsk'], byCollection: ['cpk', 'csk'] } as const;

type Item = Readonly<Record<string, unknown>>;
const put = (item: Item) => client.send(new PutCommand({ TableName: table, Item: item }));

/** The items of a partition, in the order of their sort keys. */
async function query(pk: string, index?: keyof typeof INDEXES, range?: { from: string; to: string }) {
  const [hash, sort] = index ? INDEXES[index] : (['pk', 'sk'] as const);
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      ...(index && { IndexName: index }),
      KeyConditionExpression: `${hash} = :pk${range ? ` AND ${sort} BETWEEN :from AND :to` : ''}`,
      ExpressionAttributeValues: { ':pk': pk, ...(range && { ':from': range.from, ':to': range.to }) },
    }),
  );
  return Items;
}

beforeAll(async () => {
  const keys = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  const names = ['pk', 'sk', ...Object.values(INDEXES).flat()];
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: keys('pk', 'sk'),
      GlobalSecondaryIndexes: Object.entries(INDEXES).map(([IndexName, [hash, range]]) => ({
        IndexName,
        KeySchema: keys(hash, range),
        Projection: { ProjectionType: 'ALL' as const },
      })),
    }),
  );
});
afterAll(() => client.destroy());

test('one Query reads both parts of an object, and its readings in a time range', async () => {
  const { sensor, manual, reading } = entities;
  const instants = ['2026-11-24T08:00Z', '2026-11-24T09:00Z', '2026-11-25T08:00Z'];
  await put({ ...sensor.format({ id: 's1' }), name: 'Roof' });
  await put({ ...manual.format({ id: 's1' }), text: 'Turn it on.' });
  await put({ ...sensor.format({ id: 's2' }), name: 'Cellar' });
  for (const instant of instants) await put({ ...reading.format({ id: 's1', instant }), value: 1 });
  const { pk } = sensor.format({ id: 's1' });
  expect((await query(pk)).map(({ sk }) => sk)).toEqual(['manual', ...instants.map((at) => `reading::${at}`), 'self']);
  const [from, to] = ['2026-11-24T00:00Z', '2026-11-24T23:59Z'].map((at) => String(reading.sk.format({ instant: at })));
  const day = await query(pk, undefined, { from: from ?? '', to: to ?? '' });
  expect(day.map(({ sk }) => sk)).toEqual(instants.slice(0, 2).map((at) => `reading::${at}`));
});

test('the many are found through the one, and leave it with one write; items without one are not in the index', async () => {
  const { device } = entities;
  const store = (id: string, room: string | undefined) =>
    put({ ...device.format({ id }), ...device.indexKeys({ id, room }), name: id });
  for (const [id, room] of [
    ['d1', '302'],
    ['d2', '302'],
    ['d3', '303'],
    ['d4', undefined],
  ] as const)
    await store(id, room);
  const inRoom = async (room: string) => (await query(`room::${room}`, 'byRoom')).map(({ name }) => name);
  expect(await inRoom('302')).toEqual(['d1', 'd2']);
  await store('d1', '303');
  expect([await inRoom('302'), await inRoom('303')]).toEqual([['d2'], ['d1', 'd3']]);
});

test('pairs are found from both sides, each once', async () => {
  const { membership } = entities;
  const pairs = [
    ['cafe-7', 'vegan'],
    ['cafe-7', 'wifi'],
    ['cafe-8', 'wifi'],
    ['cafe-8', 'wifi'],
  ] as const;
  for (const [marker, collection] of pairs) {
    const pair = { marker, collection };
    await put({ ...membership.format(pair), ...membership.indexKeys(pair) });
  }
  const parsed = async (items: Promise<Item[]>) =>
    (await items).map(({ pk, sk }) => membership.parse({ pk: String(pk), sk: String(sk) }));
  expect(await parsed(query('member::cafe-7'))).toEqual([
    { marker: 'cafe-7', collection: 'vegan' },
    { marker: 'cafe-7', collection: 'wifi' },
  ]);
  expect(await parsed(query('members::wifi', 'byCollection'))).toEqual([
    { marker: 'cafe-7', collection: 'wifi' },
    { marker: 'cafe-8', collection: 'wifi' },
  ]);
});
