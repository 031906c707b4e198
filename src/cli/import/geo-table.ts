import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { systemClock } from '../../clock.js';
import { readTableLayout } from '../../geolibrary/layout.js';
import { removeSpool, spoolRows, spoolTable } from '../../geolibrary/spool.js';
import { fileIdentity, importsFolder } from '../../ingest/markers/import-state.js';
import { newCall } from '../../store/request/meter.js';
import { duration, grouped, progressBar } from '../progress.js';
import { lockFile } from './alone.js';
import { importMarkerRows } from './markers.js';
import type { ImportOptions } from './options.js';

/** Default segments of the parallel Scan. */
const SEGMENTS = 8;

/**
 * Copies a table of the Geo Library to disk, loads the copy as a file and removes it. After an interruption, the same
 * command resumes the copy or the load.
 */
export async function importGeoTable(table: string, options: ImportOptions): Promise<void> {
  let unlock: (() => Promise<void>) | undefined;
  const open: Parameters<typeof importMarkerRows>[2] = async ({ config, database, signal }) => {
    const layout = await readTableLayout(database, table, { index: options.geohashIndex, geoJson: options.geoJson });
    const { geoJson } = layout.attributes;
    console.log(`${table}: hash keys of ${layout.hashKeyLength} digits, ${layout.order} in ${geoJson}`);
    const name = createHash('sha256').update(`${table} ${options.collection}`).digest('hex').slice(0, 32);
    const path = join(importsFolder(config.dataDir), `${name}.ndjson`);
    unlock = await lockFile(path, `${table} is being imported into collection ${options.collection}`);
    const call = newCall(signal);
    const began = systemClock.now();
    const bar = progressBar(`${table}, copying`);
    const { items, resumed } = await spoolTable({
      database,
      layout,
      path,
      segments: options.segments ?? SEGMENTS,
      call,
      onProgress: (progress) =>
        // DynamoDB's item count may be hours old.
        bar.update({
          rows: progress.items,
          resumed: progress.resumed,
          part: Math.min(0.99, progress.items / Math.max(1, layout.items)),
        }),
    }).finally(() => bar.end());
    const before = resumed > 0 ? `; ${grouped(resumed)} of them by an earlier run` : '';
    console.log(
      `${grouped(items)} items copied in ${duration(systemClock.now() - began)}, ${grouped(call.meter.readUnits)} read units${before}`,
    );
    return {
      source: {
        name: `geo-table ${table}`,
        // The index and the attribute determine how the copy is interpreted.
        identity: [await fileIdentity(path), layout.id, geoJson].join(' '),
        rows: spoolRows(path, (await stat(path)).size, layout),
      },
      done: () => removeSpool(path),
    };
  };
  try {
    await importMarkerRows(table, options, open);
  } finally {
    await unlock?.();
  }
}
