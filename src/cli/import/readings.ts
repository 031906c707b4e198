import { systemClock } from '../../clock.js';
import { formatOf } from '../../ingest/read/file-format.js';
import { contentSize } from '../../ingest/read/file-source.js';
import { importReadings } from '../../ingest/readings/import-readings.js';
import { readingReader } from '../../ingest/readings/reading-row.js';
import { ownCollection } from '../../store/source/source-mapping.js';
import { findCollection } from '../find-collection.js';
import type { ImportOptions } from './options.js';
import { runImport } from './report.js';

/** Imports a file of readings. */
export async function importReadingsFile(path: string, options: ImportOptions): Promise<void> {
  const reader = readingReader(path, options.format ?? formatOf(path), options);
  const size = await contentSize(path);
  const resume = 'run the same command again to start over; recorded readings stay as they are';
  await runImport(
    { name: path, what: 'reading', resume },
    options,
    async ({ session: { database, call }, rejects, bars: { onProgress }, report }) => {
      const began = systemClock.now();
      const collection = ownCollection(await findCollection(call, options.collection), 'import');
      const counts = await importReadings({
        collection,
        rows: reader.rows(),
        size,
        rejects,
        now: () => new Date(database.clock.wall()),
        onProgress,
        call,
      });
      report({ counts, took: systemClock.now() - began, notes: await reader.notes() });
    },
  );
}
