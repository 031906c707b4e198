import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';

import { serve } from '../server/sources/server.js';
import { shopTables } from '../server/sources/shops.js';
import { engine, testDatabase } from '../support/test-database.js';

interface Service {
  createTable(): Promise<unknown>;
  open(id: number, title: string, kind: string, lon: number, lat: number): Promise<unknown>;
  close(id: number): Promise<unknown>;
  order(id: number, number: number, total: number): Promise<unknown>;
  stop(): void;
}

const folder = new URL('../../examples/own-table/', import.meta.url);
const db = await testDatabase('readable', { stream: true });

test('the example follows the shops of a service by its mapping; orders are no markers', async () => {
  const { Shops } = (await import(fileURLToPath(new URL('service.mjs', folder)))) as {
    Shops: new (connection: object) => Service;
  };
  const { endpoint, region, credentials } = engine();
  const shops = new Shops({ endpoint, region, credentials });
  onTestFinished(() => shops.stop());
  await shops.createTable();
  await shops.open(1, 'Bread', 'bakery', 13.4, 52.5);
  await shops.order(1, 1, 12.5);
  const mapping = JSON.parse(await readFile(new URL('mapping.json', folder), 'utf8')) as object;
  expect(await shopTables(db).follow('shops', mapping)).toMatchObject({ code: 0 });
  const { ask } = await serve(db);
  await shops.open(2, 'Books', 'books', 9.99, 53.55);
  await shops.close(1);
  const query = `{ viewport(bounds: { west: 5, south: 47, east: 15, north: 55 }, zoom: 5) {
    markers(collection: "shops") { nodes { key name category properties } } } }`;
  const shown = async () => (await ask(query)).data.viewport.markers.nodes as { key: string }[];
  await vi.waitFor(
    async () =>
      expect((await shown()).toSorted((a, b) => Number(a.key) - Number(b.key))).toEqual([
        { key: '1', name: 'Bread', category: 'bakery', properties: { open: false, phone: '+49 30 1' } },
        { key: '2', name: 'Books', category: 'books', properties: { open: true, phone: '+49 30 2' } },
      ]),
    { timeout: 20_000 },
  );
});
