import { ScanCommand } from '@aws-sdk/lib-dynamodb';

import { systemClock } from '../../src/clock.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { newCall, type Database, type Item } from '../../src/store/database.js';
import { mapMarkerFromIndex } from '../../src/store/marker/marker-item.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import { openPages } from '../../src/stream/consume/derived-ports.js';
import { applyToPages } from '../../src/stream/pages/apply.js';
import { GENERATION } from './page-services.js';

/** Smaller pages and parts of the directory than there are usually. */
export interface PageSizes {
  readonly mostBytes?: number;
  readonly mostHints?: number;
}

/** Adds new markers, by their items, to the pages of a collection, as the stream's consumer does. */
export async function addPages(
  database: Database,
  collection: Collection,
  batch: number,
  items: readonly Item[],
  sizes: PageSizes = {},
): Promise<void> {
  const { open, ...pages } = openPages(newCall(database));
  const { signal } = new AbortController();
  // Otherwise it would retry forever.
  const warn = ({ err }: Record<string, unknown>, message: string) => {
    throw new Error(message, { cause: err });
  };
  const log = { ...silentLog, warn };
  const { mostBytes = pages.pack.mostBytes, mostHints = MOST_HINTS } = sizes;
  const pack = { ...pages.pack, mostBytes };
  const options = {
    ...pages,
    pack,
    mostHints,
    pages: open(GENERATION),
    clock: systemClock,
    signal,
    log,
    holds: () => true,
  };
  const scope = database.keys.scope(collection);
  const changes = items.map((item) => {
    const marker = mapMarkerFromIndex(database.keys, item, '');
    return { scope, before: undefined, after: marker && orderedMarker(marker) };
  });
  await applyToPages(options, batch, changes);
}

/** Adds all markers of a collection in a small table to its pages. */
export async function addAllPages(database: Database, collection: Collection): Promise<void> {
  const { keys, tables } = database;
  const { Items = [] } = await database.client.send(new ScanCommand({ TableName: tables.entities }));
  const scope = keys.scope(collection);
  const items = Items.filter(({ pk, sk }) => keys.parseMarker({ pk: String(pk), sk: String(sk) })?.scope === scope);
  await addPages(database, collection, 1, items);
}
