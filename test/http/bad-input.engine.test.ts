import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { fillCells, testServer, type Answered } from './live-server.js';

const db = await testDatabase();
const sent = recordCalls(db);
const server = await testServer(db);

beforeAll(async () => {
  const now = new Date().toISOString();
  const parks = await testCollection(db, { key: 'parks', name: 'Parks' }, now);
  await testCollection(db, { key: 'huts', name: 'Huts' }, now);
  const markers = [];
  for (let index = 0; index < 5; index++) {
    const input = { key: `p${index}`, position: { lng: 10 + index / 100, lat: 50 } };
    markers.push((await createMarker(newCall(db), parks, input, now)).marker);
  }
  await fillCells(db, parks, markers);
});
beforeEach(() => sent.reset());

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'];

/** The single error of a response; fails if there is none or several, or if anything was written. */
function only({ errors }: Answered): Answered['errors'][number] {
  expect(errors).toHaveLength(1);
  expect(sent.commands.filter(({ name }) => WRITES.includes(name))).toEqual([]);
  return errors[0]!;
}

/** Asserts that the error is BAD_USER_INPUT with the field, the value and what is allowed. */
function expectBadInput(answer: Answered, field: string, value: string, allowed: string | RegExp): void {
  const error = only(answer);
  expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field });
  expect(error.message).toContain(value);
  expect(error.message).toMatch(allowed);
}

const BOUNDS = { west: 9, south: 49, east: 11, north: 51 };

describe('a viewport', () => {
  const QUERY =
    'query ($bounds: BoundsInput!, $zoom: Float!) {viewport(bounds: $bounds, zoom: $zoom) {precision bounds {west}}}';

  /** The request with a number that no JSON library would write. */
  async function askRaw(name: string, number: string): Promise<Answered> {
    const values: Record<string, unknown> = { ...BOUNDS, zoom: 8, [name]: '@' };
    const { zoom, ...bounds } = values;
    const body = JSON.stringify({ query: QUERY, variables: { bounds, zoom } }).replace('"@"', number);
    const response = await server.post(body);
    const { data, errors = [], extensions } = (await response.json()) as Partial<Answered>;
    return { status: response.status, data, errors, extensions };
  }

  const NUMBERS = ['west', 'south', 'east', 'north', 'zoom'];
  const path = (name: string) => (name === 'zoom' ? 'zoom' : `bounds.${name}`);

  test.each(NUMBERS)('%s that is infinite, a string, null, true or missing is rejected by name', async (name) => {
    expectBadInput(await askRaw(name, '1e999'), path(name), 'Infinity', /Float/);
    expectBadInput(await askRaw(name, '-1e999'), path(name), '-Infinity', /Float/);
    expectBadInput(await askRaw(name, '"7"'), path(name), '"7"', /Float/);
    expectBadInput(await askRaw(name, 'true'), path(name), 'true', /Float/);
    expect(only(await askRaw(name, 'null')).extensions['code']).toBe('BAD_USER_INPUT');
  });

  test.each(NUMBERS)('%s that is NaN is invalid JSON, and BAD_USER_INPUT', async (name) => {
    expect(only(await askRaw(name, 'NaN')).extensions['code']).toBe('BAD_USER_INPUT');
  });

  test.each(NUMBERS)('%s that is infinite or a string in the query itself is rejected', async (name) => {
    const literal = (number: string) => {
      const value = (edge: string) => (edge === name ? number : String({ ...BOUNDS, zoom: 8 }[edge as 'zoom']));
      const edges = ['west', 'south', 'east', 'north'].map((edge) => `${edge}: ${value(edge)}`).join(' ');
      return server.ask(`{viewport(bounds: {${edges}}, zoom: ${value('zoom')}) {precision}}`);
    };
    expectBadInput(await literal('1e999'), path(name), 'Infinity', /finite|from -2 to 30/);
    expect(only(await literal('"7"')).extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  test('with huge but finite edges is wrapped, clamped and answered', async () => {
    for (const name of ['west', 'east']) {
      for (const number of ['1e308', '-1e308', '190', '-540']) {
        const { errors, data } = await askRaw(name, number);
        expect([errors, data.viewport.precision]).toEqual([[], expect.any(Number)]);
        expect(Math.abs(data.viewport.bounds.west)).toBeLessThanOrEqual(180);
      }
    }
    expect((await askRaw('north', '1e308')).errors).toEqual([]);
    expect((await askRaw('south', '-1e308')).errors).toEqual([]);
  });

  test('with south above north is rejected, never empty', async () => {
    expectBadInput(await askRaw('south', '51.5'), 'bounds.south', '51.5', /north/);
    expectBadInput(await askRaw('south', '1e308'), 'bounds.south', '1e+308', /north/);
  });

  test('with a zoom outside -2 to 30 is rejected', async () => {
    for (const zoom of ['-2.01', '30.5', '1e308', '-1e308']) {
      expectBadInput(await askRaw('zoom', zoom), 'zoom', String(Number(zoom)), /from -2 to 30/);
    }
  });
});

/** The response to one field of a viewport over Germany. */
const inViewport = (field: string, variables: Record<string, unknown> = {}, types = '') =>
  server.ask(`query ($bounds: BoundsInput! ${types}) {viewport(bounds: $bounds, zoom: 8) {precision ${field}}}`, {
    bounds: BOUNDS,
    ...variables,
  });

describe('a field of a viewport', () => {
  test('of a collection that does not exist is NOT_FOUND, without failing other fields', async () => {
    const fields = [
      'markers {nodes {key}}',
      'cells {count}',
      'clusters {count}',
      'count',
      'auto {total}',
      'features',
      'plan {precision}',
    ];
    for (const field of fields) {
      const [name = '', ...selection] = field.split(' ');
      for (const key of ['nobody', '', 'collection::parks', 'a#b', '不', 'x'.repeat(3_000)]) {
        const answer = await inViewport(`${name}(collection: $key) ${selection.join(' ')}`, { key }, '$key: String!');
        expect(only(answer)).toMatchObject({ path: ['viewport', name], extensions: { code: 'NOT_FOUND' } });
        expect(answer.data.viewport).toEqual({ precision: expect.any(Number), [name]: null });
      }
    }
  });

  test.each([0, -1, 5_001, 1e9, 2_147_483_647])('first: %i is rejected', async (first) => {
    const variables = { first };
    const named = async (answer: Promise<Answered>, field = 'first') =>
      expectBadInput(await answer, field, String(first), /1 to 5,?000/);
    await named(inViewport('markers(collection: "parks", first: $first) {nodes {key}}', variables, '$first: Int'));
    await named(inViewport('auto(collection: "parks", limit: $first) {total}', variables, '$first: Int'), 'limit');
    await named(inViewport('features(collection: "parks", limit: $first)', variables, '$first: Int'), 'limit');
    await named(server.ask('query ($first: Int) {collections(first: $first) {nodes {key}}}', variables));
    await named(
      server.ask('query ($first: Int) {collection(key: "parks") {markers(first: $first) {nodes {key}}}}', variables),
    );
    await named(
      server.ask(
        'query ($first: Int) {cell(collection: "parks", geohash: "u0") {markers(first: $first) {nodes {key}}}}',
        variables,
      ),
    );
  });

  test('first: 1.5, 1e10 and "5" are rejected as not an Int', async () => {
    for (const first of [1.5, 1e10, '5']) {
      const answer = await inViewport(
        'markers(collection: "parks", first: $first) {nodes {key}}',
        { first },
        '$first: Int',
      );
      expectBadInput(answer, 'first', String(first), /Int/);
    }
  });

  test.each([0, 13, -1, 1e9])('precision: %i is rejected', async (precision) => {
    const variables = { precision };
    const cells = await inViewport(
      'cells(collection: "parks", precision: $precision) {count}',
      variables,
      '$precision: Int',
    );
    expectBadInput(cells, 'precision', String(precision), /1 to 12/);
    const QUERY =
      'query ($precision: Int!) {collection(key: "parks") {marker(key: "p1") {cell(precision: $precision) {count}}}}';
    expectBadInput(await server.ask(QUERY, variables), 'precision', String(precision), /1 to 12/);
  });

  test.each([0, -1, 513, 1e9])('radius: %i is rejected', async (radius) => {
    const answer = await inViewport(
      'clusters(collection: "parks", radius: $radius) {count}',
      { radius },
      '$radius: Int',
    );
    expectBadInput(answer, 'radius', String(radius), /1 to 512/);
  });
});

describe('a geohash', () => {
  test.each(['ua', 'u!', 'i', 'l', 'o', '', 'u'.repeat(13), '不', ' u'])('%j is rejected', async (geohash) => {
    const asVariable = await server.ask(
      'query ($geohash: Geohash!) {cell(collection: "parks", geohash: $geohash) {count}}',
      { geohash },
    );
    expectBadInput(asVariable, 'geohash', JSON.stringify(geohash), '0123456789bcdefghjkmnpqrstuvwxyz');
    const asLiteral = await server.ask(`{cell(collection: "parks", geohash: ${JSON.stringify(geohash)}) {count}}`);
    expect(only(asLiteral)).toMatchObject({
      message: expect.stringContaining('0123456789bcdefghjkmnpqrstuvwxyz'),
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  });

  test('in upper case is read as lower case', async () => {
    const { data, errors } = await server.ask('{cell(collection: "parks", geohash: "U0") {geohash}}');
    expect([errors, data.cell.geohash]).toEqual([[], 'u0']);
  });

  test('of a collection that does not exist is NOT_FOUND', async () => {
    expect(only(await server.ask('{cell(collection: "nobody", geohash: "u0") {count}}')).extensions['code']).toBe(
      'NOT_FOUND',
    );
  });
});

describe('a cursor', () => {
  const markers = (after: string, bounds = BOUNDS, collection = 'parks', filter: unknown = null) =>
    server.ask(
      `query ($bounds: BoundsInput!, $collection: String!, $after: String, $filter: MarkerFilter) {viewport(bounds: $bounds, zoom: 8) {
        markers(collection: $collection, first: 2, after: $after, filter: $filter) {nodes {key} pageInfo {endCursor}}}}`,
      { bounds, collection, after, filter },
    );

  test('of another bounding box, collection, filter or list is rejected, and so is any other text', async () => {
    const { data } = await inViewport('markers(collection: "parks", first: 2) {pageInfo {endCursor}}');
    const cursor = data.viewport.markers.pageInfo.endCursor as string;
    expect((await markers(cursor)).data.viewport.markers.nodes).toHaveLength(2);
    const refused = [
      await markers(cursor, { ...BOUNDS, east: 12 }),
      await markers(cursor, BOUNDS, 'huts'),
      await markers(cursor, BOUNDS, 'parks', { category: ['a'] }),
      await markers('nonsense'),
      await markers(''),
      await markers('x'.repeat(5_000)),
      await markers(Buffer.from('{"v":1}').toString('base64url')),
      await server.ask('query ($after: String) {collection(key: "parks") {markers(after: $after) {nodes {key}}}}', {
        after: cursor,
      }),
      await server.ask('query ($after: String) {collections(after: $after) {nodes {key}}}', { after: cursor }),
    ];
    for (const answer of refused)
      expect(only(answer).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'after' });
  });

  test('of the list of collections resumes after its collection, and is not valid for markers', async () => {
    const { data } = await server.ask(
      '{collections(first: 1) {nodes {key} pageInfo {hasNextPage hasPreviousPage endCursor}}}',
    );
    const { endCursor, ...rest } = data.collections.pageInfo;
    expect([data.collections.nodes, rest]).toEqual([[{ key: 'huts' }], { hasNextPage: true, hasPreviousPage: false }]);
    const next = await server.ask(
      'query ($after: String) {collections(after: $after) {nodes {key} pageInfo {hasNextPage hasPreviousPage}}}',
      {
        after: endCursor,
      },
    );
    expect(next.data.collections).toEqual({
      nodes: [{ key: 'parks' }],
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });
    expect(only(await markers(endCursor)).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'after' });
  });
});

describe('a filter', () => {
  const filtered = (filter: unknown) =>
    inViewport('markers(collection: "parks", filter: $filter) {nodes {key}}', { filter }, '$filter: MarkerFilter');

  test('with no comparison or several is rejected', async () => {
    for (const comparison of [{}, { eq: 1, ne: 2 }, { gt: 1, lt: 2 }]) {
      const error = only(await filtered({ properties: [{ name: 'size', ...comparison }] }));
      expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: expect.stringContaining('properties') });
      expect(error.message).toMatch(/exactly one/);
    }
  });

  test('with an invalid instant is rejected', async () => {
    for (const updatedAt of ['yesterday', '2026-02-30T00:00:00Z', '2026-11-21', '2026-11-21T25:00:00Z', 5]) {
      expectBadInput(await filtered({ updatedAfter: updatedAt }), 'filter.updatedAfter', String(updatedAt), /RFC 3339/);
    }
  });
});

describe('a new marker', () => {
  const create = (input: Record<string, unknown>) =>
    server.ask('mutation ($input: CreateMarkerInput!) {createMarker(input: $input) {key}}', {
      input: { collection: 'parks', key: 'new', position: { lng: 10, lat: 50 }, ...input },
    });

  test.each([
    ['lat', 91, 'are lng and lat swapped'],
    ['lat', -90.0001, '-90 to 90'],
    ['lng', '10', 'finite number'],
    ['lat', '50', '-90 to 90'],
  ])('at a %s of %s is rejected', async (name, value, allowed) => {
    const answer = await create({ position: { lng: 10, lat: 50, [name]: value } });
    expectBadInput(answer, `position.${name}`, String(value), allowed);
  });

  test('at 91 degrees in a literal is rejected with the same reason', async () => {
    const answer = await server.ask(
      'mutation {createMarker(input: {collection: "parks", key: "n", position: {lng: 10, lat: 91}}) {key}}',
    );
    expectBadInput(answer, 'position.lat', '91', '-90 to 90');
  });

  test('with a key that is empty, missing, too long or ends in half a character is rejected', async () => {
    for (const key of ['', null, 'k'.repeat(3_000), '不'.repeat(1_000), '\ud800']) {
      const error = only(await create({ key }));
      expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: expect.stringMatching(/key$/) });
    }
  });

  test('with a key of separators or any other characters is stored under that key, or rejected', async () => {
    for (const key of ['a::b', '::', 'a#b', '#', ':', 'ÄÖ不🏃', 'a/b?c=d', '\\', '%', 'null', 'self']) {
      const answer = await server.ask('mutation ($input: CreateMarkerInput!) {createMarker(input: $input) {id key}}', {
        input: { collection: 'huts', key, position: { lng: 10, lat: 50 } },
      });
      expect([answer.errors, answer.data.createMarker.key]).toEqual([[], key]);
      const again = await server.ask('query ($id: ID!) {marker(id: $id) {key}}', { id: answer.data.createMarker.id });
      expect(again.data.marker).toEqual({ key });
    }
  });

  test('with properties that are over 400 KB, too deep, not an object, or have numbers that would lose digits is rejected', async () => {
    expectBadInput(await create({ properties: { text: 'x'.repeat(410_000) } }), 'properties', 'bytes', /under/);
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as unknown;
    expect(only(await create({ properties: deep })).extensions['code']).toBe('BAD_USER_INPUT');
    const veryDeep = `{"query":"mutation ($input: CreateMarkerInput!) {createMarker(input: $input) {key}}","variables":{"input":{"collection":"parks","key":"n","position":{"lng":1,"lat":1},"properties":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}}}`;
    expect(await (await server.post(veryDeep)).json()).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    for (const properties of ['text', [1], 5, true]) {
      expect(only(await create({ properties })).extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        field: 'input.properties',
      });
    }
    expect(only(await create({ properties: { id: 2 ** 60 } })).extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'properties.id',
    });
    const literal = await server.ask(
      'mutation {createMarker(input: {collection: "parks", key: "n", position: {lng: 1, lat: 1}, properties: {id: 12345678901234567890}}) {key}}',
    );
    expect(only(literal).message).toContain('12345678901234567890');
  });

  test('of a collection that does not exist is NOT_FOUND', async () => {
    for (const collection of ['nobody', '', 'a::b', 'a#b', '不', 'x'.repeat(3_000)]) {
      expect(only(await create({ collection })).extensions['code']).toBe('NOT_FOUND');
    }
  });

  test('with a key that exists is a CONFLICT, and the first marker stays unchanged', async () => {
    const answer = await create({ key: 'p1', name: 'another' });
    expect(answer.errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
    const { data } = await server.ask('{collection(key: "parks") {marker(key: "p1") {name version}}}');
    expect(data.collection.marker).toEqual({ name: null, version: 1 });
  });
});

describe('a batch of new markers', () => {
  const CREATE = `mutation ($collection: String!, $markers: [MarkerInput!]!) {
    createMarkers(collection: $collection, markers: $markers) {markers {key} failures {index code message}}}`;
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ key: `m${index}`, position: { lng: 0, lat: 0 } }));

  test('of 501 is rejected: none of them is written', async () => {
    expectBadInput(await server.ask(CREATE, { collection: 'parks', markers: many(501) }), 'markers', '501', /500/);
  });

  test('writes the valid ones if some are invalid: each entirely or not at all', async () => {
    const markers = [
      { key: 'b1', position: { lng: 0, lat: 0 } },
      { key: '', position: { lng: 0, lat: 0 } },
      { key: 'p1', position: { lng: 0, lat: 0 } },
      { key: 'b2', position: { lng: 0, lat: 0 }, properties: { text: 'x'.repeat(410_000) } },
      { key: 'b1', position: { lng: 1, lat: 1 } },
      { key: 'b3', position: { lng: 0, lat: 0 } },
    ];
    const { data, errors } = await server.ask(CREATE, { collection: 'parks', markers });
    expect(errors).toEqual([]);
    expect(data.createMarkers.markers).toEqual([{ key: 'b1' }, { key: 'b3' }]);
    expect(data.createMarkers.failures).toMatchObject([
      { index: 1, code: 'BAD_USER_INPUT' },
      { index: 2, code: 'CONFLICT' },
      { index: 3, code: 'BAD_USER_INPUT' },
      { index: 4, code: 'CONFLICT' },
    ]);
    const stored = await server.ask(
      '{collection(key: "parks") {b1: marker(key: "b1") {position {lng}} b2: marker(key: "b2") {key}}}',
    );
    expect(stored.data.collection).toEqual({ b1: { position: { lng: 0 } }, b2: null });
  });
});

describe('a batch of imported markers', () => {
  const IMPORT = `mutation ($collection: String!, $markers: [MarkerInput!]!) {
    upsertMarkers(collection: $collection, markers: $markers) {created updated unchanged failures {index code message}}}`;
  const at = (lng: number) => ({ lng, lat: 0 });
  const run = async (markers: readonly object[], collection = 'parks') => server.ask(IMPORT, { collection, markers });

  test('creates the valid ones, replaces others, and the same batch again changes nothing', async () => {
    const markers = [
      { key: 'u1', position: at(0) },
      { key: '', position: at(0) },
      { key: 'u2', position: at(0), properties: { text: 'x'.repeat(410_000) } },
      { key: 'u1', position: at(1) },
      { position: at(0) },
    ];
    const failures = [{ index: 1 }, { index: 2 }, { index: 3, code: 'CONFLICT' }, { index: 4 }].map((each) => ({
      code: 'BAD_USER_INPUT',
      ...each,
    }));
    const first = await run(markers);
    expect(first.errors).toEqual([]);
    expect(first.data.upsertMarkers).toMatchObject({ created: 1, updated: 0, unchanged: 0, failures });
    expect((await run(markers)).data.upsertMarkers).toMatchObject({ created: 0, updated: 0, unchanged: 1, failures });
    const moved = await run([{ key: 'u1', position: at(2) }]);
    expect(moved.data.upsertMarkers).toEqual({ created: 0, updated: 1, unchanged: 0, failures: [] });
    const { data } = await server.ask('{collection(key: "parks") {marker(key: "u1") {version position {lng}}}}');
    expect(data.collection.marker).toEqual({ version: 2, position: { lng: 2 } });
  });

  test('of 501, or for a collection that generates its keys, is rejected as a whole', async () => {
    const many = Array.from({ length: 501 }, (_, index) => ({ key: `v${index}`, position: at(0) }));
    expectBadInput(await run(many), 'markers', '501', /500/);
    await testCollection(db, { key: 'own', name: 'Own', idStrategy: 'UUID' });
    sent.reset();
    expectBadInput(await run([{ key: 'a', position: at(0) }], 'own'), 'collection', 'own', /GIVEN/);
  });
});

describe('a new collection', () => {
  const create = (input: Record<string, unknown>) =>
    server.ask('mutation ($input: CreateCollectionInput!) {createCollection(input: $input) {key}}', {
      input: { key: 'new', name: 'New', ...input },
    });

  test.each(['', 'A', 'a b', 'a::b', 'a#b', '不', '-a', '_a', 'a'.repeat(64), 'a'.repeat(3_000), 'a\n'])(
    'with the key %.20j is rejected',
    async (key) => {
      expect(only(await create({ key })).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'key' });
    },
  );

  test('with an invalid prefix, shards, name, properties or code is rejected', async () => {
    const wrong: [string, unknown][] = [
      ['prefixLength', -1],
      ['prefixLength', 7],
      ['writeShards', 0],
      ['writeShards', 1_000_000],
      ['name', ''],
      ['mapProperties', ['\ud800']],
      ['mapProperties', Array.from({ length: 1_000 }, (_, index) => `p${index}`)],
      ['code', 'ABC'],
      ['code', ''],
    ];
    for (const [field, value] of wrong) {
      expect(only(await create({ [field]: value })).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field });
    }
  });

  test('with a key that exists is a CONFLICT', async () => {
    expect((await create({ key: 'parks' })).errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  });
});

test('an argument that must not be null is named even if only its variable is null', async () => {
  const answer = await server.ask('query ($key: String = "parks") {collection(key: $key) {key}}', { key: null });
  expect(only(answer)).toMatchObject({
    message: expect.stringContaining('"key"'),
    path: ['collection'],
    extensions: { code: 'BAD_USER_INPUT' },
  });
});

test('null for an argument with a default is treated as omitted', async () => {
  const { errors, data } = await server.ask(
    `query ($bounds: BoundsInput!) {
      collections(first: null) {nodes {key}}
      viewport(bounds: $bounds, zoom: 8) {
        markers(collection: "parks", first: null, filter: null) {nodes {key}}
        clusters(collection: "parks", radius: null) {count}
        auto(collection: "parks", limit: null) {total}
        features(collection: "parks", limit: null)
        cells(collection: "parks", precision: null) {count}
      }
    }`,
    { bounds: BOUNDS },
  );
  expect(errors).toEqual([]);
  expect(data.viewport.markers.nodes).toHaveLength(5);
  expect(data.viewport.auto.total).toBe(5);
});

describe('an ID', () => {
  test.each([
    '',
    'nonsense',
    'marker::parks',
    'marker::nobody::p1',
    'marker::parks::nobody',
    'zone::parks::p1',
    'x'.repeat(3_000),
  ])('%j that identifies nothing is null', async (id) => {
    const { data, errors } = await server.ask(
      'query ($id: ID!, $ids: [ID!]!) {node(id: $id) {id} marker(id: $id) {id} nodes(ids: $ids) {id}}',
      {
        id,
        ids: [id, 'marker::parks::p1', 'collection::parks', id],
      },
    );
    expect([errors, data]).toEqual([
      [],
      { node: null, marker: null, nodes: [null, { id: 'marker::parks::p1' }, { id: 'collection::parks' }, null] },
    ]);
  });

  test('one of 5,001 is rejected', async () => {
    const answer = await server.ask('query ($ids: [ID!]!) {nodes(ids: $ids) {id}}', { ids: Array(5_001).fill('a') });
    expectBadInput(answer, 'ids', '5001', /5,?000/);
  });
});

test('no internal error was logged', () => {
  expect(server.logged.filter(({ level }) => level === 'error')).toEqual([]);
});
