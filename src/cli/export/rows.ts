import { systemClock } from '../../clock.js';
import { badInput, CellportError } from '../../errors.js';
import { normalizeBounds, type Area, type Bounds } from '../../geo/bounds.js';
import { isTableFormat, type ExportFormat } from '../../ingest/export/export-format.js';
import { writeToFile, writeToStream } from '../../ingest/export/output.js';
import { hasFewRanges, readMarkers } from '../../ingest/export/read-markers.js';
import { readZones } from '../../ingest/export/read-zones.js';
import { writeMarkers, writeZones } from '../../ingest/export/write-format.js';
import { writeMarkerTable, writeZoneTable } from '../../ingest/export/write-table.js';
import { isGzip, zipped } from '../../ingest/read/gzip.js';
import type { Collection } from '../../model/collection.js';
import { findOccupied } from '../../server/consumer.js';
import { findOnPages } from '../../server/on-pages.js';
import { hasFewPartitions, type PartitionPrefixes } from '../../store/cell/partition-prefixes.js';
import { Interrupted } from '../failure.js';
import { findCollection } from '../find-collection.js';
import { duration, grouped, printable, progressBar, type ProgressBar } from '../progress.js';
import { withDatabase, type CommandSession } from '../session.js';

export interface ExportOptions {
  readonly collection: string;
  readonly zones?: boolean;
  readonly bounds?: Bounds;
  readonly format?: ExportFormat;
  readonly out?: string;
  readonly escapeFormulas?: boolean;
}

const areaOf = (bounds: Bounds | undefined): Area | undefined => bounds && normalizeBounds('--bounds', bounds);

/** Maximum wait for the cells: querying a thousand partitions takes no longer. */
const CELLS_WITHIN_MS = 5_000;

/**
 * The prefixes that may have markers, including every write before the call; undefined if all partitions should be
 * queried. Throws UNAVAILABLE if there are too many and the cells may be wrong.
 */
async function prefixesOf(
  session: CommandSession,
  collection: Collection,
  area: Area | undefined,
): Promise<PartitionPrefixes | undefined> {
  const { signal } = session;
  if (hasFewRanges(collection, area)) return undefined;
  const few = hasFewPartitions(collection);
  try {
    const within = few ? AbortSignal.any([signal, AbortSignal.timeout(CELLS_WITHIN_MS)]) : signal;
    const found = await findOccupied(session, collection, within);
    if (found !== undefined || few) return found;
  } catch (error) {
    if (!few || signal.aborted) throw error;
    return undefined;
  }
  throw new CellportError(
    'UNAVAILABLE',
    `collection ${collection.key} has too many partitions to query each (prefix length ${collection.prefixLength}), and its cells, which show where markers are, may be wrong: run \`cellport recount\``,
  );
}

/** Where an export finds the markers of a collection, with every write before the call. Says it if some may be missing. */
export async function whereMarkersAre(session: CommandSession, collection: Collection, area: Area | undefined) {
  if (collection.geoIndex) return { prefixes: await prefixesOf(session, collection, area) };
  const { pages, missing } = await findOnPages(session, collection, session.signal);
  if (missing !== undefined) console.error(printable(`the pages of ${collection.key} may lack changes: ${missing}`));
  return { pages };
}

/** Counts rows, and shows progress once it can be estimated. */
class Tally {
  rows = 0;
  /** Fraction of the export that is done, 0 to 1. */
  part: number | undefined;
  readonly #bar: ProgressBar | undefined;

  constructor(bar: ProgressBar | undefined) {
    this.#bar = bar;
  }

  async *count<T>(values: AsyncIterable<T>, rowsOf: (value: T) => number): AsyncGenerator<T> {
    for await (const value of values) {
      this.rows += rowsOf(value);
      if (this.part !== undefined) this.#bar?.update({ rows: this.rows, resumed: 0, part: this.part });
      yield value;
    }
  }
}

/** The file's text or bytes, in pieces. */
async function exported(
  session: CommandSession,
  collection: Collection,
  format: ExportFormat,
  { zones = false, escapeFormulas = false, bounds }: ExportOptions,
  tally: Tally,
): Promise<AsyncIterable<string | Buffer>> {
  const area = areaOf(bounds);
  const call = { ...session.call, unpriced: true };
  if (zones) {
    if (format === 'csv') throw badInput('--format', format, 'a format other than csv for zones');
    const all = tally.count(readZones({ collection, area, call }), () => 1);
    return isTableFormat(format) ? writeZoneTable(format, all) : writeZones(format, all);
  }
  const where = await whereMarkersAre(session, collection, area);
  const onPart = (part: number): void => void (tally.part = part);
  const read = readMarkers({ collection, area, ...where, call, onPart });
  const all = tally.count(read, ({ length }) => length);
  return isTableFormat(format) ? writeMarkerTable(format, all) : writeMarkers(format, all, escapeFormulas);
}

/** What a terminal shows of a text: names may have control characters. */
async function* shownIn(text: AsyncIterable<string | Buffer>): AsyncGenerator<string> {
  for await (const piece of text) yield printable(String(piece));
}

/** Writes the markers or zones of a collection to a file or to standard output. */
export async function exportRows(options: ExportOptions, format: ExportFormat): Promise<void> {
  const { collection: key, out, zones = false } = options;
  // Throws before the database is opened.
  areaOf(options.bounds);
  // On a terminal that also shows the rows, a bar would be mixed with them.
  const bar = out === undefined && process.stdout.isTTY ? undefined : progressBar(key);
  const tally = new Tally(bar);
  const began = systemClock.now();
  try {
    await withDatabase(async (session) => {
      const { signal, where } = session;
      const collection = await findCollection(session.call, key);
      const text = await exported(session, collection, format, options, tally);
      if (out === undefined) await writeToStream(process.stdout, process.stdout.isTTY ? shownIn(text) : text, signal);
      else await writeToFile(out, isGzip(out) ? zipped(text) : text, signal);
      bar?.end();
      const what = `${grouped(tally.rows)} ${zones ? 'zones' : 'markers'} of ${key}`;
      const target = out === undefined ? '' : ` written to ${out}`;
      console.error(`${what}${target} in ${duration(systemClock.now() - began)}, ${where}`);
    });
  } catch (error) {
    if (error instanceof Interrupted && out !== undefined)
      throw new Interrupted(`${error.message}; ${out} is unchanged`);
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') throw new Interrupted('cellport: output pipe closed');
    throw error;
  } finally {
    bar?.end();
  }
}
