import { expect, test, vi } from 'vitest';

import { silentLog, type Log } from '../../../src/log.js';
import { countDeadLetters } from '../../../src/store/cell/dead-letters.js';
import { newCall } from '../../../src/store/database.js';
import { noteRejected, RejectedItems } from '../../../src/store/source/rejected-items.js';
import { deleteItem, putItem } from '../../sources/foreign-table.js';
import { inTurn } from '../../support/rounds.js';
import { testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, mappingFile, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { cli, make, follow } = shopTables(db);
const turn = inTurn(2);

test.runIf(turn())(
  'rejected items are counted and listed as they are now, while they are followed and after fills',
  async () => {
    const bad = (id: string, latitude = 91) => shop(id, 1, latitude);
    const table = await make('shops', [shop('good', 1, 1), bad('a'), bad('b'), bad('c')]);
    await follow('shops', { ...MAPPING, table });
    const listed = async () => {
      const [status] = JSON.parse((await cli('source', 'status', 'shops', '--json')).output) as {
        rejected: number;
        examples: { item: string; reason: string }[];
      }[];
      const names = status?.examples.map(
        ({ item, reason }) => `${/#(\w+)/.exec(item)?.[1]} ${/-?\d+$/.exec(reason)?.[0]}`,
      );
      return [status?.rejected, ...(names ?? []).sort()];
    };
    expect(await listed()).toEqual([3, 'a 91', 'b 91', 'c 91']);
    expect((await cli('source', 'status', 'shops')).output).toContain('\n  3 × invalid position\n');
    const warned: string[] = [];
    const warn: Log['warn'] = (_, message) => warned.push(message);
    const { ask } = await serve(db, {}, { ...silentLog, warn });
    const becomes = async (...wanted: unknown[]) => {
      await vi.waitFor(async () => expect(await listed()).toEqual(wanted), { timeout: 30_000, interval: 200 });
      const { data } = await ask(`{ collection(key: "shops") { source { rejected } } }`);
      expect(data.collection.source.rejected).toBe(wanted[0]);
    };
    await putItem(db, table, shop('a', 2, 2));
    await deleteItem(db, table, { PK: 'SHOP#b', SK: 'META' });
    await putItem(db, table, bad('c', 92));
    await putItem(db, table, bad('good'));
    await becomes(2, 'c 92', 'good 91');
    for (const latitude of [3, 93, 4, 94, 5]) await putItem(db, table, bad('good', latitude));
    await putItem(db, table, bad('d'));
    await becomes(2, 'c 92', 'd 91');
    // With another mapping, others are rejected.
    const changed = await cli(
      'source',
      'change',
      'shops',
      await mappingFile({ ...MAPPING, table, position: { lng: 'stars', lat: 'stars' } }),
    );
    expect(changed.code).toBe(0);
    expect(await listed()).toEqual([0]);
    await putItem(db, table, shop('a', 1, 1, { stars: 95 }));
    await becomes(1, 'a 95');
    const lines = () => warned.filter((line) => line.includes('cannot be counted'));
    expect(lines().at(-1)).toContain('`cellport source status`');
    // What is a marker again is none of them.
    const before = lines().length;
    await putItem(db, table, shop('a', 1, 1, { stars: 5 }));
    await becomes(0);
    expect(lines()).toHaveLength(before);
  },
);

test.runIf(turn())('of many rejected items, a thousand are listed, and all are counted', async () => {
  const rejected = (from: number, count: number, reason: string) =>
    Array.from({ length: count }, (_, at) => ({ reason, event: 'MODIFY', item: `item ${from + at}` }));
  const listed = () => countDeadLetters(newCall(db), 'source/many');
  await noteRejected(newCall(db), 'source/many', rejected(0, 1_100, 'bad'));
  expect(await listed()).toBe(1_000);
  await noteRejected(newCall(db), 'source/many', [...rejected(0, 50, ''), ...rejected(2_000, 20, 'bad')]);
  expect(await listed()).toBe(970);
  const filled = new RejectedItems();
  filled.add(rejected(0, 3_000, 'bad'));
  filled.add([...rejected(0, 10, 'bad'), ...rejected(500, 100, '')]);
  expect(filled.count).toBe(2_900);
  await filled.store(newCall(db), 'source/many');
  expect(await listed()).toBe(900);
});
