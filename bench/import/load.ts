/**
 * One import in a process of its own, so that its peak of memory can be told: `loadMarkers` as the command line calls it,
 * on a database that is running. Takes a `Task` as JSON and prints a `Result` as JSON.
 */
import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';

import { loadMarkers } from '../../src/cli/load.js';
import { formatOf, openRows } from '../../src/ingest/read-file.js';
import { fileIdentity } from '../../src/ingest/import-state.js';
import { RejectsFile } from '../../src/ingest/rejects.js';
import { type DatabaseOptions, createDatabase } from '../../src/store/database.js';

/** What is imported where. */
export interface Task {
  readonly path: string;
  readonly dataDir: string;
  readonly collection: string;
  readonly database: DatabaseOptions;
}

export interface Result {
  readonly created: number;
  readonly ms: number;
  readonly peakBytes: number;
}

/** The file to be run with a task. */
export const LOAD = fileURLToPath(import.meta.url);

async function load({ path, dataDir, collection, database: options }: Task): Promise<Result> {
  const database = createDatabase(options);
  const { signal } = new AbortController();
  // Every request under way listens to it.
  setMaxListeners(0, signal);
  try {
    const { counts, took } = await loadMarkers({
      database,
      dataDir,
      collection: { key: collection, name: collection },
      source: { name: path, identity: await fileIdentity(path), rows: await openRows(path, formatOf(path)) },
      rejects: new RejectsFile(`${path}.rejects.ndjson`),
      once: false,
      label: collection,
      signal,
    });
    return { created: counts.created, ms: took, peakBytes: process.resourceUsage().maxRSS * 1024 };
  } finally {
    database.client.destroy();
  }
}

const [, , task] = process.argv;
if (process.argv[1] === LOAD && task !== undefined) console.log(JSON.stringify(await load(JSON.parse(task) as Task)));
