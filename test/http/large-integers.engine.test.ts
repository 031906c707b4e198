import { afterAll, expect, test } from 'vitest';

import { compiling, interpreting } from '../../src/graphql/execution/executor.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { send } from '../../src/store/request/send.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer } from './live-server.js';

const NOW = '2026-11-21T10:00:00.000Z';
const db = await testDatabase();
const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);

test.each([compiling, interpreting])(
  'a map shows integers of another program rounded (executor %#)',
  async (executor) => {
    const server = await startServer(db, { executor });
    afterAll(() => server.close());
    const item = newMarkerItem(db, parks, { key: 'big', position: { lng: 50, lat: 50 }, properties: { a: 1 } }, NOW);
    await send(newCall(db), 'put', { TableName: db.tables.entities, Item: { ...item, m: { a: 2n ** 53n + 1n } } });
    const bounds = '{west: 49, south: 49, east: 51, north: 51}';
    const { data } = await server.ask(
      `{ marker(id: "marker::parks::big") { properties geojson }
      viewport(bounds: ${bounds}, zoom: 10) { features(collection: "parks") } }`,
    );
    const shown = { a: 2 ** 53, key: 'big', name: null, category: null };
    expect(data).toMatchObject({
      marker: { properties: { a: 2 ** 53 }, geojson: { properties: shown } },
      viewport: { features: { features: [{ properties: shown }] } },
    });
  },
);
