import { afterAll, beforeAll, expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { listMonths } from '../../src/store/table/month-tables.js';
import { collect, followChanges, until, websocketClient, type Collected } from '../live/support.js';
import { untilRead } from '../stream/support.js';
import { inTurn } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const turn = inTurn(2);
const HOUR = 3_600_000;
const now = Date.now();
const at = (ms: number) => new Date(ms).toISOString();
/** Months whose streams are followed. The last one ended less than 35 days ago. */
const [current, before] = [now - HOUR, Date.parse(`${at(now).slice(0, 7)}-01T00:00:00.000Z`) - HOUR];

const db = await testDatabase('readable', { stream: true });
const heard = followChanges(db);
let server: LiveServer;

beforeAll(async () => {
  const input = { key: 'sensors', name: 'Sensors', readingsTable: 'MONTHLY', readingsTtlDays: 400 } as const;
  const collection = await testCollection(db, input, at(now));
  await createMarker(newCall(db), collection, { key: 'one', position: { lng: 1, lat: 2 } }, at(now));
  await createMarker(newCall(db), collection, { key: 'two', position: { lng: 3, lat: 4 } }, at(now));
  // Tables that exist when the stream is first read are followed from then on.
  await untilRead(db);
  server = await startServer(db, { live: heard.hub, now: () => new Date() });
});
afterAll(async () => {
  await server.close();
  await heard.stop();
});

const RECORDED = `subscription ($marker: ID!, $since: DateTime) {
  readingRecorded(marker: $marker, since: $since) { at values }
}`;
const RECORD = `mutation ($marker: ID!, $readings: [ReadingInput!]!) {
  recordReadings(marker: $marker, readings: $readings)
}`;
const idOf = (key: string) => `marker::sensors::${key}`;

async function record(key: string, celsius: number, ...instants: number[]): Promise<void> {
  const readings = instants.map((ms) => ({ at: at(ms), values: { celsius } }));
  const { errors, data } = await server.ask(RECORD, { marker: idOf(key), readings });
  expect(errors).toEqual([]);
  expect(data.recordReadings).toBe(instants.length);
}

const received = ({ data }: Collected): string[] =>
  data
    .map(({ readingRecorded: { at: instant, values } }) => `${instant} ${values.celsius}`)
    .toSorted((a, b) => (a < b ? -1 : 1));

test('a subscription gets the readings of a marker from the tables of this month and the last, and those missed since', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const client = websocketClient(server.url);
  const ofOne = collect(client, RECORDED, { marker: idOf('one') });
  const ofTwo = collect(client, RECORDED, { marker: idOf('two') });
  // The first readings create the tables; a new table is followed some seconds later, from its beginning.
  let sent = 0;
  await until(async () => {
    sent += 1;
    await record('one', 20, current - sent);
    expect([ofOne, ofTwo].map(({ ended, errors }) => [ended, errors])).toEqual([
      [undefined, []],
      [undefined, []],
    ]);
    return ofOne.data.length > 0;
  }, 500);
  const recorded = at(Date.now());
  await record('one', 21.5, current, before);
  await record('two', 30, current);
  // In order of time.
  const earlier = Array.from({ length: sent }, (_, n) => `${at(current - sent + n)} 20`);
  const expected = [`${at(before)} 21.5`, ...earlier, `${at(current)} 21.5`];
  const soon = { timeout: 60_000 };
  await expect.poll(() => received(ofOne), soon).toEqual(expected);
  await expect.poll(() => received(ofTwo), soon).toEqual([`${at(current)} 30`]);
  expect(await listMonths(db)).toEqual([...new Set([before, current].map((ms) => at(ms).slice(0, 7)))]);

  const missed = collect(client, RECORDED, { marker: idOf('one'), since: recorded });
  const both = [`${at(before)} 21.5`, `${at(current)} 21.5`];
  // Those of the seconds before are repeated.
  await expect.poll(() => received(missed), soon).toEqual(expect.arrayContaining(both));
  expect([ofOne, ofTwo, missed].flatMap(({ errors }) => errors)).toEqual([]);
});
