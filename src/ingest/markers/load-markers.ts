import { randomInt } from 'node:crypto';

import type { Collection } from '../../model/collection.js';
import { newCall, type Database } from '../../store/database.js';
import type { CheckedRows } from '../check-rows.js';
import type { OpenedCollection } from '../open-collection.js';
import { importMarkers, type ImportJob, type ImportProgress } from './import-markers.js';
import { importsFolder, importStateFile } from './import-state.js';

export interface MarkerLoad extends Pick<
  ImportJob,
  'rejects' | 'once' | 'order' | 'windowRows' | 'onChecked' | 'onProgress'
> {
  readonly database: Database;
  readonly dataDir: string;
  /** See `OpenedTables`: progress does not carry over to a table that was deleted and created again. */
  readonly table: string;
  readonly collection: OpenedCollection;
  /** `name` identifies the source, `identity` its content and how it is read; new content is imported from the start. */
  readonly source: { readonly name: string; readonly identity: string; readonly rows: ImportJob['source'] };
  readonly signal: AbortSignal;
  /** Called and awaited once the collection exists, before the first write. */
  readonly onOpen?: ((collection: Collection, rows: CheckedRows) => void | Promise<void>) | undefined;
}

export interface Loaded extends ImportProgress {
  readonly collection: Collection;
  /** Whether the collection was created for this load. */
  readonly created: boolean;
}

/**
 * Imports rows into a collection. Resumes where an interrupted load of the same source
 * stopped. Rejects with the signal's reason on abort.
 */
export async function loadMarkers({
  database,
  table,
  dataDir,
  source,
  signal,
  onOpen,
  ...load
}: MarkerLoad): Promise<Loaded> {
  const { collection, created, create } = load.collection;
  let used = collection;
  const identity = [source.identity, table, collection.key, collection.createdAt].join(' ');
  const name = `${source.name} ${database.tables.entities} ${collection.key}`;
  const progress = await importMarkers({
    ...load,
    collection,
    source: source.rows,
    fresh: created,
    async onValid(rows) {
      used = await create();
      await onOpen?.(used, rows);
      return used;
    },
    identity,
    state: importStateFile(importsFolder(dataDir), name, identity),
    seed: randomInt(2 ** 32),
    now: () => new Date(database.clock.wall()),
    call: { ...newCall(database, signal), unpriced: true },
  });
  return { ...progress, collection: used, created: created && used.createdAt === collection.createdAt };
}
