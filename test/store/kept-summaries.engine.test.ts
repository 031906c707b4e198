import { expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { closeDay, openDays, readDays, summarizeDay } from '../../src/store/reading/kept-days.js';
import { readKeptSummaries } from '../../src/store/reading/kept-summaries.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const CREATED = '2026-11-01T10:00:00.000Z';
const NOW = new Date('2026-11-21T06:00:00.000Z');
const db = await testDatabase();
const input = { key: 'sensors', name: 'Sensors', readingsSummarized: true };
const collection = await testCollection(db, input, CREATED);
const reference = { collection, key: 'a' };
const { marker } = await createMarker(newCall(db), collection, { key: 'a', position: { lng: 1, lat: 2 } }, CREATED);

/** Records a reading for each of some seconds of a day. */
async function recordSeconds(day: string, seconds: number): Promise<void> {
  const at = (second: number) => new Date(Date.parse(day) + second * 1_000).toISOString();
  const readings = Array.from({ length: seconds }, (_, second) => ({ at: at(second), values: { t: second } }));
  await recordReadings(newCall(db), reference, readings, NOW);
}

function read(from: string, items: number) {
  const wanted = { value: 't', period: 'DAY', from: `${from}T00:00:00.000Z`, to: undefined, first: 400 } as const;
  const trust = { current: true, finalBefore: Infinity };
  const options = { now: NOW.getTime(), budget: { queries: 1_000, items }, trust };
  return readKeptSummaries(newCall(db), reference, marker.incarnation, wanted, options);
}

test('a page ends before a day that is not kept and has more readings than a request may read', async () => {
  for (const day of ['2026-11-19', '2026-11-20']) {
    await recordSeconds(day, 2);
    const one = { scope: db.keys.scope(collection), key: 'a', day };
    await openDays(newCall(db), [one], 1);
    const [open] = await readDays(newCall(db), [one]);
    await closeDay(newCall(db), one, open!, await summarizeDay(newCall(db), collection, one, NOW.getTime()));
  }
  await recordSeconds('2026-11-21', 600);
  expect((await read('2026-11-01', 20_000)).summaries).toHaveLength(3);
  const page = await read('2026-11-01', 500);
  expect(page.summaries.map(({ start }) => start.slice(0, 10))).toEqual(['2026-11-19', '2026-11-20']);
  expect(page.next).toBe('2026-11-21T00:00:00.000Z');
  await expect(read('2026-11-21', 500)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
});
