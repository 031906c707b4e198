import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';

import type { Item } from '../../../src/store/database.js';
import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { decodeLayer } from '../../support/decode-tile.js';
import { randomFrom } from '../../support/random.js';
import { recordCalls } from '../../support/record-calls.js';
import { runsAll } from '../../support/rounds.js';
import { runCliHere } from '../../support/run-cli.js';
import { engineSettings, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';

const db = await testDatabase('readable', { stream: true });
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, settings);
const table = `${db.tables.entities}-app`;
const key = [
  { name: 'PK', type: 'S' },
  { name: 'SK', type: 'S' },
] as const;
const MAPPING = {
  table,
  items: { PK: 'SHOP#{key}', SK: 'META' },
  position: { lng: 'location.lon', lat: 'location.lat' },
  name: 'title',
  category: 'kind',
  place: ['city', 'district'],
  properties: ['stars'],
  details: ['opening', 'exact'],
};

const random = randomFrom(35);
const EDGES = [-180, -90, 0, 90, 180, 45, 11.25];
const degrees = (most: number) =>
  random() < 0.2
    ? Math.max(-most, Math.min(most, EDGES[Math.floor(random() * EDGES.length)] ?? 0))
    : (random() * 2 - 1) * most;

interface Shop {
  readonly key: string;
  readonly position: { readonly lng: number; readonly lat: number };
  readonly name: string;
  readonly properties: Item;
}

/** What the map has to show. */
const model = new Map<string, Shop>();

async function putShop(id: string): Promise<void> {
  const position = { lng: degrees(180), lat: degrees(90) };
  const stars = Math.floor(random() * 6);
  const item = {
    PK: `SHOP#${id}`,
    SK: 'META',
    title: `Shop ${id}`,
    kind: random() < 0.5 ? 'bakery' : 'café',
    city: 'Köln',
    location: { lon: position.lng, lat: random() < 0.5 ? position.lat : String(position.lat) },
    stars,
    opening: { mo: '9-18' },
    secret: 'margin',
    exact: 12345678901234567890n,
  };
  await putItem(db, table, item);
  const properties = { stars, opening: item.opening, exact: '12345678901234567890' };
  model.set(id, { key: id, position, name: item.title, properties });
}

async function change(ids: number): Promise<void> {
  const id = String(Math.floor(random() * ids));
  const dice = random();
  if (dice < 0.6) return putShop(id);
  if (dice < 0.8) {
    await deleteItem(db, table, { PK: `SHOP#${id}`, SK: 'META' });
    model.delete(id);
  } else if (dice < 0.9) {
    await putItem(db, table, { PK: `SHOP#${id}`, SK: `ORDER#${random()}`, total: 12 });
  } else {
    await putItem(db, table, { PK: `SHOP#${id}`, SK: 'META', location: { lon: 'east', lat: 1 } });
    model.delete(id);
  }
}

const WORLD = '{ west: -180, south: -90, east: 180, north: 90 }';
const QUERY = `{
  viewport(bounds: ${WORLD}, zoom: 3) {
    markers(collection: "shops", first: 2000) { nodes { key name position { lng lat } properties } }
  }
  collection(key: "shops") { count }
}`;

const byKey = (shops: Iterable<Shop>) => [...shops].sort((a, b) => (a.key < b.key ? -1 : 1));

async function mappingFile(mapping: object): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'cellport-mapping-')), 'shops.json');
  await writeFile(path, JSON.stringify(mapping));
  return path;
}

describe('a table of others', () => {
  test('is filled, followed and answered from its pages; nothing is ever written to it', async () => {
    const calls = recordCalls(db);
    await createTable(db, table, key, 'NEW_AND_OLD_IMAGES');
    for (let at = 0; at < 150; at++) await change(100);
    const path = await mappingFile(MAPPING);
    // The fill ends although its owner writes without a pause.
    let goesOn = true;
    const writing = (async () => {
      while (goesOn) await change(100);
    })();
    const created = await cli('source', 'create', 'shops', path);
    goesOn = false;
    await writing;
    expect(created).toMatchObject({ code: 0, output: expect.stringMatching(/\d+ markers from table/) as string });
    const again = await cli('source', 'create', 'shops', path);
    expect(again.output).toMatch(/is complete/);

    calls.reset();
    const { ask, url } = await serve(db);
    const shown = async () => {
      const { data, errors } = await ask(QUERY);
      expect(errors).toBeUndefined();
      const { nodes } = data.viewport.markers as { nodes: Shop[] };
      return { shops: byKey(nodes), count: data.collection.count as number };
    };
    const wanted = () => ({ shops: byKey(model.values()), count: model.size });
    for (let round = 0; round < (runsAll ? 3 : 1); round++) {
      for (let at = 0; at < 60; at++) await change(100);
      await vi.waitFor(async () => expect(await shown()).toEqual(wanted()), { timeout: 30_000, interval: 200 });
    }
    // Tiles are kept in memory two seconds after the last change, until the next one.
    const onTile = async () => {
      const tile = await fetch(`${url}/tiles/shops/0/0/0?limit=2000`);
      const own = decodeLayer(Buffer.from(await tile.arrayBuffer()), 'markers').filter(({ isOwn }) => isOwn);
      return own.map(({ properties }) => `${String(properties['key'])} ${String(properties['stars'])}`).sort();
    };
    const wantedOnTile = () =>
      [...model.values()]
        .filter(({ position }) => Math.abs(position.lat) <= 85.0511287798066)
        .map((shop) => `${shop.key} ${String(shop.properties['stars'])}`)
        .sort();
    expect(await onTile()).toEqual(wantedOnTile());
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await onTile();
    for (let at = 0; at < 10; at++) await change(100);
    await vi.waitFor(async () => expect(await onTile()).toEqual(wantedOnTile()), { timeout: 30_000, interval: 200 });
    const verified = await cli('source', 'verify', 'shops');
    expect(verified.output).toMatch(/0 of [\d,]+ blocks of counts and 0 of [\d,]+ pages differ/);
    expect(verified.code).toBe(0);
    const status = await cli('source', 'status', 'shops');
    expect(status.output).toMatch(/FOLLOWING/);

    const writes = calls.commands.filter(
      ({ name, input }) =>
        /Put|Update|Delete|BatchWrite|Transact|Execute/.test(name) && JSON.stringify(input).includes(`"${table}"`),
    );
    const own = writes.filter(({ name }) => name !== 'PutItem' && name !== 'DeleteItem');
    expect(own).toEqual([]);
  });
});
