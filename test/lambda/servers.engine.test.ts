import { afterAll, expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { createHandler } from '../../src/lambda/stream.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { until } from '../live/support.js';
import { serve, type Answer } from '../server/sources/server.js';
import { postQuery } from '../support/post-query.js';
import { inTurn } from '../support/rounds.js';
import { engine, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const others = process.listeners('exit');
afterAll(() => {
  for (const listener of process.listeners('exit')) if (!others.includes(listener)) process.off('exit', listener);
});

const db = await testDatabase('readable', { stream: true });
const config = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: 'us-east-1' });
const lambda = createHandler(config, () => ({ database: db, streams: createStreamsClient(engine()) }));

/** Which markers a map shows, and from where it has them. */
async function mapOf(url: string): Promise<string> {
  const query = `{ viewport(bounds: { west: 0, south: 0, east: 50, north: 50 }, zoom: 3) {
    markers(collection: "parks") { nodes { key } }
  } }`;
  const { data, extensions } = (await (
    await postQuery(url, query, { headers: { 'x-cellport-cost': '1' } })
  ).json()) as Answer;
  const keys = (data.viewport.markers.nodes as readonly { key: string }[]).map(({ key }) => key);
  return `${extensions.cost.markersFrom} ${keys.toSorted().join(' ')}`;
}

test('servers know from the state of a function and from the stream whether counts are exact and pages are current', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const { ask, url } = await serve(db, { CELLPORT_CONSUMER: 'off' });
  const create = async (key: string, lng: number) => {
    const input = { collection: 'parks', key, position: { lng, lat: 3 } };
    const { errors } = await ask('mutation ($input: CreateMarkerInput!) { createMarker(input: $input) { key } }', {
      input,
    });
    expect(errors).toBeUndefined();
  };
  const counts = async () => {
    const { count, countsExact } = (await ask('{ collection(key: "parks") { count countsExact } }')).data.collection;
    return `${countsExact ? 'exactly' : 'about'} ${count}`;
  };
  await ask('mutation { createCollection(input: { key: "parks", name: "Parks" }) { key } }');
  await create('a', 1);
  expect(await counts()).toBe('about 0');
  expect(await mapOf(url)).toBe('INDEX a');

  // Once a call has begun clearly after the server, whose clock may differ: nobody writes the state for longer than it
  // counts as current.
  await until(async () => {
    await lambda({});
    const { endAt } = (await loadStreamState(newCall(db), 'cells')) ?? {};
    await until(() => db.clock.wall() - (endAt ?? 0) > 3_500);
    return (await mapOf(url)) === 'PAGES a';
  });
  // Counts may be cached for some seconds.
  await until(async () => (await counts()) === 'exactly 1');

  // What the function has not applied is not on pages.
  await create('b', 2);
  await until(async () => (await mapOf(url)) === 'INDEX a b');
  await lambda({});
  await until(async () => (await mapOf(url)) === 'PAGES a b');
  await until(async () => (await counts()) === 'exactly 2');
});
