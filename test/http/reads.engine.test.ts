import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { cellBounds, encode, toZ } from '../../src/geo/geohash.js';
import { compiling, interpreting } from '../../src/graphql/execution/executor.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { fillCells, startServer, type LiveServer } from './live-server.js';

interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

interface Read {
  readonly index: string;
  readonly pk: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
  readonly bounds: Bounds | null;
  readonly geohashes: { readonly first: string; readonly last: string } | null;
}

interface Cost {
  readonly queries: number;
  readonly getItems: number;
  readonly readUnits: number;
  readonly itemsScanned: number;
  readonly cacheHits: number;
}

const COUNT = 600;
/** Spread over a few degrees, at the same positions in every run. */
const place = (index: number) => ({ lng: 5 + ((index * 7.31) % 10), lat: 45 + ((index * 3.77) % 6) });
const NOW = '2026-11-21T10:00:00.000Z';

const EXPLAIN = { 'x-cellport-cost': '1', 'x-cellport-explain': '1' };
const VIEWPORT = 'viewport(bounds: {west: 6, south: 46, east: 9, north: 48}, zoom: 8)';
const MAP = `{${VIEWPORT} {markers(collection: "parks") {nodes {key position {lng lat}}} cells(collection: "parks") {count}}}`;

/** Whether a geohash of length 10 is among the cells of a read. */
function holds({ geohashes }: Read, geohash: string): boolean {
  if (!geohashes) return false;
  const z = toZ(geohash.slice(0, geohashes.first.length));
  return toZ(geohashes.first) <= z && z <= toZ(geohashes.last);
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

describe.each(variants(['readable', 'compact'] as const))('with %s keys', async (style) => {
  const db = await testDatabase(style, { waitsForDisk: true });
  const sent = recordCalls(db);
  const servers: LiveServer[] = [];

  /** A server whose caches are empty. */
  async function freshServer() {
    const pages = testPages({ trusted: true, cacheBytes: 8e6 });
    const server = await startServer(db, { ...pages, executor: interpreting });
    servers.push(server);
    return server;
  }

  async function explained(server: LiveServer, query: string) {
    sent.reset();
    const { data, errors, extensions } = await server.ask(query, {}, EXPLAIN);
    expect(errors).toEqual([]);
    const { cost, reads, readsLeftOut } = extensions as { cost: Cost; reads: Read[]; readsLeftOut: number };
    return { data, cost, reads, readsLeftOut };
  }

  beforeAll(async () => {
    const input = { key: 'parks', name: 'Parks', code: 'Pa', prefixLength: 1, writeShards: 2 };
    const collection = await testCollection(db, input, NOW);
    const markers = Array.from({ length: COUNT }, (_, index) => ({
      key: `p${index}`,
      position: place(index),
      place: ['Berlin', `${index % 3}`],
      properties: {},
    }));
    for (const some of [markers.slice(0, 500), markers.slice(500)])
      await createMarkers(newCall(db), collection, some, NOW);
    await fillCells(db, collection, markers);
    await addAllPages(db, collection);
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  test('each Query call is listed with its range, items and units, which add up to the cost', async () => {
    const server = await freshServer();
    // The collection and the count by its first characters are read by key, which is not a range, and then cached.
    const { cost: before } = await explained(server, '{collection(key: "parks") {key count}}');
    expect(before).toMatchObject({ queries: 0, getItems: 2 });
    const { cost, reads, readsLeftOut } = await explained(server, MAP);
    const queries = sent.commands.filter(({ name }) => name === 'Query');
    expect(queries.length).toBeGreaterThan(2);
    const asked = queries.map(({ input }) => {
      const values = input['ExpressionAttributeValues'] as Record<string, string>;
      return { pk: values[':pk'], from: values[':from'], to: values[':to'] };
    });
    expect(reads).toHaveLength(queries.length);
    for (const one of asked) expect(reads).toContainEqual(expect.objectContaining({ ...one, cached: false }));
    expect(new Set(reads.map(({ index }) => index))).toEqual(new Set(['pages', 'cells', 'derived']));
    expect(cost).toMatchObject({
      getItems: 0,
      queries: reads.length,
      readUnits: sum(reads.map(({ readUnits }) => readUnits)),
      itemsScanned: sum(reads.map(({ items }) => items)),
    });
    expect(readsLeftOut).toBe(0);
  });

  test('every marker is in the cells of a range, and the cells are in its bounding box', async () => {
    const { data, reads } = await explained(await freshServer(), MAP);
    const nodes = data.viewport.markers.nodes as { position: { lng: number; lat: number } }[];
    expect(nodes.length).toBeGreaterThan(20);
    const ofMarkers = reads.filter(({ index }) => index === 'pages');
    for (const { position } of nodes) {
      const geohash = encode(position, 10);
      expect(ofMarkers.some((read) => holds(read, geohash))).toBe(true);
    }
    for (const { bounds, geohashes } of reads.filter(({ index }) => index !== 'derived')) {
      for (const geohash of [geohashes?.first, geohashes?.last]) {
        const cell = cellBounds(geohash ?? '');
        expect(bounds).toMatchObject({ west: expect.any(Number), north: expect.any(Number) });
        expect(bounds && bounds.west <= cell.west && cell.east <= bounds.east).toBe(true);
        expect(bounds && bounds.south <= cell.south && cell.north <= bounds.north).toBe(true);
      }
    }
    // Not every marker of the collection, because a range of the whole world would have all of them.
    const all = Array.from({ length: COUNT }, (_, index) => encode(place(index), 10));
    expect(all.some((geohash) => !ofMarkers.some((read) => holds(read, geohash)))).toBe(true);
  });

  test('ranges from a cache are listed with the same cells, joined if adjacent', async () => {
    const server = await freshServer();
    const first = await explained(server, MAP);
    const second = await explained(server, MAP);
    expect(second.cost).toMatchObject({ queries: 0, readUnits: 0 });
    expect(second.reads.every(({ cached, readUnits }) => cached && readUnits === 0)).toBe(true);
    expect(second.reads.length).toBeLessThanOrEqual(first.reads.length);
    expect(second.cost.cacheHits).toBeGreaterThan(second.reads.length);
    const told = (reads: readonly Read[], index: string) =>
      Array.from({ length: COUNT }, (_, number) => encode(place(number), 10)).filter((geohash) =>
        reads.some((read) => read.index === index && holds(read, geohash)),
      );
    for (const index of ['cells']) {
      expect(told(second.reads, index)).toEqual(told(first.reads, index));
      const items = (reads: readonly Read[]) => sum(reads.filter((read) => read.index === index).map((r) => r.items));
      expect(items(second.reads)).toBe(items(first.reads));
    }
  });

  test('after panning, a map lists what came from the cache and what it read', async () => {
    const server = await freshServer();
    await explained(server, MAP);
    const { cost, reads } = await explained(
      server,
      MAP.replace('west: 6', 'west: 5.8').replace('east: 9', 'east: 8.8'),
    );
    const read = reads.filter(({ cached }) => !cached);
    expect(read.length).toBe(cost.queries);
    expect(sum(read.map(({ readUnits }) => readUnits))).toBe(cost.readUnits);
    expect(reads.length).toBeGreaterThan(read.length);
  });

  test('ranges that are not geohashes have no cells, and other tables and indexes are named', async () => {
    const { reads } = await explained(
      await freshServer(),
      '{collections {nodes {key}} collection(key: "parks") {markersIn(place: ["Berlin"], first: 3) {nodes {key readings(last: 1) {at}}} places {name}}}',
    );
    expect(new Set(reads.map(({ index }) => index))).toEqual(new Set(['entities', 'place', 'derived']));
    for (const { bounds, geohashes, cached } of reads) {
      expect({ bounds, geohashes, cached }).toEqual({ bounds: null, geohashes: null, cached: false });
    }
  });

  test('a page ends where the next one starts', async () => {
    const { reads } = await explained(
      await freshServer(),
      '{collection(key: "parks") {markersIn(place: ["Berlin"], first: 3) {pageInfo {endCursor}}}}',
    );
    const [read] = reads;
    expect(reads).toHaveLength(1);
    expect(read?.from).toBeNull();
    expect(read?.to).toMatch(/::p\d+$/);
  });
});

describe('requesting reads', async () => {
  const db = await testDatabase('readable', { waitsForDisk: true });
  let compiled: LiveServer;
  let interpreted: LiveServer;
  const sent = recordCalls(db);

  beforeAll(async () => {
    // Hundreds of Query calls may take a busy machine longer than the default deadline.
    const limits = { maxNodes: 5_000, deadlineMs: 60_000 };
    interpreted = await startServer(db, { executor: interpreting, limits });
    compiled = await startServer(db, { executor: (schema) => compiling(schema, { runsBefore: 0 }) });
    const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
    const markers = Array.from({ length: COUNT }, (_, index) => ({ key: `p${index}`, position: place(index) }));
    for (const some of [markers.slice(0, 500), markers.slice(500)])
      await createMarkers(newCall(db), collection, some, NOW);
    await fillCells(db, collection, markers);
  });
  afterAll(() => Promise.all([interpreted.close(), compiled.close()]));
  beforeEach(() => sent.reset());

  const byRange = (reads: readonly Read[] = []) =>
    reads.toSorted((a, b) => String(a.from).localeCompare(String(b.from)));
  const get = async (server: LiveServer, headers: Record<string, string>) => {
    const response = await fetch(`${server.url}/graphql?query=${encodeURIComponent(MAP)}`, {
      headers: { 'apollo-require-preflight': '1', ...headers },
    });
    return (await response.json()) as { extensions?: { cost?: Cost; reads?: Read[] } };
  };

  test('works by GET and by POST, compiled or not, with or without the cost', async () => {
    await interpreted.ask(MAP, {}, EXPLAIN);
    await compiled.ask(MAP, {}, EXPLAIN);
    // By now all of them have the cells in the cache, and read the markers again.
    const answers = [
      await interpreted.ask(MAP, {}, EXPLAIN),
      await compiled.ask(MAP, {}, EXPLAIN),
      await get(interpreted, EXPLAIN),
      await get(compiled, EXPLAIN),
    ].map(({ extensions }) => {
      const { cost, reads } = extensions as { cost: Cost; reads: Read[] };
      // Reads made concurrently are in any order.
      return { cost, reads: byRange(reads) };
    });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.reads.some(({ cached }) => cached)).toBe(true);
    expect(answers[0]?.reads.filter(({ cached }) => !cached)).toHaveLength(answers[0]?.cost.queries ?? -1);
    const alone = await get(compiled, { 'x-cellport-explain': '1' });
    expect(alone.extensions).toMatchObject({ readsLeftOut: 0, pages: [] });
    expect(byRange(alone.extensions?.reads)).toEqual(answers[0]?.reads);
    expect((await get(compiled, { 'x-cellport-cost': '1' })).extensions).toEqual({ cost: answers[0]?.cost });
  });

  test('other requests get no reads, and do not request consumed capacity from DynamoDB', async () => {
    expect((await get(interpreted, {})).extensions).toBeUndefined();
    expect((await get(interpreted, { 'x-cellport-explain': '0' })).extensions).toBeUndefined();
    expect(sent.commands.length).toBeGreaterThan(0);
    expect(sent.commands.filter(({ input }) => 'ReturnConsumedCapacity' in input)).toEqual([]);
  });

  test('at most 500 ranges are listed, with the number of omitted ones', async () => {
    const ids = Array.from({ length: COUNT }, (_, index) => `marker::parks::p${index}`);
    const query = 'query ($ids: [ID!]!) {nodes(ids: $ids) {... on Marker {readings(last: 1) {at}}}}';
    const { extensions } = await interpreted.ask(query, { ids }, EXPLAIN);
    const { cost, reads, readsLeftOut } = extensions as { cost: Cost; reads: Read[]; readsLeftOut: number };
    expect(cost.queries).toBeGreaterThanOrEqual(COUNT);
    expect([reads.length, readsLeftOut]).toEqual([500, cost.queries - 500]);
  });

  test('a request that fails before it reads has an empty list', async () => {
    const response = await interpreted.post('no JSON', EXPLAIN);
    expect(((await response.json()) as { extensions: unknown }).extensions).toMatchObject({
      cost: { queries: 0 },
      reads: [],
      readsLeftOut: 0,
    });
  });
});
