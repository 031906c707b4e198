import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { importZones } from '../ingest/zones/import-zones.js';
import { formatOf, openZones } from '../ingest/read/read-file.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { createLog } from '../log.js';
import { newCall } from '../store/request/meter.js';
import { checkTables } from '../store/table/table-check.js';
import { ensureTables } from '../store/table/tables.js';
import { withBackend } from '../server/backend.js';
import { Interrupted } from './failure.js';
import { collectionInput, openCollection } from './load.js';
import type { ImportOptions } from './program.js';
import { type ProgressBar, duration, grouped, progressBar } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

/** `import` of a file of zones: puts them into the collection, made where it is missing, and prints what came of its rows. */
export async function importZonesFile(config: Config, path: string, options: ImportOptions): Promise<void> {
  const source = await openZones(path, options.format ?? formatOf(path), { keyField: options.keyField });
  warnOfUnknown(config, createLog(config.logLevel));
  const rejects = new RejectsFile(options.rejects ?? `${path}.rejects.ndjson`);
  const stop = onStop();
  const label = options.collection;
  const checking = progressBar(`${label}, checking`);
  let writing: ProgressBar | undefined;
  try {
    await withBackend(config, async ({ database, objects, where }) => {
      await ensureTables(database);
      await checkTables(database);
      const began = performance.now();
      const { collection, made } = await openCollection(database, collectionInput(options));
      const counts = await importZones({
        database,
        geometryStore: { objects, inlineBytes: config.limits.inlineGeometryBytes },
        collection,
        source,
        rejects,
        now: () => new Date(),
        onChecked: ({ rows, part }) => checking.update({ rows, resumed: 0, part }),
        onProgress: ({ counts: { created, updated, unchanged }, part }) => {
          if (writing === undefined) checking.end();
          writing ??= progressBar(label);
          writing.update({ rows: created + updated + unchanged, resumed: 0, part });
        },
        call: { ...newCall(stop.signal), unpriced: true },
      });
      (writing ?? checking).end();
      const { created, updated, unchanged, rejected } = counts;
      const all = created + updated + unchanged + rejected;
      console.log(`${path}, zones of collection ${collection.key}${made ? ' (made)' : ''}, ${where}`);
      console.log(
        `${grouped(all)} rows in ${duration(performance.now() - began)}: ${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${grouped(rejected)} rejected`,
      );
      if (rejected > 0) console.log(`rejected rows, with line and reason: ${rejects.path}`);
      if (all > 0 && rejected === all) {
        throw new CellportError('BAD_USER_INPUT', `no row of ${path} is a zone; ${rejects.path} says why`);
      }
    });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    throw new Interrupted(`${error.message}; the same command writes what is lacking`);
  } finally {
    (writing ?? checking).end();
    stop.release();
  }
}
