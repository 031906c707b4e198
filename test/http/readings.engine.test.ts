import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { compiling } from '../../src/graphql/execution/executor.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { recordReadings } from '../../src/store/reading/readings.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { fillCells, startServer, type LiveServer } from './live-server.js';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const MARKERS = 12;
const READINGS = 30;

const db = await testDatabase();
const sent = recordCalls(db);
let server: LiveServer;
/** Runs compiled functions only. */
let compiled: LiveServer;

const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
const newest = (count: number, from = READINGS - 1) =>
  Array.from({ length: count }, (_, index) => ({ at: at(from - index), values: { n: from - index } }));

beforeAll(async () => {
  const options = { now: () => NOW, limits: { readingQueries: MARKERS, maxNodes: 2_000 } };
  server = await startServer(db, options);
  compiled = await startServer(db, { ...options, executor: (schema) => compiling(schema, { runsBefore: 0 }) });
  const collection = await testCollection(db, { key: 'sensors', name: 'Sensors' }, NOW.toISOString());
  const markers = Array.from({ length: MARKERS + 1 }, (_, index) => ({
    key: `s${index}`,
    position: { lng: 10 + index, lat: 50 },
  }));
  await createMarkers(newCall(db), collection, markers, NOW.toISOString());
  await fillCells(db, collection, markers);
  const readings = Array.from({ length: READINGS }, (_, ms) => ({ at: at(ms), values: { n: ms } }));
  for (const { key } of markers) await recordReadings(newCall(db), { collection, key }, readings, NOW);
});
afterAll(() => Promise.all([server.close(), compiled.close()]));
beforeEach(() => sent.reset());

const COST = { 'x-cellport-cost': '1' };
const commands = () => sent.commands.map(({ name }) => name);
const id = 'marker::sensors::s0';

describe('one marker with its latest readings', () => {
  const fields = 'id createdAt readings(last: 10) {at values}';
  const found = { id, createdAt: NOW.toISOString(), readings: newest(10) };

  test.each<[string, string, Record<string, unknown>, unknown]>([
    ['by id', `query ($id: ID!) {marker(id: $id) {${fields}}}`, { id }, { marker: found }],
    [
      'the count as a variable',
      'query ($n: Int) {marker(id: "marker::sensors::s0") {readings(last: $n) {at values}}}',
      { n: 3 },
      { marker: { readings: newest(3) } },
    ],
    [
      'the default count',
      'query ($n: Int) {marker(id: "marker::sensors::s0") {readings(last: $n) {at values}}}',
      {},
      { marker: { readings: newest(10) } },
    ],
    [
      'in fragments, with aliases, from an instant on',
      `query ($from: DateTime) {marker(id: "${id}") {...F more: readings(last: 20) {at values} ... {three: readings(last: 3) {at}}}}
       fragment F on Marker {id since: readings(from: $from) {at values}}`,
      { from: at(27) },
      {
        marker: {
          id,
          since: newest(3),
          more: newest(20),
          three: newest(3).map(({ at: instant }) => ({ at: instant })),
        },
      },
    ],
    [
      'in its collection',
      `{collection(key: "sensors") {marker(key: "s0") {${fields}}}}`,
      {},
      { collection: { marker: found } },
    ],
    ['as a node', `{node(id: "${id}") {... on Marker {${fields}}}}`, {}, { node: found }],
    [
      'with @include',
      `query ($yes: Boolean!) {marker(id: "${id}") {id readings(last: 1) @include(if: $yes) {at values}}}`,
      { yes: true },
      { marker: { id, readings: newest(1) } },
    ],
  ])('is one Query and no read by key: %s', async (_, query, variables, data) => {
    for (const one of [server, compiled]) {
      await one.ask('{collection(key: "sensors") {key}}');
      sent.reset();
      const answer = await one.ask(query, variables, COST);
      expect(answer).toMatchObject({ errors: [], data });
      expect(commands()).toEqual(['Query']);
      expect(answer.extensions?.['cost']).toMatchObject({ queries: 1, getItems: 0, cacheHits: 0 });
    }
  });

  test('takes one call, plus the read of its collection if that is not cached', async () => {
    vi.spyOn(server.services.collectionCache, 'get').mockReturnValueOnce(undefined);
    expect((await server.ask(`{marker(id: "${id}") {${fields}}}`, {}, COST)).extensions?.['cost']).toMatchObject({
      queries: 1,
      getItems: 1,
      itemsScanned: 11,
    });
    expect(commands()).toEqual(['BatchGetItem', 'Query']);
  });

  test('that are skipped are not read', async () => {
    const query = `query ($yes: Boolean!) {marker(id: "${id}") {id readings @include(if: $yes) {at}}}`;
    expect(await server.ask(query, { yes: false })).toMatchObject({ errors: [], data: { marker: { id } } });
    expect(commands()).toEqual(['BatchGetItem']);
  });

  test('up to an instant takes one more call', async () => {
    const query = `{marker(id: "${id}") {readings(last: 2, from: "${at(3)}", to: "${at(9)}") {at values}}}`;
    expect((await server.ask(query)).data).toEqual({ marker: { readings: newest(2, 9) } });
    expect(commands()).toEqual(['BatchGetItem', 'Query']);
  });

  test('that does not exist is null', async () => {
    const query = '{marker(id: "marker::sensors::none") {readings {at}}}';
    expect(await server.ask(query)).toMatchObject({ errors: [], data: { marker: null } });
    expect(commands()).toEqual(['Query']);
  });
});

describe('readings of many markers', () => {
  const query = (first: number, more = '') =>
    `{viewport(bounds: {west: 9.5, south: 49, east: ${9.6 + first}, north: 51}, zoom: 5) {
      markers(collection: "sensors", first: 40) {nodes {key readings(last: 5) {at values} ${more}}}
    }}`;

  test('in a viewport are one Query per marker, which returns the rest of the marker, too', async () => {
    const { data, errors } = await server.ask(query(MARKERS, 'version a: readings(last: 2) {at}'), {}, COST);
    expect(errors).toEqual([]);
    const { nodes } = data.viewport.markers;
    expect(nodes).toHaveLength(MARKERS);
    for (const node of nodes) expect(node).toMatchObject({ version: 1, readings: newest(5) });
    const ofMarkers = sent.commands.filter(({ input }) => input['ScanIndexForward'] === false);
    expect(ofMarkers).toHaveLength(MARKERS);
    expect(commands().filter((name) => name === 'BatchGetItem')).toEqual([]);
  });

  test('of more markers than a request may read is LIMIT_EXCEEDED, before any of them is read', async () => {
    const { data, errors } = await server.ask(query(MARKERS + 1));
    expect(data.viewport.markers).toBeNull();
    expect(errors[0]?.extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', value: MARKERS + 1, limit: MARKERS });
    expect(sent.commands.filter(({ input }) => input['ScanIndexForward'] === false)).toEqual([]);
  });

  test('that would make the response too large is LIMIT_EXCEEDED, before anything is read', async () => {
    const long = query(3).replace('first: 40', 'first: 200').replace('last: 5', 'last: 20');
    expect((await server.ask(long)).errors[0]?.extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 2_000 });
    expect(commands()).toEqual([]);
  });

  test('of markers by ID are one Query each, and markers without requested readings are one batch', async () => {
    const ids = [0, 1, 2].map((n) => `marker::sensors::s${n}`);
    const nodes = '... on Marker {key readings(last: 1) {at values}}';
    const { data } = await server.ask(`query ($ids: [ID!]!) {nodes(ids: $ids) {${nodes}}}`, { ids });
    expect(data.nodes).toEqual([0, 1, 2].map((n) => ({ key: `s${n}`, readings: newest(1) })));
    expect(commands()).toEqual(['Query', 'Query', 'Query']);
  });
});

test('a collection whose readings are in buckets gives the same answers, with different calls', async () => {
  const create = `mutation {
    createCollection(input: {key: "busy", name: "Busy", readingsTtlDays: 4, readingsBucket: DAY}) {readingsTtlDays readingsBucket}
    createMarker(input: {collection: "busy", key: "b", position: {lng: 1, lat: 1}}) {key readings {at}}
    recordReadings(marker: "marker::busy::b", readings: [{at: "${at(0)}", values: {n: 1}}, {at: "${at(-86_400_000)}", values: {n: 2}}])
  }`;
  const created = await server.ask(create);
  expect(created.data).toMatchObject({
    createCollection: { readingsTtlDays: 4, readingsBucket: 'DAY' },
    createMarker: { key: 'b', readings: [] },
    recordReadings: 2,
  });
  sent.reset();
  const query = '{marker(id: "marker::busy::b") {key readings(last: 2) {at values} one: readings(last: 1) {values}}}';
  expect((await server.ask(query)).data.marker).toEqual({
    key: 'b',
    readings: [
      { at: at(0), values: { n: 1 } },
      { at: at(-86_400_000), values: { n: 2 } },
    ],
    one: [{ values: { n: 1 } }],
  });
  expect(commands()[0]).toBe('BatchGetItem');
  expect(commands().filter((name) => name === 'Query')).toHaveLength(5);
  // Each may read six days, and a request may make twelve calls.
  const three = `{${['a', 'b', 'c'].map((key) => `${key}: marker(id: "marker::busy::${key}") {readings {at}}`).join(' ')}}`;
  expect((await server.ask(three)).errors.map(({ extensions }) => extensions['code'])).toContain('LIMIT_EXCEEDED');
});

describe('arguments of readings', () => {
  test.each([
    ['last: 0', 'last'],
    ['last: -1', 'last'],
    ['last: 5001', 'last'],
    [`from: "${at(5)}", to: "${at(4)}"`, 'from'],
  ])('%s is rejected at its field', async (args, field) => {
    const { data, errors } = await server.ask(`{marker(id: "${id}") {key readings(${args}) {at}}}`);
    expect(data.marker).toBeNull();
    expect(errors).toMatchObject([{ path: ['marker', 'readings'], extensions: { code: 'BAD_USER_INPUT', field } }]);
  });

  test('from: "yesterday" fails validation', async () => {
    const { errors } = await server.ask(`{marker(id: "${id}") {readings(from: "yesterday") {at}}}`);
    expect(errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('summaries of readings', () => {
  const from = at(-1);

  test('are answered by both executors, and continue at next', async () => {
    const query = `query ($from: DateTime!) {marker(id: "${id}") {
      readingSummaries(value: "n", period: HOUR, from: $from) {summaries {start count min max mean} next}
    }}`;
    const summary = { start: at(0), count: READINGS, min: 0, max: READINGS - 1, mean: (READINGS - 1) / 2 };
    for (const one of [server, compiled]) {
      const { data, errors } = await one.ask(query, { from });
      expect(errors).toEqual([]);
      expect(data.marker.readingSummaries).toEqual({
        summaries: [{ ...summary, mean: expect.closeTo(summary.mean, 9) }],
        next: null,
      });
    }
    expect((await server.ask(query.replace('"n"', '"none"'), { from })).data.marker.readingSummaries.summaries).toEqual(
      [],
    );
  });

  test('are not empty while readings that have the value may follow, and say why they are short', async () => {
    const collection = await testCollection(db, { key: 'rare', name: 'Rare' }, NOW.toISOString());
    await createMarkers(newCall(db), collection, [{ key: 'r', position: { lng: 1, lat: 2 } }], NOW.toISOString());
    const hours = Array.from({ length: 900 }, (_, hour) => {
      return { at: at((hour - 900) * 3_600_000), values: hour < 700 ? { common: 1 } : { common: 1, rare: hour } };
    });
    await recordReadings(newCall(db), { collection, key: 'r' }, hours, NOW);
    const small = await startServer(db, { now: () => NOW, limits: { itemsPerField: 100, deadlineMs: 300_000 } });
    const query = `query ($from: DateTime!) {marker(id: "marker::rare::r") {
      readingSummaries(value: "rare", period: HOUR, from: $from) {summaries {start min} next shortBecause}
    }}`;
    const found: { min: number }[] = [];
    for (let since: string | null = at(-1_000 * 3_600_000); since !== null;) {
      const { data } = await small.ask(query, { from: since });
      const { summaries, next, shortBecause } = data.marker.readingSummaries;
      expect(summaries).not.toEqual([]);
      expect(shortBecause).toBe(next === null ? null : 'READ_BUDGET');
      found.push(...summaries);
      since = next;
    }
    expect(found.map(({ min }) => min)).toEqual(Array.from({ length: 200 }, (_, index) => 700 + index));
    await small.close();
  });

  test('of many markers share the Query calls of a request', async () => {
    const field = `readingSummaries(value: "n", from: "${from}", first: 10) {summaries {count}}`;
    const markers = Array.from(
      { length: MARKERS + 1 },
      (_, n) => `s${n}: marker(id: "marker::sensors::s${n}") {${field}}`,
    );
    const { data, errors } = await server.ask(`{${markers.join(' ')}}`);
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['LIMIT_EXCEEDED']);
    const counts = Object.values(data as Record<string, { readingSummaries: { summaries: unknown[] } } | null>);
    expect(counts.filter((one) => one !== null).map((one) => one.readingSummaries.summaries)).toEqual(
      Array.from({ length: MARKERS }, () => [{ count: READINGS }]),
    );
  });

  test.each([
    ['first: 0', 'first'],
    [`to: "${at(-2)}"`, 'from'],
  ])('with %s are rejected by name', async (args, field) => {
    const query = `{marker(id: "${id}") {readingSummaries(value: "n", from: "${from}", ${args}) {next}}}`;
    expect((await server.ask(query)).errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', field } }]);
  });
});

describe('recordReadings', () => {
  const RECORD =
    'mutation ($marker: ID!, $readings: [ReadingInput!]!) {recordReadings(marker: $marker, readings: $readings)}';

  test('stores what is read afterwards, at the server’s time if none is given', async () => {
    const marker = `marker::sensors::s${MARKERS}`;
    const readings = [
      { values: { t: 21.5, state: 'on', big: '9007199254740993' } },
      { at: at(-1), values: { t: 0.1 } },
    ];
    const answer = await server.ask(RECORD, { marker, readings }, COST);
    expect(answer).toMatchObject({ errors: [], data: { recordReadings: 2 } });
    expect(answer.extensions?.['cost']).toMatchObject({ writes: 2, getItems: 1 });
    const query = `{marker(id: "${marker}") {version readings(to: "${at(0)}") {at values}}}`;
    expect((await server.ask(query)).data.marker).toEqual({
      version: 1,
      readings: [
        { at: at(0), values: { t: 21.5, state: 'on', big: '9007199254740993' } },
        { at: at(-1), values: { t: 0.1 } },
      ],
    });
  });

  test.each(['marker::sensors::none', 'marker::nowhere::s0', 'collection::sensors', 'nonsense', ''])(
    'for %j is NOT_FOUND',
    async (marker) => {
      const { data, errors } = await server.ask(RECORD, { marker, readings: [{ values: { a: 1 } }] });
      expect(data).toBeNull();
      expect(errors).toMatchObject([{ path: ['recordReadings'], extensions: { code: 'NOT_FOUND', marker } }]);
    },
  );

  test('with a value that is neither a number nor a string is rejected by name', async () => {
    const { errors } = await server.ask(RECORD, { marker: id, readings: [{ values: { ok: 1, on: true } }] });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'readings[0].values.on' });
  });
});

test('no internal error was logged', () => {
  expect([...server.logged, ...compiled.logged]).toEqual([]);
});
