import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../config.js';
import { readLayout } from '../geolibrary/layout.js';
import { removeSpool, spoolRows, spoolTable } from '../geolibrary/spool.js';
import { fileIdentity } from '../ingest/markers/import-state.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { newCall } from '../store/request/meter.js';
import { loadIntoCollection } from './import.js';
import type { ImportOptions } from './program.js';
import { duration, grouped, progressBar } from './progress.js';

/** Parts of a table that are read side by side, where nobody says how many. */
const SEGMENTS = 8;

/**
 * `import --from-geo-table`: copies a table of the Geo Library to disk and loads that as a file. Each is done once: stopped
 * while it copies it goes on copying, stopped while it loads it goes on loading. The copy is taken away at the end.
 */
export async function importGeoTable(config: Config, table: string, options: ImportOptions): Promise<void> {
  const rejects = new RejectsFile(options.rejects ?? `${table}.rejects.ndjson`);
  await loadIntoCollection(config, table, options, rejects, async ({ database }, signal) => {
    const layout = await readLayout(database, table, { index: options.geohashIndex, geoJson: options.geoJson });
    console.log(
      `${table}: hash keys of ${layout.hashKeyLength} digits, ${layout.order} in its ${layout.attributes.geoJson}`,
    );
    const name = createHash('sha256').update(`${table} ${options.collection}`).digest('hex').slice(0, 32);
    const path = join(config.dataDir, 'imports', `${name}.ndjson`);
    const call = newCall(signal);
    const began = performance.now();
    const bar = progressBar(`${table}, copying`);
    const { items, resumed } = await spoolTable({
      database,
      layout,
      path,
      segments: options.segments ?? SEGMENTS,
      call,
      onProgress: (progress) =>
        // DynamoDB's count may be hours old.
        bar.update({
          rows: progress.items,
          resumed: progress.resumed,
          part: Math.min(0.99, progress.items / Math.max(1, layout.items)),
        }),
    }).finally(() => bar.end());
    const units = call.meter.readUnits;
    console.log(
      `${grouped(items)} items copied in ${duration(performance.now() - began)}, ${grouped(units)} read units${resumed > 0 ? `; ${grouped(resumed)} of them were there` : ''}`,
    );
    return {
      source: {
        name: `geo-table ${table}`,
        // The index and the attribute are how it is read.
        identity: [await fileIdentity(path), layout.id, layout.attributes.geoJson].join(' '),
        rows: spoolRows(path, (await stat(path)).size, layout),
      },
      done: () => removeSpool(path),
    };
  });
}
