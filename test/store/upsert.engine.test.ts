import { expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { injectFaults } from '../support/faults.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const db = await testDatabase();

test('an upsert whose response is lost says that it has updated the marker', async () => {
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  await createMarker(newCall(db), parks, { key: 'a', position: { lng: 1, lat: 2 } }, NOW);
  const own = newDatabase('readable', { tables: db.tables });
  injectFaults(own, 'UpdateItem', ['answer lost']);
  const { written } = await upsertMarkers(newCall(own), parks, [{ key: 'a', position: { lng: 3, lat: 2 } }], NOW);
  expect(written.map(({ outcome }) => outcome)).toEqual(['updated']);
  const [marker] = await getMarkers(newCall(db), [{ collection: parks, key: 'a' }]);
  expect(marker).toMatchObject({ position: { lng: 3, lat: 2 }, version: 2 });
});
