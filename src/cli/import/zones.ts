import { systemClock } from '../../clock.js';
import { badInput } from '../../errors.js';
import { importsFolder } from '../../ingest/markers/import-state.js';
import { openCollection } from '../../ingest/open-collection.js';
import { formatOf } from '../../ingest/read/file-format.js';
import { fileSize } from '../../ingest/read/file-source.js';
import { watched } from '../../ingest/read/row.js';
import { Notes } from '../../ingest/rows/notes.js';
import { importZones } from '../../ingest/zones/import-zones.js';
import { openZones } from '../../ingest/zones/zone-row.js';
import { collectionInput, type ImportOptions } from './options.js';
import { runImport } from './report.js';
import { isServed, whereToSee } from './where-to-see.js';

/** Imports a file of zones. */
export async function importZonesFile(path: string, options: ImportOptions): Promise<void> {
  const { format = formatOf(path) } = options;
  if (options.prune === true) throw badInput('--prune', path, 'for markers; this file has zones');
  // Fails before the database is opened.
  await fileSize(path);
  const what = { name: path, what: 'zone', resume: 'run the same command again to import the rest' } as const;
  await runImport(what, options, async ({ session, rejects, bars: { onChecked, onProgress }, report }) => {
    const { config, database } = session;
    const file = await openZones(path, format, options, importsFolder(config.dataDir));
    const notes = new Notes();
    const source = watched(file, (row) => notes.add(row));
    const began = systemClock.now();
    const { collection, created, create } = await openCollection(database, collectionInput(options));
    let used = collection;
    const counts = await importZones({
      collection,
      source,
      rejects,
      onValid: async () => (used = await create()),
      now: () => new Date(database.clock.wall()),
      onChecked,
      onProgress,
      call: { ...session.call, unpriced: true },
    });
    const isNew = created && used.createdAt === collection.createdAt;
    const said = [...(await file.notes()), ...notes.lines()];
    report({ counts, created: isNew, took: systemClock.now() - began, notes: said });
    console.log(whereToSee(config, used, undefined, await isServed(config, used)));
  });
}
