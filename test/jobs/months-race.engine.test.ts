import { expect, test } from 'vitest';

import { MonthKeeper } from '../../src/jobs/month-tables.js';
import { silentLog } from '../../src/log.js';
import { newCall } from '../../src/store/database.js';
import { createMarker, getMarkers } from '../../src/store/marker/markers.js';
import { readReadingsOf, recordReadings } from '../../src/store/reading/readings.js';
import { ensureMonthTable } from '../../src/store/table/month-tables.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = new Date('2028-03-20T00:00:10.000Z');

test('a table of a month stays for a collection that was created since the collections were listed', async () => {
  const db = await testDatabase('readable');
  const make = (key: string, readingsTtlDays: number) =>
    testCollection(db, { key, name: key, readingsTable: 'MONTHLY', readingsTtlDays }, NOW.toISOString());
  const short = await make('short', 30);
  // Made when the month began.
  await ensureMonthTable(db, '2028-01', Date.parse('2028-01-01T00:00:00.000Z'));
  // `runJobs` lists the collections, then removes readings of deleted markers of each, which may take hours.
  const listed = [short];
  const long = await make('long', 400);
  await createMarker(newCall(db), long, { key: 'm', position: { lng: 1, lat: 1 } }, NOW.toISOString());
  const name = { collection: long, key: 'm' };
  await recordReadings(newCall(db), name, [{ at: '2028-01-15T00:00:00.000Z', values: { t: 1 } }], NOW);
  await new MonthKeeper(db, silentLog).keep(listed, NOW.getTime());
  const [marker] = await getMarkers(newCall(db), [name]);
  if (!marker) throw new Error('no marker');
  const options = { now: NOW.getTime(), mostPassed: 1_000 };
  expect(
    await readReadingsOf(newCall(db), name, marker.incarnation, { last: 5, from: '2028-01-01T00:00:00.000Z' }, options),
  ).toHaveLength(1);
});
