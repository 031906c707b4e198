import { join } from 'node:path';

import { type ImportJob, type ImportProgress, importMarkers } from '../ingest/import-markers.js';
import { importStateFile } from '../ingest/import-state.js';
import type { Collection } from '../model/collection.js';
import { type CollectionInput, createCollection, getCollections } from '../store/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/meter.js';
import { describeTables } from '../store/tables.js';
import { progressBar } from './progress.js';

export interface Load {
  readonly database: Database;
  readonly dataDir: string;
  /** The collection as it is made where it is missing. */
  readonly collection: CollectionInput;
  /** Names the source among others, and its content and how it is read: another content begins anew. */
  readonly source: { readonly name: string; readonly identity: string; readonly size: number };
  readonly rows: ImportJob['rows'];
  readonly rejects: ImportJob['rejects'];
  readonly once: boolean;
  readonly label: string;
  readonly signal: AbortSignal;
}

export interface Loaded extends ImportProgress {
  readonly collection: Collection;
  /** Whether the collection was made for it. */
  readonly made: boolean;
  /** Milliseconds. */
  readonly took: number;
}

/** The collection of this key, made where it is missing. */
async function openCollection(
  database: Database,
  input: CollectionInput,
): Promise<{ collection: Collection; made: boolean }> {
  const call = newCall();
  const [found] = await getCollections(database, [input.key], call, { consistent: true });
  if (found !== null && found !== undefined) return { collection: found, made: false };
  return { collection: await createCollection(database, input, new Date().toISOString(), call), made: true };
}

/**
 * Imports rows into a collection, made where it is missing, with a progress bar, going on where an interrupted load of the
 * same source ended. Throws the signal's reason when it is stopped.
 */
export async function loadMarkers(load: Load): Promise<Loaded> {
  const { database, source, signal } = load;
  const began = performance.now();
  const { collection, made } = await openCollection(database, load.collection);
  const [entities] = await describeTables(database);
  // A table or collection that was made anew is another one, and nothing that was done to the old one is done to it.
  const table = entities?.description?.TableId ?? entities?.description?.CreationDateTime?.toISOString() ?? '';
  const identity = [source.identity, table, collection.key, collection.createdAt].join(' ');
  const bar = progressBar(load.label);
  try {
    const progress = await importMarkers({
      database,
      collection,
      rows: load.rows,
      fresh: made,
      identity,
      state: importStateFile(
        join(load.dataDir, 'imports'),
        `${source.name} ${database.tables.entities} ${collection.key}`,
        identity,
      ),
      once: load.once,
      rejects: load.rejects,
      now: () => new Date(),
      onProgress: ({ counts, resumed, end }) => {
        const rows = counts.created + counts.updated + counts.unchanged + counts.rejected;
        bar.update({ rows, resumed, part: source.size > 0 ? end / source.size : 1 });
      },
      call: newCall(signal),
    });
    return { ...progress, collection, made, took: performance.now() - began };
  } finally {
    bar.end();
  }
}
