import { expect, test, vi } from 'vitest';

import type { Point } from '../../../src/geo/bounds.js';
import { distance } from '../../../src/geo/distance.js';
import { exactItemOf } from '../../../src/store/request/wire.js';
import { bruteInside } from '../../map/fixture.js';
import { deleteItem, putItem } from '../../sources/foreign-table.js';
import { LIBRARY_KEY, libraryItems, makeGeoTable, ORDERS, POSITIONS } from '../../sources/geo-library/library.js';
import { inTurn, variants } from '../../support/rounds.js';
import { runCliHere } from '../../support/run-cli.js';
import { engineSettings, testCollection, testDatabase } from '../../support/test-database.js';
import { serve } from './server.js';

const turn = inTurn(2);
const db = await testDatabase('readable', { stream: true });
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };

const BOXES = [
  [-180, -90, 180, 90],
  [16, 52, 18, 53],
  [170, -40, -170, 10],
  [-180, 80, 180, 90],
] as const;
const CENTER = { lng: 16.93, lat: 52.41 };

type Ask = Awaited<ReturnType<typeof serve>>['ask'];

/** What the map answers for each box, and within 50 km. */
async function shown(ask: Ask, collection: string) {
  const boxes = BOXES.map(
    ([west, south, east, north], at) =>
      `b${at}: viewport(bounds: { west: ${west}, south: ${south}, east: ${east}, north: ${north} }, zoom: 3) {
         count(collection: "${collection}")
         markers(collection: "${collection}", first: 1000) { nodes { key name category position { lng lat } } } }`,
  );
  const { data } = await ask(`{ ${boxes.join('\n')}
    collection(key: "${collection}") {
      count within(center: { lng: ${CENTER.lng}, lat: ${CENTER.lat} }, radius: 50000) { nodes { key } } } }`);
  return {
    count: data.collection.count as number,
    boxes: BOXES.map((_, at) => {
      const { count, markers } = data[`b${at}`] as { count: number; markers: { nodes: { key: string }[] } };
      return { count, nodes: markers.nodes.toSorted((a, b) => Number(a.key) - Number(b.key)) };
    }),
    within: (data.collection.within.nodes as { key: string }[]).map(({ key }) => key),
  };
}

interface Place {
  readonly key: string;
  readonly name: string;
  readonly category: string;
  readonly position: Point;
}

/** The same, from a scan of all places. */
function scanned(places: readonly Place[]) {
  const sorted = places.toSorted((a, b) => Number(a.key) - Number(b.key));
  const near = sorted.filter(({ position }) => distance(CENTER, position) <= 50_000);
  return {
    count: sorted.length,
    boxes: BOXES.map(([west, south, east, north]) => {
      const nodes = sorted.filter(({ position }) => bruteInside({ west, south, east, north }, position));
      return { count: nodes.length, nodes };
    }),
    within: near
      .toSorted((a, b) => distance(CENTER, a.position) - distance(CENTER, b.position) || (a.key < b.key ? -1 : 1))
      .map(({ key }) => key),
  };
}

const SETTLED = { timeout: 120_000, interval: 200 };

test('tables of the Geo Library, in either order, are followed by the mapping of the preset, and give the answers of a linear scan', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const { ask } = await serve(db);
  const tables = variants(ORDERS).map((order) => {
    const key = order.replace(' ', '-');
    const items = libraryItems({ length: order === 'latitude first' ? 6 : 3, order });
    return { order, key, table: `${db.tables.entities}-${key}`, items };
  });
  for (const { order, key, table, items } of tables) {
    await makeGeoTable(db, table, items);
    const { output } = await runCliHere(['source', 'propose', '--table', table, '--preset', 'dynamodb-geo'], settings);
    expect(output).toContain(`geoJson has the ${order}`);
    const source = { table, tableKey: LIBRARY_KEY, mapping: output.slice(output.indexOf('{\n')) };
    await testCollection(db, { key, name: key, mapProperties: [], source });
  }
  const follow = async ({ key, table, items: wire }: (typeof tables)[number]) => {
    const items = wire.map(exactItemOf);
    const places = items.map(({ rangeKey, name, category }, at) => {
      return { key: rangeKey, name, category, position: POSITIONS[at] } as Place;
    });
    await vi.waitFor(async () => expect(await shown(ask, key)).toEqual(scanned(places)), SETTLED);

    const [first, second, third] = items;
    await deleteItem(db, table, { hashKey: first?.['hashKey'], rangeKey: first?.['rangeKey'] });
    await putItem(db, table, { ...second, name: 'renamed' });
    await putItem(db, table, { ...third, rangeKey: '1000' });
    const [, one, two, ...others] = places as [Place, Place, Place, ...Place[]];
    const changed = [{ ...one, name: 'renamed' }, two, ...others, { ...two, key: '1000' }];
    await vi.waitFor(async () => expect(await shown(ask, key)).toEqual(scanned(changed)), SETTLED);
  };
  await Promise.all(tables.map(follow));
});
