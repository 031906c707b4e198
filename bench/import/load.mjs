// One import in a process of its own, so that its peak of memory can be told: `loadMarkers` as the command line calls it,
// built and by plain Node as users run it, on a database that is running. Takes a `Task` as JSON and prints a `Result`.
import { setMaxListeners } from 'node:events';

import { loadMarkers } from '../../dist/cli/load.js';
import { fileIdentity } from '../../dist/ingest/import-state.js';
import { formatOf, openRows } from '../../dist/ingest/read-file.js';
import { RejectsFile } from '../../dist/ingest/rejects.js';
import { createDatabase } from '../../dist/store/database.js';

const { path, dataDir, collection, database: options } = JSON.parse(process.argv[2]);
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
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ created: counts.created, ms: took, peakBytes }));
} finally {
  database.client.destroy();
}
