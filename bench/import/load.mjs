// Runs one import in a process of its own, to measure its peak memory: `loadMarkers` as the command line calls it, built
// and under plain Node as users run it, on a running database. Takes a `Task` as JSON and prints a `Result`.
import { setMaxListeners } from 'node:events';

import { fileIdentity } from '../../dist/ingest/markers/import-state.js';
import { loadMarkers } from '../../dist/ingest/markers/load-markers.js';
import { openMarkers } from '../../dist/ingest/markers/marker-reader.js';
import { formatOf } from '../../dist/ingest/read/file-format.js';
import { RejectsFile } from '../../dist/ingest/read/rejects.js';
import { createDatabase } from '../../dist/store/database.js';

const { path, dataDir, collection, database: options } = JSON.parse(process.argv[2]);
const database = createDatabase(options);
const { signal } = new AbortController();
// Every request under way listens to it.
setMaxListeners(0, signal);
try {
  const began = performance.now();
  const { counts } = await loadMarkers({
    database,
    dataDir,
    collection: { key: collection, name: collection },
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
