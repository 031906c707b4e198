import { expect, test } from 'vitest';

import { testCollection, testDatabase } from '../support/test-database.js';
import { testServer } from './live-server.js';

const db = await testDatabase();
await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-21T10:00:00.000Z');
const server = await testServer(db, { limits: { maxNodes: 30 } });

test('a mutation that has written is answered, however many fields are asked for', async () => {
  const fields = Array.from({ length: 41 }, (_, n) => `k${n}: key`).join(' ');
  const markers = Array.from({ length: 12 }, (_, n) => `{key: "m${n}", position: {lng: ${n}, lat: 2}}`).join(',');
  const { data, errors } = await server.ask(
    `mutation {
      one: createMarker(input: {collection: "parks", key: "x", position: {lng: 1, lat: 2}}) { version }
      two: createMarkers(collection: "parks", markers: [${markers}]) { markers { ${fields} } }
    }`,
  );
  expect(errors).toEqual([]);
  expect(data).toMatchObject({ one: { version: 1 }, two: { markers: Array(12).fill(expect.anything()) } });
});
