import { systemClock } from '../../clock.js';
import { CellportError } from '../../errors.js';
import type { CheckedRows } from '../../ingest/check-rows.js';
import { fileIdentity, importsFolder } from '../../ingest/markers/import-state.js';
import { loadMarkers, type MarkerLoad } from '../../ingest/markers/load-markers.js';
import { openMarkers } from '../../ingest/markers/marker-reader.js';
import { countAbsent, removeAbsent } from '../../ingest/markers/prune.js';
import { openCollection } from '../../ingest/open-collection.js';
import { formatOf } from '../../ingest/read/file-format.js';
import { fileSize } from '../../ingest/read/file-source.js';
import { isInvalid, watched } from '../../ingest/read/row.js';
import { Notes } from '../../ingest/rows/notes.js';
import type { Collection } from '../../model/collection.js';
import type { DerivedData } from '../../server/consumer.js';
import { askAboutNames } from '../ask.js';
import { whereMarkersAre } from '../export/rows.js';
import { grouped, progressBar } from '../progress.js';
import type { CommandSession } from '../session.js';
import { collectionInput, type ImportOptions } from './options.js';
import { runImport } from './report.js';
import { Extent, isServed, whereToSee } from './where-to-see.js';

/**
 * Says how many markers of a collection the file `name` no longer has; returns how to remove them, which throws CONFLICT
 * if rows were rejected, because they may stand for markers. Throws BAD_USER_INPUT if they are more than half, unless
 * `yes`.
 */
async function planPrune(
  session: CommandSession,
  collection: Collection,
  { keys, rejected }: CheckedRows,
  { name, yes }: { readonly name: string; readonly yes: boolean },
): Promise<() => Promise<void>> {
  const missing = `not in ${name}`;
  if (rejected > 0) {
    const why = `${grouped(rejected)} ${rejected === 1 ? 'row was' : 'rows were'} rejected, and may stand for markers`;
    return () => Promise.reject(new CellportError('CONFLICT', `nothing ${missing} was removed: ${why}`));
  }
  const call = { ...session.call, unpriced: true };
  const where = await whereMarkersAre(session, collection, undefined);
  const job = { collection, ...where, keys, began: new Date(call.db.clock.wall()), call };
  const { markers, absent } = await countAbsent(job);
  const of = `${grouped(absent)} of ${grouped(markers)} markers of ${collection.key} are ${missing}`;
  if (absent * 2 > markers && !yes) {
    throw new CellportError('BAD_USER_INPUT', `${of}, more than half: pass --yes to remove them; nothing was changed`);
  }
  if (absent > 0) console.log(`${of}, and are removed after its rows are written`);
  return async () => {
    if (absent === 0) return;
    const bar = progressBar(`${collection.key}, removing`);
    const onRemoved = (rows: number) => bar.update({ rows, resumed: 0, part: rows / absent });
    const removed = await removeAbsent(job, onRemoved).finally(() => bar.end());
    console.log(`${grouped(removed)} markers removed that are ${missing}`);
  };
}

/** A source, and a callback for when it has been loaded. */
interface Opened {
  readonly source: MarkerLoad['source'];
  readonly done?: () => Promise<void>;
  /** What was guessed, for people. */
  readonly notes?: () => Promise<readonly string[]>;
}

/**
 * Up to this many rows are written at once: their cells are folded once afterwards instead of in several batches
 * meanwhile.
 */
const FEW_ROWS = 20_000;
/** After this long, the server is asked again whether it runs. */
const ASK_AGAIN_AFTER_MS = 10_000;

/** The derived data of all collections, updated by this process unless it must not. */
async function openDerivedOf(session: CommandSession): Promise<DerivedData> {
  // Loaded only if needed, because it takes a while: beside a server it is not.
  const { openDerived } = await import('../../server/consumer.js');
  return openDerived(session, session.config, session.log);
}

/** Imports a file of markers. */
export async function importMarkersFile(path: string, options: ImportOptions): Promise<void> {
  const { keyColumn, latColumn, lngColumn, nameColumn, categoryColumn, textColumn, numberColumn, encoding } = options;
  const read = { keyColumn, latColumn, lngColumn, nameColumn, categoryColumn, textColumn, numberColumn, encoding };
  const { format = formatOf(path) } = options;
  // Fails before the database is opened.
  await fileSize(path);
  await importMarkerRows(path, options, async ({ config }) => {
    const identity = [await fileIdentity(path), format, JSON.stringify(read)].join(' ');
    const file = await openMarkers(path, format, read, importsFolder(config.dataDir));
    const notes = new Notes();
    const rows = watched(file, (row) => notes.add(row));
    return { source: { name: path, identity, rows }, notes: async () => [...(await file.notes()), ...notes.lines()] };
  });
}

/**
 * Imports the markers of the source that `open` returns. Waits until the cells include them, unless a running server
 * updates the cells and `wait` is not set.
 */
export async function importMarkerRows(
  name: string,
  options: ImportOptions,
  open: (session: CommandSession) => Promise<Opened>,
): Promise<void> {
  const what = { name, what: 'marker', resume: 'run the same command again to resume' } as const;
  await runImport(what, options, async ({ session, table, rejects, bars: { onChecked, onProgress, end }, report }) => {
    const { config, database, signal } = session;
    // First, as it costs much to read a table.
    const opened = await openCollection(database, collectionInput(options));
    const { source, done, notes } = await open(session);
    let derived: Promise<DerivedData> | undefined;
    const openOwn = () => (derived ??= openDerivedOf(session));
    let rows = 0;
    try {
      const began = systemClock.now();
      const extent = new Extent();
      const unknown = new Set(opened.created ? options.mapProperty : []);
      let found: Promise<boolean> | undefined;
      let prune: (() => Promise<void>) | undefined;
      const loaded = await loadMarkers({
        database,
        table,
        dataDir: config.dataDir,
        collection: {
          ...opened,
          async create() {
            if (unknown.size > 0) end();
            await askAboutNames(unknown, rows, signal);
            return opened.create();
          },
        },
        source: {
          ...source,
          rows: watched(source.rows, ({ content }) => {
            if (isInvalid(content)) return;
            extent.add(content.position);
            for (const name of unknown) if (Object.hasOwn(content.properties ?? {}, name)) unknown.delete(name);
          }),
        },
        rejects,
        once: false,
        signal,
        onChecked(progress) {
          rows = progress.rows;
          onChecked(progress);
        },
        async onOpen(collection, checked) {
          // Asked while rows are written: afterwards the server is busy counting them.
          found = isServed(config, collection);
          if (options.prune !== true) return;
          end();
          prune = await planPrune(session, collection, checked, { name, yes: options.yes === true });
        },
        async onProgress(progress) {
          if (rows > FEW_ROWS) await openOwn();
          onProgress(progress);
        },
      });
      await done?.();
      const took = systemClock.now() - began;
      report({ ...loaded, took, notes: await notes?.() });
      await prune?.();
      const served = (took < ASK_AGAIN_AFTER_MS && (await found)) || (await isServed(config, loaded.collection));
      if (served && options.wait !== true && (await derived)?.status().owner !== true) {
        console.log('the running server updates counts and clusters within seconds');
      } else {
        await (await openOwn()).caughtUp(signal);
        console.log('counts and clusters include all rows');
      }
      console.log(whereToSee(config, loaded.collection, extent.at, served));
    } finally {
      await (await derived)?.stop();
    }
  });
}
