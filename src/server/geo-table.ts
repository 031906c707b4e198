import { CellportError } from '../errors.js';
import { collectionKeyOf, serveGeoTable, type GeoTable } from '../geolibrary/answers.js';
import { readTableLayout, type TableLayout } from '../geolibrary/layout.js';
import { getCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';

/** A table of the Geo Library, and names that its keys do not reveal. */
export interface GeoTableOptions {
  readonly name: string;
  readonly geohashIndex?: string | undefined;
  readonly geoJson?: string | undefined;
}

export interface OpenGeoTable {
  readonly table: GeoTable;
  readonly layout: TableLayout;
  /** Key of the collection that serves the table. */
  readonly key: string;
}

/** Reads the layout of the table of the Geo Library to serve. Throws CONFLICT if a collection has its key. */
export async function openGeoTable(
  database: Database,
  { name, geohashIndex, geoJson }: GeoTableOptions,
): Promise<OpenGeoTable> {
  const layout = await readTableLayout(database, name, { index: geohashIndex, geoJson });
  const key = collectionKeyOf(name);
  const [existing] = await getCollections(database, [key], newCall(), { consistent: true });
  if (existing) {
    throw new CellportError(
      'CONFLICT',
      `cannot serve the table ${name} as collection ${key}: a collection with this key already exists`,
    );
  }
  return { table: serveGeoTable(database, layout, key), layout, key };
}
