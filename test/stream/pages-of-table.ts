import { compareBytes } from '../../src/keys/byte-order.js';
import type { MapMarker } from '../../src/model/marker.js';
import type { Database, Item } from '../../src/store/database.js';
import { mapMarkerFromIndex } from '../../src/store/marker/marker-item.js';
import { decodePage } from '../../src/store/page/page-data.js';
import { allItems } from './support.js';

/** The content of a table's pages. */
export interface PagesOfTable {
  /** By collection and key. */
  readonly markers: Readonly<Record<string, MapMarker>>;
  /** The generations of all pages and directories. */
  readonly generations: readonly string[];
  /** Errors in how pages follow each other. */
  readonly faults: readonly string[];
  readonly items: readonly Item[];
}

const keyOf = ({ pk, sk }: Item) => ({ pk: String(pk), sk: String(sk) });

/** The pages of all collections. */
export async function pagesOfTable(db: Database): Promise<PagesOfTable> {
  const markers: Record<string, MapMarker> = {};
  const generations = new Set<string>();
  const faults: string[] = [];
  const items: Item[] = [];
  for (const item of await allItems(db, db.tables.derived)) {
    const found = db.keys.parsePage(keyOf(item)) ?? db.keys.parsePageDirectory(keyOf(item));
    if (found !== undefined) generations.add(found.generation);
    if (db.keys.parsePage(keyOf(item)) !== undefined) items.push(item);
  }
  items.sort(
    (a, b) => compareBytes(String(a['pk']), String(b['pk'])) || compareBytes(String(a['sk']), String(b['sk'])),
  );
  items.forEach((item, index) => {
    const { pk, sk } = keyOf(item);
    const { scope = '' } = db.keys.parsePage({ pk, sk }) ?? {};
    const [before, next] = [items[index - 1], items[index + 1]];
    if (before?.['pk'] !== pk && sk.length !== 1) faults.push(`${pk} begins with ${sk}`);
    const end = next?.['pk'] === pk ? next['sk'] : undefined;
    if (item['e'] !== end) faults.push(`${pk} ${sk} ends with ${String(item['e'])} instead of ${String(end)}`);
    const entries = decodePage(item['d'] as Uint8Array, '') ?? [];
    if (entries.length !== item['n']) faults.push(`${pk} ${sk} counts ${String(item['n'])} of ${entries.length}`);
    for (const { position, marker } of entries) {
      const isInside = compareBytes(sk, position) <= 0 && (typeof end !== 'string' || compareBytes(position, end) < 0);
      if (!isInside) faults.push(`${pk} ${sk} holds ${position}`);
      if (markers[`${scope}/${marker.key}`] !== undefined) faults.push(`${pk} ${sk} holds ${marker.key} again`);
      markers[`${scope}/${marker.key}`] = marker;
    }
  });
  return { markers, generations: [...generations], faults, items };
}

/** All markers as pages should contain them. */
export async function markersOfTable(db: Database): Promise<Record<string, MapMarker>> {
  const markers: Record<string, MapMarker> = {};
  for (const item of await allItems(db, db.tables.entities)) {
    const found = db.keys.parseMarker(keyOf(item));
    const marker = found && mapMarkerFromIndex(db.keys, item, '');
    if (marker) markers[`${found.scope}/${marker.key}`] = marker;
  }
  return markers;
}
