import { once } from 'node:events';
import { createClient as createSseClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import type { Collection } from '../../src/model/collection.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { readItem } from '../../src/store/request/conditional-write.js';
import { send } from '../../src/store/request/send.js';
import { collect, followChanges, until, websocketClient, type Collected, type Data } from '../live/support.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const NOW = '2026-11-21T10:00:00.000Z';
const BOX = { west: 179, south: -1, east: 181, north: 1 };
const CHANGED = `subscription ($collection: String!, $bounds: BoundsInput, $since: DateTime) {
  markerChanged(collection: $collection, bounds: $bounds, since: $since) {
    kind id previous { lng lat } at marker { key name position { lng lat } collection { name } properties }
  }
}`;

const db = await testDatabase('readable', { stream: true });
const begun = Date.now();
const heard = followChanges(db);
let server: LiveServer;
let parks: Collection;

beforeAll(async () => {
  parks = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  await testCollection(db, { key: 'others', name: 'Others' }, NOW);
  server = await startServer(db, { live: heard.hub, limits: { subscriptionsPerConnection: 3 } });
});
afterAll(async () => {
  await server.close();
  await heard.stop();
});

/** Writes a marker directly to the table, like any other writer. */
async function put(key: string, lng: number, lat: number, name = key): Promise<void> {
  const item = newMarkerItem(db, parks, { key, position: { lng, lat }, name }, NOW);
  await send(newCall(db), 'put', { TableName: db.tables.entities, Item: item });
}

const remove = (key: string) =>
  send(newCall(db), 'delete', { TableName: db.tables.entities, Key: db.keys.marker('parks', key) });

/** Changes except those of the markers that show that the subscription has started. */
const mine = ({ data }: Collected) => data.filter(({ markerChanged: { id } }) => !id.includes('first-'));

const kinds = (data: readonly Data[]) =>
  data.map(({ markerChanged: { kind, id } }) => `${kind} ${id.split('::').at(-1)}`);

describe('over a WebSocket', () => {
  test('a subscription ends with the reason when its collection is deleted', async () => {
    await testCollection(db, { key: 'doomed', name: 'Doomed' }, NOW);
    const client = websocketClient(server.url);
    const doomed = collect(client, CHANGED, { collection: 'doomed' });
    // Shows that it has started.
    for (let n = 0; doomed.data.length === 0; n += 1) {
      const input = `{collection: "doomed", key: "${n}", position: {lng: 1, lat: 1}}`;
      await server.ask(`mutation {createMarker(input: ${input}) {key}}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await server.ask('mutation {deleteCollection(key: "doomed") {key}}')).errors).toEqual([]);
    await until(() => doomed.ended !== undefined);
    expect(doomed.ended).toBe('complete');
    // Changes that are on their way may no longer find their collection.
    expect(doomed.errors.at(-1)).toMatchObject({
      message: expect.stringContaining('has been deleted') as unknown,
      extensions: { code: 'NOT_FOUND', collection: 'doomed' },
    });
    await client.dispose();
  });

  test('each subscriber gets all changes in its bounding box, by any client, including across the antimeridian', async () => {
    const client = websocketClient(server.url);
    const all = collect(client, CHANGED, { collection: 'parks' });
    const inside = collect(client, CHANGED, { collection: 'parks', bounds: BOX });
    const elsewhere = collect(client, CHANGED, { collection: 'others' });
    // The first change that arrives shows that the subscriptions have started.
    for (let n = 0; all.data.length === 0 || inside.data.length === 0; n += 1) {
      await put(`first-${n}`, 180, 0);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await createMarker(newCall(db), parks, { key: 'a', position: { lng: 179.5, lat: 0.5 } }, NOW);
    await put('a', 179.5, 0.5, 'renamed');
    await put('a', -179.5, 0.5);
    await put('a', 10, 10);
    await put('a', 11, 10);
    await put('a', 180, 1);
    await put('a', -180, 1, 'on the line');
    await remove('a');
    await put('last', 180, -1);
    await until(() => kinds(inside.data).includes('CREATED last') && kinds(all.data).includes('CREATED last'));
    expect(kinds(mine(all))).toEqual([
      'CREATED a',
      'UPDATED a',
      'MOVED a',
      'MOVED a',
      'MOVED a',
      'MOVED a',
      'UPDATED a',
      'DELETED a',
      'CREATED last',
    ]);
    expect(kinds(mine(inside))).toEqual([
      'CREATED a',
      'UPDATED a',
      'MOVED a',
      'LEFT a',
      'ENTERED a',
      'UPDATED a',
      'DELETED a',
      'CREATED last',
    ]);
    const [, , moved, left, entered, , deleted] = mine(inside).map(({ markerChanged }) => markerChanged);
    expect(moved).toMatchObject({
      id: 'marker::parks::a',
      previous: { lng: 179.5, lat: 0.5 },
      marker: {
        key: 'a',
        name: 'a',
        position: { lng: -179.5, lat: 0.5 },
        collection: { name: 'Parks' },
        properties: {},
      },
    });
    expect(left).toMatchObject({ marker: { position: { lng: 10, lat: 10 } }, previous: { lng: -179.5, lat: 0.5 } });
    expect(entered).toMatchObject({ marker: { position: { lng: 180, lat: 1 } }, previous: { lng: 11, lat: 10 } });
    expect(deleted).toMatchObject({ marker: null, previous: { lng: -180, lat: 1 } });
    expect(elsewhere.data).toEqual([]);
    expect([all, inside, elsewhere].flatMap(({ errors }) => errors)).toEqual([]);
    await client.dispose();
  });
});

test('`since` first delivers missed changes and readings, and is rejected by name if too long ago', async () => {
  const client = websocketClient(server.url);
  const query = CHANGED;
  // Roughly when the server started to follow changes, so that it has to read the stream.
  const from = Math.ceil(begun / 1_000) * 1_000;
  await until(() => Date.now() >= from);
  await put('away', 1, 1);
  await put('away', 2, 2);
  const second = new Date(from).toISOString();
  const back = collect(client, query, { collection: 'parks', since: second });
  await until(() => kinds(back.data).includes('MOVED away'));

  const reading = { ...db.keys.marker('parks', 'away'), sk: 'reading::2026-11-21T10:00:00.000Z' };
  const readings = collect(
    client,
    'subscription { readingRecorded(marker: "marker::parks::away", since: "' + second + '") { at values } }',
  );
  const away = await readItem(newCall(db), db.keys.marker('parks', 'away'));
  const item = { ...reading, of: away?.['life'], values: { celsius: 21.5 } };
  await send(newCall(db), 'put', { TableName: db.tables.entities, Item: item });
  await until(() => readings.data.length > 0);
  expect(readings.data).toEqual([{ readingRecorded: { at: '2026-11-21T10:00:00.000Z', values: { celsius: 21.5 } } }]);

  const early = collect(client, query, { collection: 'parks', since: '2020-01-01T00:00:00Z' });
  await until(() => early.ended !== undefined);
  expect(early.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', field: 'since' } }]);
  expect(early.errors[0]?.message).toMatch(/since must be 20\d\d-.*Z or later/);
  await client.dispose();
});

test('an event that would be too long becomes an error with the limit, and the next one is sent, over both transports', async () => {
  // Closing a server ends the subscriptions of its hub.
  const own = followChanges(db);
  const small = await startServer(db, { live: own.hub, limits: { maxAnswerBytes: 1_000 } });
  const socket = websocketClient(small.url);
  const events = createSseClient({ url: `${small.url}/graphql/stream`, retryAttempts: 0 });
  const collected = [
    collect(socket, CHANGED, { collection: 'parks' }),
    collect(events as unknown as Parameters<typeof collect>[0], CHANGED, { collection: 'parks' }),
  ];
  for (let n = 0; collected.some(({ data }) => data.length === 0); n += 1) {
    await put(`first-${n}`, 180, 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await put('long', 20, 20, 'x'.repeat(2_000));
  await put('long', 20, 20, '":0}} short');
  const names = () => collected.map((each) => mine(each).map(({ markerChanged: { marker } }) => marker.name));
  await until(() => names().every((each) => each.length > 0));
  expect(names()).toEqual([['":0}} short'], ['":0}} short']]);
  for (const { errors } of collected) {
    expect(errors).toMatchObject([
      { extensions: { code: 'LIMIT_EXCEEDED', field: 'size of the answer', limit: 1_000 } },
    ]);
  }
  await socket.dispose();
  events.dispose();
  await small.close();
  await own.stop();
});

describe('over server-sent events', () => {
  test('changes arrive, and clients can leave at any time', async () => {
    const client = createSseClient({ url: `${server.url}/graphql/stream`, retryAttempts: 0 });
    const results = client.iterate<Data>({
      query: CHANGED,
      variables: { collection: 'parks', bounds: { west: 49, south: 49, east: 51, north: 51 } },
    });
    const first = results.next();
    let arrived = false;
    void first.then(() => (arrived = true));
    for (let n = 0; !arrived; n += 1) {
      await put(`sse-${n}`, 50, 50);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await first).value).toMatchObject({ data: { markerChanged: { kind: 'CREATED', previous: null } } });
    await results.return?.();
    client.dispose();
  });

  test('a GET is answered in the format of EventSource, errors and the end included', async () => {
    const query = encodeURIComponent('subscription { markerChanged(collection: "nowhere") { id } }');
    const response = await fetch(`${server.url}/graphql/stream?query=${query}`);
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    const text = await response.text();
    const [, next = '', complete] = text.split(/\n\n/);
    expect(next).toMatch(/^event: next\ndata: /);
    expect(JSON.parse(next.slice(next.indexOf('{')))).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    expect(complete).toBe('event: complete\ndata: ');
  });
});

describe('a rejected subscription', () => {
  const cases: [what: string, query: string, code: string][] = [
    ['a collection that does not exist', 'subscription { markerChanged(collection: "none") { id } }', 'NOT_FOUND'],
    [
      'a marker that does not exist',
      'subscription { readingRecorded(marker: "marker::parks::none") { at } }',
      'NOT_FOUND',
    ],
    [
      'an upside-down bounding box',
      'subscription { markerChanged(collection: "parks", bounds: { west: 0, south: 1, east: 1, north: 0 }) { id } }',
      'BAD_USER_INPUT',
    ],
    [
      'an invalid instant',
      'subscription { markerChanged(collection: "parks", since: "now") { id } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['an unknown field', 'subscription { markerChanged(collection: "parks") { what } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['no GraphQL', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
    ['a missing variable', 'subscription ($c: String!) { markerChanged(collection: $c) { id } }', 'BAD_USER_INPUT'],
    [
      'more than one field',
      'subscription { markerChanged(collection: "parks") { id } two: markerChanged(collection: "parks") { id } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'no field that is not left out',
      'subscription { markerChanged(collection: "parks") @skip(if: true) { id } }',
      'BAD_USER_INPUT',
    ],
    [
      'a document that is too deep',
      `subscription { markerChanged(collection: "parks") { marker { cell(precision: 1) { ${'parent { '.repeat(20)} count ${'}'.repeat(20)} } } } }`,
      'LIMIT_EXCEEDED',
    ],
  ];

  test.each(cases)('has a code: %s', async (_what, query, code) => {
    const client = websocketClient(server.url);
    const refused = collect(client, query);
    await until(() => refused.ended !== undefined);
    expect(refused.data).toEqual([]);
    expect(refused.errors[0]).toMatchObject({ extensions: { code } });
    await client.dispose();
  });

  test('by POST names the transports that support it', async () => {
    const { errors } = await server.ask('subscription { markerChanged(collection: "parks") { id } }');
    expect(errors).toMatchObject([
      { message: expect.stringMatching('/graphql/stream'), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  test('exceeds the limit of a connection', async () => {
    const client = websocketClient(server.url);
    const all = Array.from({ length: 4 }, () => collect(client, CHANGED, { collection: 'parks' }));
    await until(() => all.some(({ ended }) => ended !== undefined));
    const refused = all.filter(({ ended }) => ended !== undefined);
    expect(refused.map(({ errors }) => errors)).toMatchObject([[{ extensions: { code: 'LIMIT_EXCEEDED', limit: 3 } }]]);
    // A subscription that ends makes room for another.
    all[0]?.stop();
    const fifth = collect(client, CHANGED, { collection: 'none' });
    await until(() => fifth.ended !== undefined);
    expect(fifth.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    await client.dispose();
  });

  test('the acknowledgement of a connection tells since when changes are available', async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    const [data] = (await once(socket, 'message')) as [Buffer];
    const { type, payload } = JSON.parse(data.toString()) as {
      type: string;
      payload: { changesFrom: string; now: string };
    };
    expect(type).toBe('connection_ack');
    const ago = Date.now() - Date.parse(payload.changesFrom);
    expect(ago).toBeLessThanOrEqual(11_000);
    expect(ago).toBeGreaterThan(-3_000);
    expect(Math.abs(Date.now() - Date.parse(payload.now))).toBeLessThan(3_000);
    socket.close();
  });

  test('may come from a page of another site', async () => {
    const address = `${server.url.replace('http', 'ws')}/graphql`;
    const refused = new WebSocket(address, 'graphql-transport-ws', { origin: 'https://evil.example' });
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toMatch('403');
    const own = new WebSocket(address, 'graphql-transport-ws', { origin: server.url });
    await once(own, 'open');
    own.close();
    const lost = new WebSocket(`${server.url.replace('http', 'ws')}/other`, 'graphql-transport-ws');
    expect(((await once(lost, 'error')) as [Error])[0].message).toMatch('404');
  });
});

// Last: its server ends all subscriptions to the changes when it closes.
test('what is completed before it begins never does, even if its ID is used again at once, nor outlives its socket', async () => {
  const live = await startServer(db, { live: heard.hub, limits: { subscriptions: 1 } });
  const socket = new WebSocket(`${live.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const received: unknown[] = [];
  socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString())));
  const send = (type: string, id?: string, query?: string) =>
    socket.send(JSON.stringify({ type, id, payload: query === undefined ? undefined : { query } }));
  socket.on('open', () => send('connection_init'));
  await until(() => received.length === 1);
  // Operations with this word start one after the other.
  const query = '# subscription\n{ collection(key: "parks") { name } }';
  const mutation = '# subscription\nmutation { createMarker(input: { collection: "parks", key: "never", position: { lng: 1, lat: 2 } }) { key } }'; // prettier-ignore
  send('subscribe', 'first', 'subscription { markerChanged(collection: "none") { kind } }');
  for (const text of [mutation, 'subscription { markerChanged(collection: "parks") { kind } }', query]) {
    send('subscribe', 'same', text);
    if (text !== query) send('complete', 'same');
  }
  await until(() => received.length === 4);
  expect(received.slice(1)).toEqual([
    expect.objectContaining({ id: 'first', type: 'error' }),
    { id: 'same', type: 'next', payload: { data: { collection: { name: 'Parks' } } } },
    { id: 'same', type: 'complete' },
  ]);
  expect(await readItem(newCall(db), db.keys.marker('parks', 'never'))).toBeUndefined();
  socket.terminate();
  // Refused if another had been left.
  const client = websocketClient(live.url);
  const only = collect(client, CHANGED, { collection: 'parks' });
  let wrote = 0;
  await until(async () => {
    await put(`first-${(wrote += 1)}`, 1, 1);
    return only.data.length > 0 || only.errors.length > 0;
  });
  expect(only.errors).toEqual([]);
  await client.dispose();
  await live.close();
});
