import { systemClock } from '../../clock.js';
import { importsFolder } from '../../ingest/markers/import-state.js';
import { openTable } from '../../ingest/markers/table-rows.js';
import { pathText } from '../../sources/mapping.js';
import { newCall } from '../../store/database.js';
import { describeSource } from '../../store/source/describe-source.js';
import { readMappingFile } from '../json-file.js';
import { duration, grouped, progressBar } from '../progress.js';
import { importMarkerRows } from './markers.js';
import type { ImportOptions } from './options.js';

/** Imports the markers that the mapping in a file finds in a table. */
export async function importTable(table: string, file: string, options: ImportOptions): Promise<void> {
  const { mapping, json } = await readMappingFile(file);
  const { mapProperty = mapping.properties.map(pathText) } = options;
  const drawn = mapProperty.length > 0 ? { mapProperty } : {};
  await importMarkerRows(table, { ...options, ...drawn }, async ({ config, database, signal }) => {
    // Counted by DynamoDB, hours ago.
    const { items: expected } = await describeSource(database, table);
    const call = newCall(database, signal);
    const began = systemClock.now();
    const bar = progressBar(`${table}, reading`);
    const { meter } = call;
    const part = () => Math.min(0.99, meter.itemsScanned / Math.max(1, expected));
    const onPage = () => bar.update({ rows: meter.itemsScanned, resumed: 0, part: part() });
    const job = { table, mapping, folder: importsFolder(config.dataDir), call, onPage };
    const { rows, identity } = await openTable(job).finally(() => bar.end());
    const took = duration(systemClock.now() - began);
    console.log(`${grouped(meter.itemsScanned)} items read in ${took}, ${grouped(meter.readUnits)} read units`);
    if (rows.size === 0) console.error('no item matches the mapping: see `cellport source check`');
    return { source: { name: `table ${table}`, identity: `${identity} ${json}`, rows } };
  });
}
