import { randomUUID } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createFolderStore } from '../../src/objects/folder-store.js';
import { newCall } from '../../src/store/database.js';
import { createZone, removeZones, sweepObjects } from '../../src/store/zone/zones.js';
import { allItems } from '../stream/support.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn } from '../support/rounds.js';
import { line } from '../support/shapes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const NOW = '2026-11-21T10:00:00.000Z';
const folder = temporaryFolder();
const objects = createFolderStore(folder);
const outside = { objects, inlineBytes: 0 };
const LINE = line('16 52, 17 53');

const db = { ...(await testDatabase()), geometry: outside };
const make = (key: string) => testCollection(db, { key, name: key }, NOW);

async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of objects.list()) found.push(name);
  return found.sort();
}

/** Puts an object and sets its age in minutes. */
async function put(name: string, minutes: number): Promise<void> {
  await objects.put(name, Buffer.from('x'));
  const at = Date.now() / 1_000 - minutes * 60;
  utimesSync(join(folder, name), at, at);
}

test('a sweep removes the old objects of this table that no zone refers to, and nothing else', async () => {
  const roads = await make('roads');
  const { geometry } = await createZone(newCall(db), roads, { key: 'a', geometry: LINE }, NOW);
  const used = geometry.object!;
  const old = Date.now() / 1_000 - 7_200;
  utimesSync(join(folder, used), old, old);
  const own = `${db.tables.entities}/zones`;
  await put(`${own}/roads/orphan.json.gz`, 61);
  await put(`${own}/roads/young.json.gz`, 59);
  await put(`${own}/gone/orphan.json.gz`, 61);
  await put('other-table/zones/roads/orphan.json.gz', 61);
  await put('something.else', 61);
  const busy = `.writing/${randomUUID()}`;
  await put(`.writing/${randomUUID()}`, 61);
  await put(busy, 1);
  await put('.writing/of-others', 61);
  const database = newDatabase('readable', { tables: db.tables });
  const calls = recordCalls(database);
  const before = new Date(Date.now() - 3_600_000);
  expect(await sweepObjects(newCall(database), objects, before)).toEqual({ objects: 4, orphans: 2 });
  expect(await names()).toEqual(
    [
      used,
      `${own}/roads/young.json.gz`,
      'other-table/zones/roads/orphan.json.gz',
      'something.else',
      busy,
      '.writing/of-others',
    ].sort(),
  );
  expect(calls.commands.map(({ name }) => name)).toEqual(['Query', 'Query']);
  expect(await sweepObjects(newCall(database), objects, before)).toEqual({ objects: 2, orphans: 0 });
  database.client.destroy();
});

test('the zones of a collection are removed with their covers and objects, more than a page of them', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const rivers = await make('rivers');
  const lakes = await make('lakes');
  const kept = await createZone(newCall(db), lakes, { key: 'kept', geometry: LINE }, NOW);
  for (let n = 0; n < 130; n++) {
    const geometry = n % 40 === 0 ? outside : { objects, inlineBytes: 32_768 };
    await createZone(newCall({ ...db, geometry }), rivers, { key: `r${n}`, geometry: LINE }, NOW);
  }
  await removeZones(newCall(db), rivers);
  const left = (await allItems(db, db.tables.entities)).map(({ pk }) => String(pk));
  expect(left.filter((pk) => pk.includes('::rivers'))).toEqual([]);
  expect(left.filter((pk) => pk === 'cover::lakes::kept')).toHaveLength(kept.cells.length);
  expect((await names()).filter((name) => name.includes('/rivers/'))).toEqual([]);
  expect(await names()).toContain(kept.geometry.object);
});
