import { fileIdentity, importsFolder } from '../../ingest/markers/import-state.js';
import { type Load, loadMarkers } from '../../ingest/markers/load-markers.js';
import { openMarkers } from '../../ingest/markers/marker-reader.js';
import { formatOf } from '../../ingest/read/file-format.js';
import { fileSize } from '../../ingest/read/file-source.js';
import { keepCells, unknownCells } from '../../server/cells.js';
import { type ImportOptions, collectionInput } from './options.js';
import type { Session } from '../session.js';
import { runImport } from './report.js';

/** A source, and what to do once it is loaded. */
interface Opened {
  readonly source: Load['source'];
  readonly done?: () => Promise<void>;
}

/** Imports a file of markers. */
export async function importMarkersFile(path: string, options: ImportOptions): Promise<void> {
  const { keyColumn, latColumn, lngColumn, format = formatOf(path) } = options;
  const columns = { keyColumn, latColumn, lngColumn };
  // Before the database is opened.
  await fileSize(path);
  await importMarkerRows(path, options, async ({ config }) => {
    const identity = [await fileIdentity(path), format, JSON.stringify(columns)].join(' ');
    const rows = await openMarkers(path, format, columns, importsFolder(config.dataDir));
    return { source: { name: path, identity, rows } };
  });
}

/** Imports the markers of the source that `open` returns, and waits until the cells include them. */
export async function importMarkerRows(
  name: string,
  options: ImportOptions,
  open: (session: Session) => Promise<Opened>,
): Promise<void> {
  const what = { name, what: 'marker', resume: 'run the same command again to resume' } as const;
  await runImport(what, options, async ({ session, rejects, bars: { onChecked, onProgress }, report }) => {
    const { config, database, log, signal } = session;
    const { source, done } = await open(session);
    const upgrade = config.database.kind === 'embedded';
    const cells = config.consumer ? keepCells(session, log, { upgrade }) : unknownCells();
    try {
      const began = performance.now();
      const loaded = await loadMarkers({
        database,
        dataDir: config.dataDir,
        collection: collectionInput(options),
        source,
        rejects,
        once: false,
        signal,
        onChecked,
        onProgress,
      });
      await done?.();
      report({ ...loaded, took: performance.now() - began });
      await cells.caughtUp(signal);
      console.log('all rows are in the cells');
    } finally {
      await cells.stop();
    }
  });
}
