import { beforeAll, expect, test } from 'vitest';

import { describeSource } from '../../../src/store/source/describe-source.js';
import { testCollection, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { make } = shopTables(db);

beforeAll(async () => {
  const table = await make('shops', [shop(1, 5, 5)]);
  const { key: tableKey } = await describeSource(db, table);
  const source = { table, mapping: JSON.stringify({ ...MAPPING, table }), tableKey };
  await testCollection(db, { key: 'shops', name: 'Shops', source });
});

test.each([
  'markers(collection: "shops") { nodes { key } }',
  'clusters(collection: "shops") { count }',
  'cells(collection: "shops") { count }',
  'auto(collection: "shops") { total }',
  'features(collection: "shops")',
  'count(collection: "shops")',
  '/tiles/shops/2/1/1?layers=cells',
  '/tiles/shops/2/1/1',
  '/maps/shops?bbox=0,0,10,10&zoom=3',
  '/ogc/collections/shops/items',
])('before the table of a source was read, nobody is told that there is nothing: %s', async (asked) => {
  // Nobody fills it.
  const server = await serve(db, { CELLPORT_CONSUMER: 'off', CELLPORT_CACHE_SECONDS: '60' });
  const filling = 'collection shops is being filled from its table; try again later';
  if (asked.startsWith('/')) {
    const answer = await fetch(server.url + asked);
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([
      503,
      'no-store',
      expect.stringContaining(filling),
    ]);
    return;
  }
  const { errors } = await server.ask(
    `{ viewport(bounds: { west: 0, south: 0, east: 10, north: 10 }, zoom: 3) { ${asked} } }`,
  );
  expect(errors?.map(({ message }) => message)).toEqual([filling]);
});
