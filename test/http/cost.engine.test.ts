import { beforeAll, beforeEach, expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { recordCalls } from '../support/record-calls.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { fillCells, testServer } from './live-server.js';

const db = await testDatabase();
const sent = recordCalls(db);
const server = await testServer(db);

/** The sum reported by DynamoDB itself. */
const reported = { readUnits: 0, writeUnits: 0, itemsScanned: 0, itemsReturned: 0 };

interface Output {
  readonly ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
  readonly ScannedCount?: number;
  readonly Count?: number;
  readonly Item?: unknown;
  readonly Responses?: Record<string, unknown[]>;
}

const READS = ['QueryCommand', 'ScanCommand', 'GetItemCommand', 'BatchGetItemCommand', 'GetCommand', 'BatchGetCommand'];

/** The units that AWS charges and DynamoDB Local does not report: of absent keys, and of a Query without items. */
function unreported(input: unknown, { Responses, ScannedCount }: Output): number {
  const { RequestItems: batches, ConsistentRead = false } = input as {
    RequestItems?: Record<string, { Keys: unknown[]; ConsistentRead?: boolean }>;
    ConsistentRead?: boolean;
  };
  if (batches === undefined) return ScannedCount === 0 ? (ConsistentRead ? 1 : 0.5) : 0;
  return Object.entries(batches).reduce((sum, [table, { Keys, ConsistentRead: consistent = false }]) => {
    const absent = Keys.length - (Responses?.[table]?.length ?? 0);
    return sum + absent * (consistent ? 1 : 0.5);
  }, 0);
}

const COUNT = 500;
/** Spread over a few degrees, at the same positions in every run. */
const place = (index: number) => ({ lng: 5 + ((index * 7.31) % 10), lat: 45 + ((index * 3.77) % 6) });

beforeAll(async () => {
  const now = new Date().toISOString();
  const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, now);
  const inputs = Array.from({ length: COUNT }, (_, index) => ({
    key: `p${index}`,
    position: place(index),
    properties: index % 10 === 0 ? { note: 'x'.repeat(300) } : { index },
  }));
  await createMarkers(newCall(db), collection, inputs, now);
  await fillCells(db, collection, inputs);
  db.client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const output = result.output as Output;
      const units = [output.ConsumedCapacity ?? []]
        .flat()
        .reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      if (READS.includes(String(context.commandName))) reported.readUnits += units + unreported(args.input, output);
      else reported.writeUnits += units;
      reported.itemsScanned += output.ScannedCount ?? 0;
      const batch = Object.values(output.Responses ?? {}).reduce((sum, items) => sum + items.length, 0);
      reported.itemsReturned += (output.Count ?? 0) + (output.Item === undefined ? 0 : 1) + batch;
      return result;
    },
    { step: 'initialize', priority: 'high', name: 'what-came-back' },
  );
});
beforeEach(() => {
  sent.reset();
  Object.assign(reported, { readUnits: 0, writeUnits: 0, itemsScanned: 0, itemsReturned: 0 });
});

const COST = { 'x-cellport-cost': '1' };
interface Cost {
  readonly queries: number;
  readonly getItems: number;
  readonly writes: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly itemsScanned: number;
  readonly itemsReturned: number;
  readonly cacheHits: number;
}

const viewport = (name: string, bounds: Record<string, number>, field: string) =>
  `${name}: viewport(bounds: {${Object.entries(bounds)
    .map(([edge, value]) => `${edge}: ${value}`)
    .join(' ')}}, zoom: 8) {${field}}`;

async function asked(query: string) {
  const { data, errors, extensions } = await server.ask(query, {}, COST);
  expect(errors).toEqual([]);
  return { data, cost: extensions?.['cost'] as Cost };
}

const keysAskedFor = () =>
  sent.commands
    .filter(({ name }) => name.startsWith('BatchGet'))
    .flatMap(({ input }) => Object.values(input['RequestItems'] as Record<string, { Keys: unknown[] }>))
    .reduce((sum, { Keys }) => sum + Keys.length, 0);

const BOUNDS = { west: 6, south: 46, east: 9, north: 48 };

test('the cost of a viewport is the sum of what AWS would charge for it', async () => {
  const fields =
    'markers(collection: "parks") {nodes {key properties version}} count(collection: "parks") clusters(collection: "parks") {count}';
  const { cost } = await asked(`{${viewport('a', BOUNDS, fields)}}`);
  expect(cost).toEqual({
    queries: sent.commands.filter(({ name }) => name.startsWith('Query')).length,
    getItems: keysAskedFor() + sent.commands.filter(({ name }) => name.startsWith('Get')).length,
    writes: 0,
    cacheHits: expect.any(Number),
    markersFrom: 'INDEX',
    behindMs: null,
    ...reported,
  });
  expect(cost.queries).toBeGreaterThan(0);
  expect(cost.readUnits).toBeGreaterThan(0);
  expect(cost.itemsReturned).toBeGreaterThan(0);
});

test('writes have a cost, too, and only requests that ask for it get it', async () => {
  const mutation = (key: string) =>
    `mutation {createMarkers(collection: "parks", markers: [{key: "${key}1", position: {lng: 100, lat: 0}}, {key: "${key}2", position: {lng: 100, lat: 0}}]) {failures {code}}}`;
  const { cost } = await asked(mutation('a'));
  expect(cost).toMatchObject({ writes: 2, writeUnits: reported.writeUnits, readUnits: reported.readUnits });
  expect(cost.writeUnits).toBeGreaterThanOrEqual(2);
  expect((await server.ask(mutation('b'))).extensions).toBeUndefined();
  expect((await server.ask('{__typename}', {}, { 'x-cellport-cost': '0' })).extensions).toBeUndefined();
});

test('a second request for the same cells is answered from the cache, and the cost says so', async () => {
  const query = `{${viewport('a', BOUNDS, 'cells(collection: "parks") {count}')}}`;
  await asked(query);
  const { cost } = await asked(query);
  expect(cost).toMatchObject({ queries: 0, getItems: 0, readUnits: 0 });
  expect(cost.cacheHits).toBeGreaterThan(0);
});

test('concurrent requests have separate costs', async () => {
  const query = `{${viewport('a', BOUNDS, 'markers(collection: "parks") {nodes {key}}')}}`;
  // The first time, the executors are compared, and the request runs three times.
  await asked(query);
  const alone = (await asked(query)).cost;
  const together = await Promise.all(Array.from({ length: 8 }, () => asked(query)));
  for (const { cost } of together) expect(cost).toEqual(alone);
});

interface Range {
  readonly index: string;
  readonly pk: string;
  readonly from: string;
  readonly to: string;
}

/** The number of ranges after overlapping ones are united. */
function united(ranges: readonly Range[]): number {
  const sorted = [...ranges].sort((a, b) => (a.pk + a.from < b.pk + b.from ? -1 : 1));
  let count = 0;
  let last: Range | undefined;
  for (const range of sorted) {
    if (last !== undefined && last.pk === range.pk && range.from <= last.to) {
      if (range.to > last.to) last = { ...last, to: range.to };
    } else {
      count++;
      last = range;
    }
  }
  return count;
}

test('twenty overlapping viewports in one request make the Query calls of their union, and each gets its own markers', async () => {
  const panned = Array.from({ length: 20 }, (_, index) => ({
    west: 5.5 + index * 0.2,
    south: 45.5 + (index % 4) * 0.1,
    east: 8.5 + index * 0.2,
    north: 48.5 + (index % 4) * 0.1,
  }));
  const all = (field: string) => `{${panned.map((bounds, index) => viewport(`v${index}`, bounds, field)).join(' ')}}`;
  const MARKERS = 'markers(collection: "parks") {nodes {key}}';
  // Plans depend on which cells are cached: all of them after the maps were read.
  await asked(all(MARKERS));
  const plans = await asked(all('plan(collection: "parks") {ranges {index pk from to}}'));
  const ranges = Object.values(plans.data as Record<string, { plan: { ranges: Range[] } }>).flatMap(
    ({ plan }) => plan.ranges,
  );

  const { data, cost } = await asked(all(MARKERS));
  expect(cost.queries).toBeLessThanOrEqual(united(ranges));
  expect(cost.queries).toBeLessThan(ranges.length / 4);

  let oneByOne = 0;
  for (const [index, bounds] of panned.entries()) {
    const inside = Array.from({ length: COUNT }, (_, marker) => marker).filter((marker) => {
      const { lng, lat } = place(marker);
      return lng >= bounds.west && lng <= bounds.east && lat >= bounds.south && lat <= bounds.north;
    });
    const keys = (nodes: { key: string }[]) => nodes.map(({ key }) => key).sort();
    expect(keys(data[`v${index}`].markers.nodes)).toEqual(inside.map((marker) => `p${marker}`).sort());
    const single = await asked(`{${viewport('one', bounds, MARKERS)}}`);
    expect(single.data.one.markers.nodes).toEqual(data[`v${index}`].markers.nodes);
    oneByOne += single.cost.queries;
  }
  expect(cost.queries).toBeLessThan(oneByOne / 4);
});

test('the same viewport twenty times makes the Query calls of one', async () => {
  const one = await asked(
    `{${viewport('a', BOUNDS, 'markers(collection: "parks") {nodes {key}} count(collection: "parks")')}}`,
  );
  const names = Array.from({ length: 20 }, (_, index) => `v${index}`);
  const twenty = await asked(
    `{${names.map((name) => viewport(name, BOUNDS, 'markers(collection: "parks") {nodes {key}} count(collection: "parks")')).join(' ')}}`,
  );
  expect(twenty.cost.queries).toBe(one.cost.queries);
  expect(twenty.cost.readUnits).toBe(one.cost.readUnits);
});

test('all IDs of one request are read in one batch, each item once', async () => {
  await asked('{collection(key: "parks") {key}}');
  sent.reset();
  const ids = [3, 1, 4, 1, 5].map((index) => `"marker::parks::p${index}"`).join(' ');
  const { data, cost } = await asked(
    `{nodes(ids: [${ids} "collection::parks"]) {id} marker(id: "marker::parks::p9") {key}}`,
  );
  expect(data.nodes.map(({ id }: { id: string }) => id.replace(/.*::p?/, ''))).toEqual([
    '3',
    '1',
    '4',
    '1',
    '5',
    'arks',
  ]);
  expect([sent.count(), cost.getItems]).toEqual([1, 5]);
});

test('what one request reads is not reused by the next one', async () => {
  const query = '{collection(key: "parks") {marker(key: "later") {name}}}';
  expect((await asked(query)).data.collection.marker).toBeNull();
  await asked(
    'mutation {createMarker(input: {collection: "parks", key: "later", name: "Later", position: {lng: 0, lat: 0}}) {key}}',
  );
  expect((await asked(query)).data.collection.marker).toEqual({ name: 'Later' });
});
