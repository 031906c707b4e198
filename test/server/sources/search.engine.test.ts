import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';

import type { Item } from '../../../src/store/database.js';
import { createTable, deleteItem, putItem } from '../../sources/foreign-table.js';
import { randomFrom } from '../../support/random.js';
import { runsAll } from '../../support/rounds.js';
import { runCli, runCliHere } from '../../support/run-cli.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';
import { MAPPING, mappingFile, shop, shopTables } from './shops.js';

const db = await testDatabase('readable', { stream: true });
const { cli, make, follow } = shopTables(db);
const settings = { CELLPORT_SEARCH_MB: '64', CELLPORT_DATA_DIR: temporaryFolder() };
const own = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
type Ask = Awaited<ReturnType<typeof serve>>['ask'];

const random = randomFrom(51);
const below = (most: number) => Math.floor(random() * most);
/** So different that none is another one with typos. */
const WORDS = ['abbey', 'quincaillerie', 'Łódźland', 'wunderkammer', 'Sãopaulo', 'hippodrome', '9876543'];
const words = (most: number) =>
  Array.from({ length: 1 + below(most) }, () => WORDS[below(WORDS.length)] ?? '').join(' ');
const degrees = (most: number) => (random() < 0.3 ? ([-most, 0, most][below(3)] ?? 0) : (random() * 2 - 1) * most);

interface Wanted {
  readonly id: string;
  readonly text: string;
  readonly lng: number;
  readonly lat: number;
}

/** Shops, of which the primary key tells which marker they are. */
const shops = new Map<string, Item>();
/** Readings of trackers, of which the newest is the marker. */
const readings = new Map<string, Item>();
let shopTable = '';
const readingTable = `${db.tables.entities}-readings`;
const drawn = { title: 'title', more: ['kind', 'stars', 'slogan'], leastStars: 0 };

const READINGS = {
  table: readingTable,
  key: '{device}',
  position: { lng: 'lng', lat: 'lat' },
  newest: 'at',
  name: 'title',
  properties: ['note'],
};

async function change(): Promise<void> {
  if (random() < 0.4) {
    const [device, at] = [`d${below(8)}`, below(40)];
    const id = `${device}/${at}`;
    const item = { device, at, title: words(2), note: words(2), lng: degrees(180), lat: degrees(90) };
    if (readings.has(id) && random() < 0.7) {
      await deleteItem(db, readingTable, { device, at });
      readings.delete(id);
    } else {
      await putItem(db, readingTable, item);
      readings.set(id, item);
    }
    return;
  }
  const id = String(below(25));
  if (shops.has(id) && random() < 0.3) {
    await deleteItem(db, shopTable, { PK: `SHOP#${id}`, SK: 'META' });
    shops.delete(id);
    return;
  }
  const more = {
    stars: below(5),
    title: words(2),
    kind: words(1),
    slogan: [words(2), { a: words(1) }],
    opening: 'never searched',
  };
  const item = shop(id, degrees(180), degrees(90), more);
  await putItem(db, shopTable, item);
  shops.set(id, item);
}

async function changes(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await change();
}

/** The markers of both sources, with the text that is searched. */
function markers(): Wanted[] {
  const newest = new Map<string, Item>();
  for (const item of readings.values()) {
    if (Number(item['at']) > Number(newest.get(String(item['device']))?.['at'] ?? -1))
      newest.set(String(item['device']), item);
  }
  const shown = [...shops].filter(([, { stars }]) => Number(stars) >= drawn.leastStars);
  const ofShops = Array.from(shown, ([id, item]): Wanted => {
    const { lon: lng, lat } = item['location'] as { lon: number; lat: number };
    const text = [item[drawn.title], ...drawn.more.map((name) => JSON.stringify(item[name]))].join(' ');
    return { id: `marker::shops::${id}`, text, lng, lat };
  });
  const ofTrackers = Array.from(newest, ([device, { title, note, lng, lat }]): Wanted => {
    return {
      id: `marker::trackers::${device}`,
      text: `${String(title)} ${String(note)}`,
      lng: Number(lng),
      lat: Number(lat),
    };
  });
  return [...ofShops, ...ofTrackers];
}

const fold = (text: string) =>
  text
    .replaceAll('ł', 'l')
    .replaceAll('Ł', 'l')
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase();
const isIn = ({ lng, lat }: Wanted, [west, south, east, north]: readonly number[]) =>
  lat >= (south ?? 0) &&
  lat <= (north ?? 0) &&
  (lng === 180 || lng === -180 ? west === -180 || east === 180 : lng >= (west ?? 0) && lng <= (east ?? 0));

/** A linear scan. */
function scan(typed: string, collections: readonly string[] | undefined, box: readonly number[] | undefined): string[] {
  const parts = fold(typed)
    .split(' ')
    .filter((part) => part !== '');
  return markers()
    .filter(({ id }) => collections === undefined || collections.includes(id.split('::')[1] ?? ''))
    .filter((one) => box === undefined || isIn(one, box))
    .filter(({ text }) => {
      const own = fold(text).match(/[a-z0-9]+/g) ?? [];
      return parts.every((part, at) =>
        own.some((word) => (at === parts.length - 1 ? word.startsWith(part) : word === part)),
      );
    })
    .map(({ id }) => id)
    .sort();
}

const BOXES = [undefined, [-180, -90, 180, 90], [0, 0, 180, 90], [-180, -90, 0, 0], [-10, -10, 10, 10]];

async function find(
  ask: Ask,
  text: string,
  collections: readonly string[] | undefined,
  box: readonly number[] | undefined,
) {
  const [west, south, east, north] = box ?? [];
  const { data, errors } = await ask(
    `query ($text: String!, $collections: [String!], $bounds: BoundsInput) {
      search(text: $text, collections: $collections, bounds: $bounds, first: 500) {
        totalCount edges { score node { ... on Marker { id } } } } }`,
    { text, collections, bounds: box && { west, south, east, north } },
  );
  expect(errors).toBeUndefined();
  const edges = data.search.edges as { node: { id?: string } }[];
  return { total: data.search.totalCount as number, ids: edges.flatMap(({ node: { id } }) => id ?? []).sort() };
}

/** Compares searches of a server with linear scans; waits until it has followed. */
async function compare(ask: Ask): Promise<void> {
  await vi.waitFor(
    async () => {
      const all = await find(ask, '', ['shops', 'trackers'], BOXES[1]);
      expect(all).toEqual({ total: markers().length, ids: scan('', undefined, undefined) });
      for (const word of WORDS) {
        const ids = scan(word, ['shops', 'trackers'], undefined);
        expect(await find(ask, word, ['shops', 'trackers'], undefined)).toEqual({ total: ids.length, ids });
      }
    },
    { timeout: 40_000, interval: 500 },
  );
  for (let at = 0; at < 12; at++) {
    const text = random() < 0.5 ? words(2) : `${words(1)} ${words(1).slice(0, 5)}`;
    const box = BOXES[below(BOXES.length)];
    const collections = [undefined, ['shops'], ['trackers'], ['trackers', 'shops']][below(4)];
    const ids = scan(text, collections, box);
    expect({ text, box, collections, ...(await find(ask, text, collections, box)) }).toEqual({
      text,
      box,
      collections,
      total: ids.length,
      ids,
    });
  }
}

test('searches of sources find what a linear scan of their markers does, through changes, kills, fills and a new mapping', async () => {
  shopTable = await make('shops', []);
  await createTable(
    db,
    readingTable,
    [
      { name: 'device', type: 'S' },
      { name: 'at', type: 'N' },
    ],
    'NEW_AND_OLD_IMAGES',
  );
  await changes(60);
  const mapping = { ...MAPPING, table: shopTable, properties: ['stars', 'slogan'] };
  const first = await serve(db, settings);
  const soon = { timeout: 20_000, interval: 200 };
  const ask = `{ search(text: "abbey", collections: ["shops"]) { totalCount } }`;
  expect((await follow('shops', mapping)).code).toBe(0);
  expect((await follow('trackers', READINGS)).code).toBe(0);
  // Until the index has its markers, it does not seem to have none.
  const early = await first.ask(ask);
  if (early.errors)
    expect(early.errors[0]?.message).toMatch(/the markers of collection shops are not in the search index yet/);
  await vi.waitFor(async () => expect((await first.ask(ask)).errors).toBeUndefined(), soon);
  await vi.waitFor(
    async () => expect((await first.ask(ask.replace('shops', 'trackers'))).errors).toBeUndefined(),
    soon,
  );
  await compare(first.ask);
  const rank = 'mutation { updateCollection(input: { key: "shops", rankBy: "stars" }) { rankBy } }';
  expect((await first.ask(rank)).errors).toBeUndefined();
  await changes(60);
  await compare(first.ask);
  const printed = await runCliHere(['search', 'abbey', '-c', 'trackers'], { ...own, ...settings });
  for (const id of scan('abbey', ['trackers'], undefined)) expect(printed.output).toContain(id);
  const ranked =
    '{ search(text: "quinc", collections: ["shops"]) { edges { score node { ... on Marker { properties } } } } }';
  await vi.waitFor(async () => {
    const { edges } = (await first.ask(ranked)).data.search;
    const order = (edges as { score: number; node: { properties: Item } }[]).map(
      ({ score, node: { properties } }) => 10 * score + Number(properties['stars']) / 10,
    );
    expect(order.length).toBeGreaterThan(1);
    expect(order).toEqual(order.toSorted((a, b) => b - a));
  }, soon);
  await first.close();

  await changes(20);
  for (let kills = 0; kills < (runsAll ? 3 : 1); kills++) {
    const server = runCli(['serve'], { ...own, ...settings, PORT: '0' });
    await server.serving();
    const until = Date.now() + 1_000 + below(2_000);
    for (; Date.now() < until; await sleep(10)) await change();
    server.child.kill('SIGKILL');
    await server.ended;
    await changes(10);
  }
  const second = await serve(db, settings);
  await compare(second.ask);

  // Nothing of the former mapping is left, and what it could not see is found.
  drawn.title = 'kind';
  drawn.more = ['title'];
  drawn.leastStars = 2;
  const next = {
    ...MAPPING,
    table: shopTable,
    name: 'kind',
    category: 'title',
    properties: [],
    where: [{ path: 'stars', gte: 2 }],
  };
  expect((await cli('source', 'change', 'shops', await mappingFile(next))).code).toBe(0);
  await changes(20);
  await compare(second.ask);

  expect((await cli('source', 'delete', 'shops', '--yes')).code).toBe(0);
  shops.clear();
  await vi.waitFor(async () => {
    const ids = scan('abbey', undefined, undefined);
    expect(await find(second.ask, 'abbey', undefined, undefined)).toEqual({ total: ids.length, ids });
  }, soon);
}, 180_000);
