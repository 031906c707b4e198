import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { fileIdentity } from '../ingest/import-state.js';
import { formatOf, openRows } from '../ingest/read-file.js';
import { RejectsFile } from '../ingest/rejects.js';
import { createLog } from '../log.js';
import { checkTables } from '../store/table-check.js';
import { ensureTables } from '../store/tables.js';
import { withBackend } from './backend.js';
import { keepCells, leaveCells } from './cells.js';
import { Interrupted } from './failure.js';
import { loadMarkers } from './load.js';
import type { ImportOptions } from './program.js';
import { duration, grouped } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

/** `import`: loads a file, waits until the cells hold it, and prints what came of its rows. */
export async function importFile(config: Config, path: string, options: ImportOptions): Promise<void> {
  const format = options.format ?? formatOf(path);
  const { keyField, collection: key } = options;
  const rows = await openRows(path, format, { keyField });
  const log = createLog(config.logLevel);
  warnOfUnknown(config, log);
  const rejects = new RejectsFile(options.rejects ?? `${path}.rejects.ndjson`);
  const stop = onStop();
  try {
    await withBackend(config, async (backend) => {
      const { database, where } = backend;
      await ensureTables(database);
      await checkTables(database);
      const upgrade = config.database.kind === 'embedded';
      const cells = config.consumer ? keepCells(backend, log, { upgrade }) : leaveCells();
      try {
        const loaded = await loadMarkers({
          database,
          dataDir: config.dataDir,
          collection: {
            key,
            name: options.name ?? key,
            code: options.code,
            mapProperties: options.mapProperty,
            prefixLength: options.prefixLength,
            writeShards: options.writeShards,
          },
          source: {
            name: path,
            identity: [await fileIdentity(path), format, keyField ?? ''].join(' '),
            rows,
          },
          rejects,
          once: false,
          label: key,
          signal: stop.signal,
        });
        const { counts, resumed, made, took } = loaded;
        const all = counts.created + counts.updated + counts.unchanged + counts.rejected;
        console.log(`${path} into collection ${key}${made ? ' (made)' : ''}, ${where}`);
        if (resumed > 0) console.log(`went on behind ${grouped(resumed)} rows that an interrupted import had done`);
        console.log(
          `${grouped(all)} rows in ${duration(took)}: ${grouped(counts.created)} created, ${grouped(counts.updated)} updated, ${grouped(counts.unchanged)} unchanged, ${grouped(counts.rejected)} rejected`,
        );
        if (counts.rejected > 0) console.log(`rejected rows, with line and reason: ${rejects.path}`);
        await cells.caughtUp(stop.signal);
        console.log('the cells hold all of it');
        if (all > 0 && counts.rejected === all) {
          throw new CellportError('BAD_USER_INPUT', `no row of ${path} is a marker; ${rejects.path} says why`);
        }
      } finally {
        await cells.stop();
      }
    });
  } catch (error) {
    if (error instanceof Interrupted) throw new Interrupted(`${error.message}; the same command goes on from here`);
    throw error;
  } finally {
    stop.release();
  }
}
