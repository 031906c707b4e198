import { randomInt } from 'node:crypto';

import { systemClock } from '../../clock.js';
import type { Collection } from '../../model/collection.js';
import type { CollectionInput } from '../../store/collection/collection-item.js';
import type { Database } from '../../store/database.js';
import { newCall } from '../../store/request/meter.js';
import { describeTables } from '../../store/table/tables.js';
import { type OpenedCollection, openCollection } from '../open-collection.js';
import { type ImportJob, type ImportProgress, importMarkers } from './import-markers.js';
import { importStateFile, importsFolder } from './import-state.js';

export interface MarkerLoad extends Pick<
  ImportJob,
  'rejects' | 'once' | 'order' | 'windowRows' | 'onChecked' | 'onProgress'
> {
  readonly database: Database;
  readonly dataDir: string;
  /** The collection, or the input to create it if it is missing. */
  readonly collection: CollectionInput | OpenedCollection;
  /** `name` identifies the source, `identity` its content and how it is read; new content is imported from the start. */
  readonly source: { readonly name: string; readonly identity: string; readonly rows: ImportJob['source'] };
  readonly signal: AbortSignal;
}

export interface Loaded extends ImportProgress {
  readonly collection: Collection;
  /** Whether the collection was created for this load. */
  readonly created: boolean;
}

/**
 * Imports rows into a collection, which is created if missing. Resumes where an interrupted load of the same source
 * stopped. Rejects with the signal's reason on abort.
 */
export async function loadMarkers({ database, dataDir, source, signal, ...load }: MarkerLoad): Promise<Loaded> {
  const target = load.collection;
  const [{ collection, created }, [entities]] = await Promise.all([
    'created' in target ? target : openCollection(database, target),
    describeTables(database),
  ]);
  // Progress does not carry over to a table or collection that was deleted and created again.
  const table = entities?.description?.TableId ?? entities?.description?.CreationDateTime?.toISOString() ?? '';
  const identity = [source.identity, table, collection.key, collection.createdAt].join(' ');
  const name = `${source.name} ${database.tables.entities} ${collection.key}`;
  const progress = await importMarkers({
    ...load,
    database,
    collection,
    source: source.rows,
    fresh: created,
    identity,
    state: importStateFile(importsFolder(dataDir), name, identity),
    seed: randomInt(2 ** 32),
    now: () => new Date(systemClock.wall()),
    call: { ...newCall(signal), unpriced: true },
  });
  return { ...progress, collection, created };
}
