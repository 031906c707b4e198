// Runs one import in a separate process, to measure its peak memory: the built `loadMarkers` under plain Node, as the
// command line calls it, on a running database. Takes a `Task` as JSON and prints a `Result`.
import { setMaxListeners } from 'node:events';

import { fileIdentity } from '../../dist/ingest/markers/import-state.js';
import { loadMarkers } from '../../dist/ingest/markers/load-markers.js';
import { openMarkers } from '../../dist/ingest/markers/marker-reader.js';
import { openCollection } from '../../dist/ingest/open-collection.js';
import { formatOf } from '../../dist/ingest/read/file-format.js';
import { RejectsFile } from '../../dist/ingest/read/rejects.js';
import { createDatabase } from '../../dist/store/create-database.js';

const { path, dataDir, collection, database: options } = JSON.parse(process.argv[2]);
const database = createDatabase(options);
const { signal } = new AbortController();
// Every request in progress listens to it.
setMaxListeners(0, signal);
try {
  const began = performance.now();
  const { counts } = await loadMarkers({
    database,
    table: '',
    dataDir,
    collection: await openCollection(database, { key: collection, name: collection }),
    source: { name: path, identity: await fileIdentity(path), rows: await openMarkers(path, formatOf(path)) },
    rejects: new RejectsFile(`${path}.rejects.ndjson`),
    once: false,
    signal,
    onChecked: () => undefined,
    onProgress: () => undefined,
  });
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ created: counts.created, ms: performance.now() - began, peakBytes }));
} finally {
  database.client.destroy();
}
