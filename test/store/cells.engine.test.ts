import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { CellSums } from '../../src/geo/cell-sums.js';
import { GEOHASH_ALPHABET } from '../../src/geo/geohash.js';
import { getBlocks, readBlocks } from '../../src/store/cell/blocks.js';
import { blockFromItem, packSums, unpackSums } from '../../src/store/cell/cells.js';
import { newCall } from '../../src/store/database.js';
import { send } from '../../src/store/request/send.js';
import { queryAll } from '../../src/store/table/query-responses.js';
import { addCells } from '../support/add-cells.js';
import { injectFaults } from '../support/faults.js';
import { recordCalls } from '../support/record-calls.js';
import { newDatabase, testDatabase } from '../support/test-database.js';

const readable = await testDatabase('readable');
const compact = await testDatabase('compact');

const sumsOf = (count: number): CellSums => ({ count, sumLng: count * 179_999_999, sumLat: count * -89_999_999 });
const deltas = (counts: Readonly<Record<string, number>>) =>
  new Map(Object.entries(counts).map(([child, count]) => [child, sumsOf(count)]));

describe.each([
  ['readable', readable, 'parks'],
  ['compact', compact, 'Pa'],
] as const)('a block of cells under %s keys', (_, database, scope) => {
  const apply = (parent: string, batch: number, counts: Readonly<Record<string, number>>, db = database) =>
    addCells(db, scope, batch, new Map([[parent, deltas(counts)]]));
  const blocks = (...parents: string[]) => getBlocks(newCall(database), scope, parents, { consistent: true });

  test('counts a batch once, in one read and one conditional write, however often it is applied', async () => {
    const calls = recordCalls(database);
    expect(await apply('u3k', 3, { d: 2, e: 1 })).toBe(1);
    expect(calls.commands.map(({ name }) => name)).toEqual(['BatchGetItem', 'BatchExecuteStatement']);
    expect(await apply('u3k', 3, { d: 2, e: 1 })).toBe(0);
    expect(await apply('u3k', 2, { d: 5 })).toBe(0);
    expect(calls.count()).toBe(4);
    expect(await apply('u3k', 4, { d: -1, e: -1, f: 7 })).toBe(1);
    expect(await blocks('u3k')).toEqual([{ parent: 'u3k', batch: 4, children: deltas({ d: 1, f: 7 }) }]);
  });

  test('counts a batch once although responses are lost and attempts throttled', async () => {
    const db = newDatabase(database.keys.style, { tables: database.tables });
    injectFaults(db, 'BatchExecuteStatement', ['answer lost', 'throttled', 'answer lost']);
    // An attempt whose response was lost did the write; the next one was rejected.
    expect(await apply('u3m', 1, { d: 2 }, db)).toBe(0);
    expect(await blocks('u3m')).toEqual([{ parent: 'u3m', batch: 1, children: deltas({ d: 2 }) }]);
  });

  test('keeps the sums of a child whose deletion was read before its creation', async () => {
    const sums = (count: number, sum: number) => new Map([['d', { count, sumLng: sum, sumLat: -sum }]]);
    const add = (batch: number, count: number, sum: number) =>
      addCells(database, scope, batch, new Map([['u3y', sums(count, sum)]]));
    // One marker is deleted at 30 and another created at 50; the creation of the first is read last.
    await add(1, 0, 50 - 30);
    expect(await blocks('u3y')).toEqual([{ parent: 'u3y', batch: 1, children: new Map() }]);
    await add(2, 1, 30);
    expect(await blocks('u3y')).toEqual([{ parent: 'u3y', batch: 2, children: sums(1, 50) }]);
    const [asRead] = await readBlocks(newCall(database), [{ scope, parent: 'u3y' }], true);
    expect(asRead).toEqual({ batch: 2, children: sums(1, 50) });
  });

  test('takes all 32 children at once, the whole collection included', async () => {
    const counts = Object.fromEntries(Array.from(GEOHASH_ALPHABET, (child, index) => [child, index + 1]));
    for (const parent of ['', 'u', 'u3', 'u3p', 'u3pq']) {
      await apply(parent, 1, counts);
      expect(await blocks(parent)).toEqual([{ parent, batch: 1, children: deltas(counts) }]);
    }
  });

  test('remembers a batch whose changes cancel out', async () => {
    expect(await apply('u3z', 5, { d: 0 })).toBe(1);
    expect(await apply('u3z', 5, { d: 1 })).toBe(0);
    expect(await blocks('u3z')).toEqual([{ parent: 'u3z', batch: 5, children: new Map() }]);
  });

  test('that was never written is empty, at any position in the list', async () => {
    await apply('u3x', 1, { d: 1 });
    expect(await blocks('s', 'u3x', 's')).toEqual([
      { parent: 's', batch: 0, children: new Map() },
      { parent: 'u3x', batch: 1, children: deltas({ d: 1 }) },
      { parent: 's', batch: 0, children: new Map() },
    ]);
  });

  test('is found by a range over its neighbors of the same length, and by no other', async () => {
    for (const parent of ['g00', 'g0z', 'gzz', 'g0', 'g0z0', 'h00']) await apply(parent, 1, { d: 1 });
    const { pk, from, to } = database.keys.cellRange(scope, 'g00', 'gzz');
    const items = await queryAll(newCall(database), { index: 'derived', pk, from, to, consistent: true });
    expect(items.map((item) => blockFromItem(database.keys, item)?.parent)).toEqual(['g00', 'g0z', 'gzz']);
  });

  test('is not read from an item with another key', async () => {
    const Item = { pk: 'foreign', sk: 'item', b: 1, nd: 5 };
    await send(newCall(database), 'put', { TableName: database.tables.derived, Item });
    expect(blockFromItem(database.keys, Item)).toBeUndefined();
  });
});

test('packed sums are read as they were written, up to 53 bits', () => {
  const whole = fc.maxSafeInteger();
  const sums = fc.record({ count: whole, sumLng: whole, sumLat: whole });
  const children = fc
    .array(fc.tuple(fc.constantFrom(...Array.from(GEOHASH_ALPHABET)), sums))
    .map((list) => new Map(list));
  fc.assert(
    fc.property(children, (given) => {
      expect(unpackSums(packSums(given))).toEqual(given);
    }),
  );
});

test('batches one after another, each over several blocks at once, add up', async () => {
  for (let batch = 1; batch <= 20; batch += 1) {
    const blocks = ['d', 'e', 'f', 'g'].map((parent) => [parent, deltas({ d: batch })] as const);
    await addCells(readable, 'sums', batch, new Map(blocks));
  }
  for (const block of await getBlocks(newCall(readable), 'sums', ['d', 'e', 'f', 'g'])) {
    expect(block.children).toEqual(deltas({ d: 210 }));
  }
});
