import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { fileIdentity } from '../ingest/markers/import-state.js';
import { formatOf, isZoneFile, openRows } from '../ingest/read/read-file.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { createLog } from '../log.js';
import { checkTables } from '../store/table/table-check.js';
import { ensureTables } from '../store/table/tables.js';
import { type Backend, withBackend } from '../server/backend.js';
import { keepCells, leaveCells } from '../server/cells.js';
import { Interrupted } from './failure.js';
import { importZonesFile } from './import-zones.js';
import { type Load, collectionInput, loadMarkers } from './load.js';
import type { ImportOptions } from './program.js';
import { duration, grouped } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

/** What is loaded, and what to do once it is. */
interface Opened {
  readonly source: Load['source'];
  readonly done?: () => Promise<void>;
}

/** `import`: loads a file of markers, waits until the cells hold it, and prints what came of its rows; or one of zones. */
export async function importFile(config: Config, path: string, options: ImportOptions): Promise<void> {
  const format = options.format ?? formatOf(path);
  if (options.zones ?? (await isZoneFile(path, format))) return importZonesFile(config, path, options);
  const { keyField } = options;
  const rows = await openRows(path, format, { keyField });
  const rejects = new RejectsFile(options.rejects ?? `${path}.rejects.ndjson`);
  await loadIntoCollection(config, path, options, rejects, async () => ({
    source: { name: path, identity: [await fileIdentity(path), format, keyField ?? ''].join(' '), rows },
  }));
}

/** Loads what `open` gives, once the database is open; `name` is what it is called. */
export async function loadIntoCollection(
  config: Config,
  name: string,
  options: ImportOptions,
  rejects: RejectsFile,
  open: (backend: Backend, signal: AbortSignal) => Promise<Opened>,
): Promise<void> {
  const { collection: key } = options;
  const log = createLog(config.logLevel);
  warnOfUnknown(config, log);
  const stop = onStop();
  try {
    await withBackend(config, async (backend) => {
      const { database, where } = backend;
      await ensureTables(database);
      await checkTables(database);
      const { source, done } = await open(backend, stop.signal);
      const upgrade = config.database.kind === 'embedded';
      const cells = config.consumer ? keepCells(backend, log, { upgrade }) : leaveCells();
      try {
        const loaded = await loadMarkers({
          database,
          dataDir: config.dataDir,
          collection: collectionInput(options),
          source,
          rejects,
          once: false,
          label: key,
          signal: stop.signal,
        });
        const { counts, resumed, made, took } = loaded;
        await done?.();
        const all = counts.created + counts.updated + counts.unchanged + counts.rejected;
        console.log(`${name} into collection ${key}${made ? ' (made)' : ''}, ${where}`);
        if (resumed > 0) console.log(`went on behind ${grouped(resumed)} rows that an interrupted import had done`);
        console.log(
          `${grouped(all)} rows in ${duration(took)}: ${grouped(counts.created)} created, ${grouped(counts.updated)} updated, ${grouped(counts.unchanged)} unchanged, ${grouped(counts.rejected)} rejected`,
        );
        if (counts.rejected > 0) console.log(`rejected rows, with line and reason: ${rejects.path}`);
        await cells.caughtUp(stop.signal);
        console.log('the cells hold all of it');
        if (all > 0 && counts.rejected === all) {
          throw new CellportError('BAD_USER_INPUT', `no row of ${name} is a marker; ${rejects.path} says why`);
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
