import { randomInt } from 'node:crypto';
import { join } from 'node:path';

import { type ImportJob, type ImportProgress, importMarkers } from '../ingest/markers/import-markers.js';
import { importStateFile } from '../ingest/markers/import-state.js';
import type { Collection } from '../model/collection.js';
import { type CollectionInput, createCollection, getCollections } from '../store/collection/collections.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { describeTables } from '../store/table/tables.js';
import type { ImportOptions } from './program.js';
import { type ProgressBar, progressBar } from './progress.js';

export interface Load {
  readonly database: Database;
  readonly dataDir: string;
  /** The collection as it is made where it is missing. */
  readonly collection: CollectionInput;
  /** Names the source among others, and its content and how it is read: another content begins anew. */
  readonly source: { readonly name: string; readonly identity: string; readonly rows: ImportJob['source'] };
  readonly rejects: ImportJob['rejects'];
  readonly once: boolean;
  readonly label: string;
  readonly signal: AbortSignal;
  /** Called with the rows that are done, now and then; the load waits for it. */
  readonly keepPace?: ((rows: number) => Promise<void>) | undefined;
}

export interface Loaded extends ImportProgress {
  readonly collection: Collection;
  /** Whether the collection was made for it. */
  readonly made: boolean;
  /** Milliseconds. */
  readonly took: number;
}

/** The collection that an import makes where it is missing, by the options of the command. */
export function collectionInput(options: ImportOptions): CollectionInput {
  return {
    key: options.collection,
    name: options.name ?? options.collection,
    code: options.code,
    mapProperties: options.mapProperty,
    prefixLength: options.prefixLength,
    writeShards: options.writeShards,
  };
}

/** The collection of this key, made where it is missing. */
export async function openCollection(
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
  const checking = progressBar(`${load.label}, checking`);
  let writing: ProgressBar | undefined;
  try {
    const progress = await importMarkers({
      database,
      collection,
      source: source.rows,
      fresh: made,
      identity,
      state: importStateFile(
        join(load.dataDir, 'imports'),
        `${source.name} ${database.tables.entities} ${collection.key}`,
        identity,
      ),
      once: load.once,
      rejects: load.rejects,
      seed: randomInt(2 ** 32),
      now: () => new Date(),
      onChecked: ({ rows, part }) => checking.update({ rows, resumed: 0, part }),
      onProgress: async ({ counts: { created, updated, unchanged }, resumed, part }) => {
        const rows = created + updated + unchanged;
        // Not before, as a bar tells its rate from when it was made.
        if (writing === undefined) checking.end();
        writing ??= progressBar(load.label);
        writing.update({ rows, resumed, part });
        await load.keepPace?.(rows - resumed);
      },
      call: { ...newCall(signal), unpriced: true },
    });
    return { ...progress, collection, made, took: performance.now() - began };
  } finally {
    (writing ?? checking).end();
  }
}
