import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { createSource } from '../../../src/cli/source/create.js';
import { readConfig } from '../../../src/config.js';
import { silentLog } from '../../../src/log.js';
import { readMapping } from '../../../src/sources/mapping.js';
import { newCall, type Item } from '../../../src/store/database.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { markerOf } from '../../sources/marker-of.js';
import { NOW, TABLES } from '../../sources/tables.js';
import { variants } from '../../support/rounds.js';
import { engine, engineSettings, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';

const db = await testDatabase('readable', { stream: true });
const later = Date.now() - NOW;
let folder = '';
let ask: Awaited<ReturnType<typeof serve>>['ask'];

/** What the clock decides is as long from now as it was from the time of the example. */
function shifted(mapping: object, item: Item): Item {
  const { ttl } = mapping as { ttl?: string };
  const time = ttl === undefined ? undefined : item[ttl];
  return ttl === undefined || typeof time !== 'number' ? item : { ...item, [ttl]: time + Math.round(later / 1_000) };
}

/** Half of the twelve. */
const all = variants(TABLES, 6).map((table) => {
  const mapping = { ...(table.mapping as object), table: `${db.tables.entities}-${table.name}` };
  return { ...table, collection: `t${table.id}`, mapping, items: table.items.map((item) => shifted(mapping, item)) };
});
type Table = (typeof all)[number];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellport-mappings-'));
  const streams = createStreamsClient(engine());
  const backend = {
    database: db,
    streams,
    where: '',
    storageFault: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
  const config = readConfig({}, engineSettings());
  const session = { ...backend, config, log: silentLog, signal: new AbortController().signal, call: newCall(db) };
  // As the command does, but all at once: a fill waits for its stream for seconds.
  const create = async ({ collection, mapping, key, items }: Table) => {
    await createTable(db, mapping.table, key, 'NEW_AND_OLD_IMAGES');
    for (const item of items) await putItem(db, mapping.table, item);
    const path = join(folder, `${collection}.json`);
    await writeFile(path, JSON.stringify(mapping));
    await createSource(session, collection, path, {});
  };
  vi.spyOn(console, 'log').mockReturnValue();
  await Promise.all(all.map(create));
  vi.restoreAllMocks();
  streams.destroy();
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

async function shown({ collection }: Table) {
  const { data, errors } = await ask(`{
    viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 3) {
      markers(collection: "${collection}", first: 100) { nodes { key name position { lng lat } } }
    }
  }`);
  expect(errors).toBeUndefined();
  return (data.viewport.markers.nodes as { key: string; name: string; position: object }[]).map(
    ({ position, ...rest }) => ({ ...rest, ...position }),
  );
}

/** What a map must show: the markers listed for the table, without those with some keys. */
function wanted({ id, markers }: Table, without: readonly string[] = []) {
  const near = (degrees: number) => expect.closeTo(degrees, id === '08' ? 5 : 12) as number;
  return markers
    .filter(({ key }) => !without.includes(key))
    .map(({ lng, lat, ...rest }) => ({ ...rest, lng: near(lng), lat: near(lat) }));
}

test('tables of others are shown as they must be, and as they are after deletions and puts', async () => {
  ({ ask } = await serve(db));
  for (const table of all) {
    const found = await shown(table);
    expect(found).toEqual(expect.arrayContaining(wanted(table)));
    expect(found).toHaveLength(table.markers.length);
  }

  // All items with the keys of two markers of each table.
  const gone = all.map((table) => {
    const keys = table.markers.slice(0, 2).map(({ key }) => key);
    const mapping = readMapping(table.mapping);
    const isGone = (item: Item) => {
      const read = markerOf(mapping, item, -Infinity);
      return read.kind !== 'other' && keys.includes(read.key ?? '');
    };
    return { table, keys, items: table.items.filter(isGone) };
  });
  for (const { table, items } of gone) {
    for (const item of items)
      await deleteItem(db, table.mapping.table, Object.fromEntries(table.key.map(({ name }) => [name, item[name]])));
  }
  const becomes = (without: (keys: readonly string[]) => readonly string[]) =>
    vi.waitFor(
      async () => {
        for (const { table, keys } of gone) {
          const found = await shown(table);
          const markers = wanted(table, without(keys));
          expect(found).toEqual(expect.arrayContaining(markers));
          expect(found).toHaveLength(markers.length);
        }
      },
      { timeout: 60_000, interval: 300 },
    );
  await becomes((keys) => keys);
  for (const { table, items } of gone) for (const item of items) await putItem(db, table.mapping.table, item);
  await becomes(() => []);
});
