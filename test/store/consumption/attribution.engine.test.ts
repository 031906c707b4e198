import { expect, test } from 'vitest';

import { ConsumptionSampler, type HotKey } from '../../../src/store/consumption/sampler.js';
import { newCall, type Call, type Database, type Item } from '../../../src/store/database.js';
import { updateMarker } from '../../../src/store/marker/marker-update.js';
import { createMarkers, draftItems, isItem } from '../../../src/store/marker/markers.js';
import { deleteMarker } from '../../../src/store/removal/markers.js';
import { batchGet, putInBulk } from '../../../src/store/request/batches.js';
import { rangeRequest } from '../../../src/store/request/ranges.js';
import { send } from '../../../src/store/request/send.js';
import { recordCalls } from '../../support/record-calls.js';
import { testCollection, testDatabase } from '../../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const POZNAN = { lng: 16.9299, lat: 52.4069 };
const BERLIN = { lng: 13.4, lat: 52.52 };
const PARIS = { lng: 2.35, lat: 48.86 };

const plain = await testDatabase();
const { entities } = plain.tables;
const sent = recordCalls(plain);
const parks = await testCollection(plain, { key: 'parks', name: 'Parks' }, NOW);

interface Reported {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
  readonly Table?: { readonly CapacityUnits?: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits?: number }>>;
}
/** What DynamoDB itself reported, by table or index. */
const reported = new Map<string, number>();
function addReported(name: string, units = 0): void {
  if (units > 0) reported.set(name, (reported.get(name) ?? 0) + units);
}
plain.client.middlewareStack.add(
  (next) => async (args) => {
    const result = await next(args);
    const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Reported | Reported[] };
    const index = (args.input as { IndexName?: string }).IndexName;
    for (const { TableName = '', CapacityUnits, Table, GlobalSecondaryIndexes } of [ConsumedCapacity ?? []].flat()) {
      addReported(index ?? TableName, Table?.CapacityUnits ?? CapacityUnits);
      for (const [name, { CapacityUnits: units }] of Object.entries(GlobalSecondaryIndexes ?? {})) {
        addReported(name, units);
      }
    }
    return result;
  },
  { step: 'initialize', priority: 'high', name: 'what-was-reported' },
);

/** What one piece of work consumed: units by index (or table) and key, all units there, and what DynamoDB reported. */
async function consumed(work: (call: Call) => Promise<unknown>) {
  reported.clear();
  const consumption = new ConsumptionSampler(() => 0);
  await work(newCall({ ...plain, consumption }));
  const { keys, seconds } = consumption.report(1_000);
  const units = ({ readUnits, writeUnits }: Pick<HotKey, 'readUnits' | 'writeUnits'>) => readUnits + writeUnits;
  const totals = new Map(consumption.totals().map((total) => [total.index ?? total.table, units(total)] as const));
  expect([...totals.keys()].toSorted()).toEqual([...reported.keys()].toSorted());
  for (const [name, total] of totals) expect(total).toBeCloseTo(reported.get(name) ?? 0);
  const byKey = new Map<string, Map<string, number>>();
  for (const hot of keys) {
    const name = hot.index ?? hot.table;
    byKey.set(name, (byKey.get(name) ?? new Map<string, number>()).set(hot.key, units(hot) * seconds));
  }
  const of = (name: string) => Object.fromEntries(byKey.get(name) ?? []);
  return { of, totals };
}

const markersIn = (name: string, position: { lng: number; lat: number }, count: number) =>
  Array.from({ length: count }, (_, n) => ({ key: `${name}${n}`, position }));

test('writes count for the keys of the table and of each index, in a batch and in a transaction', async () => {
  const inputs = [
    ...markersIn('poznan', POZNAN, 4),
    ...markersIn('berlin', BERLIN, 2),
    ...markersIn('paris', PARIS, 3),
  ];
  const ofPrefixes = { 'marker::parks::u3': 6, 'marker::parks::u0': 3 };
  const itemsOf = (way: string) => {
    const markers = inputs.map((input) => ({ ...input, key: `${input.key}-${way}` }));
    return draftItems(plain, parks, markers, NOW).filter(isItem);
  };
  const own = (items: readonly Item[]) => Object.fromEntries(items.map(({ pk }) => [String(pk), 1]));
  const batched = itemsOf('batch');
  const batch = await consumed((call) => putInBulk(call, entities, batched));
  expect(batch.of('geoA')).toEqual(ofPrefixes);
  expect(batch.of(entities)).toEqual(own(batched));
  // DynamoDB Local reports too little for a transaction.
  const together = itemsOf('transaction');
  const transaction = await consumed((call) =>
    putInBulk(newCall({ ...call.db, waitsForDisk: true }), entities, together),
  );
  const all = transaction.totals.get('geoA') ?? 0;
  expect(all).toBeGreaterThan(0);
  for (const [pk, units] of Object.entries(ofPrefixes))
    expect(transaction.of('geoA')[pk]).toBeCloseTo((units / together.length) * all);
  expect(Object.keys(transaction.of(entities)).toSorted()).toEqual(Object.keys(own(together)).toSorted());
});

test('a move counts for the prefix it leads to; what a deletion removes from an index counts for no key', async () => {
  await createMarkers(newCall(plain), parks, markersIn('moves', POZNAN, 1), NOW);
  const reference = { collection: parks, key: 'moves0' };
  const move = await consumed((call) => updateMarker(call, reference, { position: PARIS }, { now: NOW }));
  expect(move.of('geoA')).toEqual({ 'marker::parks::u0': 2 });
  const deletion = await consumed((call) => deleteMarker(call, reference, { now: NOW }));
  expect(deletion.totals.get('geoA')).toBe(1);
  expect(deletion.of('geoA')).toEqual({});
  expect(Object.keys(deletion.of(entities))).toEqual(['marker::parks::moves0']);
});

test('reads count for the partition that a Query names, and equally for the keys of a batch', async () => {
  await createMarkers(newCall(plain), parks, markersIn('read', BERLIN, 40), NOW);
  const query = await consumed((call) =>
    send(call, 'query', rangeRequest(call.db, { index: 'geoA', pk: 'marker::parks::u3', from: '0', to: 'z' })),
  );
  expect(query.of('geoA')).toEqual({ 'marker::parks::u3': query.totals.get('geoA') });
  const keys = ['read0', 'read1', 'nobody'].map((key) => plain.keys.marker('parks', key));
  const batch = await consumed((call) => batchGet(call, entities, keys));
  // It reports nothing for the missing one.
  for (const { pk } of keys) expect(batch.of(entities)[pk]).toBeCloseTo((batch.totals.get(entities) ?? 0) / 3);
  const scan = await consumed((call) => send(call, 'scan', { TableName: entities }));
  expect(scan.of(entities)).toEqual({});
});

test("a client's request asks for capacity, except for writes on an engine that they would slow down", async () => {
  const capacityOf = async (db: Partial<Database>, operation: 'get' | 'put') => {
    sent.reset();
    const unpriced = { ...newCall({ ...plain, ...db }), unpriced: true };
    const key = { pk: 'p', sk: 's' };
    if (operation === 'get') await send(unpriced, 'get', { TableName: entities, Key: key });
    else await send(unpriced, 'put', { TableName: entities, Item: key });
    return sent.commands[0]?.input['ReturnConsumedCapacity'];
  };
  const consumption = new ConsumptionSampler(() => 0);
  expect(await capacityOf({}, 'get')).toBeUndefined();
  expect(await capacityOf({ consumption }, 'get')).toBe('TOTAL');
  expect(await capacityOf({ consumption }, 'put')).toBe('INDEXES');
  expect(await capacityOf({ consumption, waitsForDisk: true }, 'put')).toBeUndefined();
});
