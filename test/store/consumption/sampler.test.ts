import { expect, test } from 'vitest';

import { sumsOf } from '../../../src/geo/cell-sums.js';
import { createKeyspace } from '../../../src/keys/keyspace.js';
import { ABSENT_BLOCK, blockKey, replaceBlocksRequest } from '../../../src/store/cell/blocks.js';
import { ConsumptionSampler } from '../../../src/store/consumption/sampler.js';
import { deleteStatements } from '../../../src/store/request/batches.js';

const read = (pk: string) => ({
  TableName: 't',
  IndexName: 'geoA',
  ExpressionAttributeValues: { ':pk': pk, ':from': '0', ':to': 'z' },
});
const answer = (units: number) => ({ ConsumedCapacity: { TableName: 't', CapacityUnits: units } });

test('units a second are a mean of the last half to whole minute, and what is older is forgotten', () => {
  let now = 5_000;
  const sampler = new ConsumptionSampler(() => now);
  /** Ten reads a second. */
  function readFor(seconds: number, pk: string, units: number): void {
    for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
      sampler.note(read(pk), answer(units), false, 'Query');
      now += 100;
    }
  }
  const ofKey = (key: string) => sampler.report(10).keys.find((hot) => hot.key === key)?.readUnits ?? 0;

  readFor(2, 'early', 50);
  // Two seconds say little: they count as ten.
  expect(ofKey('early')).toBeCloseTo(100);
  readFor(43, 'steady', 200);
  expect(sampler.report(10)).toMatchObject({ seconds: 45, writeUnits: 0, missedAtMost: 0 });
  expect(ofKey('steady')).toBeCloseTo((2_000 * 43) / 45);
  readFor(60, 'steady', 200);
  expect(ofKey('steady')).toBeCloseTo(2_000);
  expect(ofKey('early')).toBe(0);
  expect(sampler.report(10).keys.map(({ share }) => share)).toEqual([1]);
  now += 61_000;
  expect(sampler.report(10)).toMatchObject({ readUnits: 0, keys: [] });
  expect(sampler.totals()).toEqual([{ table: 't', index: 'geoA', readUnits: 20 * 50 + 1_030 * 200, writeUnits: 0 }]);
});

test('the hottest keys come first, a write unit weighing as much as three read units', () => {
  const sampler = new ConsumptionSampler(() => 0);
  sampler.note(read('reads'), answer(29), false, 'Query');
  sampler.note({ TableName: 't', Item: { pk: 'writes', sk: 'self' } }, answer(10), true, 'Query');
  sampler.note({ TableName: 't' }, answer(41), false, 'Query');
  const report = sampler.report(1);
  expect(report.keys).toEqual([
    { table: 't', index: null, key: 'writes', readUnits: 0, writeUnits: 1, share: 30 / 100 },
  ]);
  // A scan belongs to no key, but counts.
  expect(report.readUnits).toBe(7);
});

test('statements count for the keys that they name, as AWS reports them; DynamoDB Local reports none', () => {
  const keys = createKeyspace('readable');
  const block = (parent: string, seen: number | undefined) => {
    const children = new Map([['a', sumsOf({ lng: 1, lat: 2 })]]);
    return { scope: 'parks', parent, found: { ...ABSENT_BLOCK, batch: seen }, next: { batch: 3, children } };
  };
  const sampler = new ConsumptionSampler(() => 0);
  const report = (table: string) => ({ ConsumedCapacity: [{ TableName: table, CapacityUnits: 20 }] });
  const replaced = replaceBlocksRequest(keys, 'd', [block('u3k', 2), block('gcpj', undefined)]);
  sampler.note(replaced, report('d'), true, 'Query');
  sampler.note(
    deleteStatements('t', [
      { pk: 'p', sk: 'self', life: 'l' },
      { pk: 'q', sk: 'self' },
    ]),
    report('t'),
    true,
    'Query',
  );
  const found = sampler.report(9).keys.map(({ table, key, writeUnits }) => `${table} ${key} ${writeUnits}`);
  const blocks = ['gcpj', 'u3k'].map((parent) => blockKey(keys, { scope: 'parks', parent }).pk);
  expect(found.toSorted()).toEqual([...blocks.map((pk) => `d ${pk} 1`), 't p 1', 't q 1'].toSorted());
});
