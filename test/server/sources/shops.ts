import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';

import type { Database, Item } from '../../../src/store/database.js';
import { createTable, putItem } from '../../sources/foreign-table.js';
import { runCliHere } from '../../support/run-cli.js';
import { engineSettings } from '../../support/test-database.js';

/** How shops are in tables of this test. */
export const MAPPING = {
  items: { PK: 'SHOP#{key}', SK: 'META' },
  position: { lng: 'location.lon', lat: 'location.lat' },
  name: 'title',
  category: 'kind',
  place: ['city'],
  properties: ['stars'],
  details: ['opening'],
};

const KEY = [
  { name: 'PK', type: 'S' },
  { name: 'SK', type: 'S' },
] as const;

export const shop = (id: string | number, lng: number, lat: number, more: Item = {}): Item => ({
  PK: `SHOP#${id}`,
  SK: 'META',
  title: `Shop ${id}`,
  kind: 'bakery',
  city: 'Köln',
  stars: 3,
  opening: { mo: '9-18' },
  secret: 'margin',
  location: { lon: lng, lat },
  ...more,
});

export async function mappingFile(mapping: object): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'cellport-mapping-')), 'mapping.json');
  await writeFile(path, JSON.stringify(mapping));
  return path;
}

/** Tables of others beside a database, and the commands over it. */
export function shopTables(db: Database) {
  const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
  const cli = (...args: string[]) => runCliHere(args, settings);
  const made = new Set<string>();
  /** Removes what is left of a test that is tried again. */
  const remove = async (name: string, table: string) => {
    await cli('source', 'delete', name, '--yes', '--wait');
    await db.client.send(new DeleteTableCommand({ TableName: table }));
  };
  const make = async (
    name: string,
    items: readonly Item[],
    view: Parameters<typeof createTable>[3] | null = 'NEW_AND_OLD_IMAGES',
  ) => {
    const table = `${db.tables.entities}-${name}`;
    if (made.has(table)) await remove(name, table);
    made.add(table);
    await createTable(db, table, KEY, view ?? undefined);
    for (const item of items) await putItem(db, table, item);
    return table;
  };
  /** Creates a collection with the name of a table that follows it; returns what is printed. */
  const follow = async (name: string, mapping: object, ...options: string[]) =>
    cli('source', 'create', name, await mappingFile(mapping), ...options);
  return { cli, make, follow };
}
