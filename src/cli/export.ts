import type { Config } from '../config.js';
import { CellportError, badInput, notFound } from '../errors.js';
import { type Area, normalizeBounds } from '../geo/bounds.js';
import { writeToFile, writeToStream } from '../ingest/output.js';
import { formatOf } from '../ingest/read-file.js';
import { type MarkersJob, readMarkers } from '../ingest/read-markers.js';
import { writeMarkers } from '../ingest/write-format.js';
import { createLog } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import { getCollections } from '../store/collections.js';
import { newCall } from '../store/meter.js';
import { type Prefixes, hasFewPartitions, occupiedPrefixes } from '../store/partition-prefixes.js';
import { type Backend, withBackend } from './backend.js';
import { keepCells, leaveCells } from './cells.js';
import { Interrupted } from './failure.js';
import type { ExportOptions } from './program.js';
import { duration, grouped, progressBar } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

function areaOf(bounds: ExportOptions['bounds']): Area | undefined {
  if (bounds === undefined) return undefined;
  const [west, south, east, north] = bounds;
  return normalizeBounds('--bounds', { west, south, east, north });
}

/**
 * The prefixes below which a collection has markers, by cells that hold all that was written before; undefined where it
 * has so few partitions that all of them can be looked into. Throws UNAVAILABLE where the cells may not be right.
 */
async function prefixesOf(
  config: Config,
  backend: Backend,
  collection: Collection,
  signal: AbortSignal,
): Promise<Prefixes | undefined> {
  if (hasFewPartitions(collection)) return undefined;
  const cells = config.consumer ? keepCells(backend, createLog(config.logLevel)) : leaveCells();
  try {
    await cells.caughtUp(signal);
    if (cells.status().countsExact) return await occupiedPrefixes(backend.database, collection, newCall(signal));
  } finally {
    await cells.stop();
  }
  throw new CellportError(
    'UNAVAILABLE',
    `the markers of ${collection.key} are spread over too many partitions to look into each (prefix length ${collection.prefixLength}), and the cells that tell where they are cannot be relied on: run \`cellport recount\`, with CELLPORT_CONSUMER on`,
  );
}

/** Hands on what comes and counts it. */
async function* counted(
  markers: AsyncIterable<readonly Marker[]>,
  count: (some: number) => void,
): AsyncGenerator<readonly Marker[]> {
  for await (const some of markers) {
    count(some.length);
    yield some;
  }
}

/** `export`: writes the markers of a collection, or those inside a rectangle, to a file or to standard output. */
export async function exportFile(config: Config, options: ExportOptions): Promise<void> {
  const { collection: key, out } = options;
  const format = options.format ?? (out === undefined ? undefined : formatOf(out));
  if (format === undefined) throw badInput('--format', format, 'given where there is no --out whose name tells it');
  const area = areaOf(options.bounds);
  warnOfUnknown(config, createLog(config.logLevel));
  const stop = onStop();
  const { signal } = stop;
  // On a terminal that takes the markers themselves, a bar would stand between them.
  const bar = out === undefined && process.stdout.isTTY ? undefined : progressBar(key);
  const began = performance.now();
  try {
    await withBackend(config, async (backend) => {
      const { database, where } = backend;
      const call = { ...newCall(signal), unpriced: true };
      const [collection] = await getCollections(database, [key], call, { consistent: true });
      if (!collection) throw notFound('collection', key);
      const prefixes = await prefixesOf(config, backend, collection, signal);
      let rows = 0;
      let part = 0;
      const job: MarkersJob = { database, collection, area, prefixes, call, onPart: (done) => (part = done) };
      const markers = counted(readMarkers(job), (some) => {
        rows += some;
        bar?.update({ rows, resumed: 0, part });
      });
      const pieces = writeMarkers(format, markers);
      if (out === undefined) await writeToStream(process.stdout, pieces, signal);
      else await writeToFile(out, pieces, signal);
      bar?.end();
      const target = out === undefined ? '' : ` written to ${out}`;
      console.error(`${grouped(rows)} markers of ${key}${target} in ${duration(performance.now() - began)}, ${where}`);
    });
  } catch (error) {
    if (error instanceof Interrupted && out !== undefined)
      throw new Interrupted(`${error.message}; ${out} is as it was`);
    if ((error as NodeJS.ErrnoException).code === 'EPIPE')
      throw new Interrupted('cellport: nobody reads the output any more');
    throw error;
  } finally {
    bar?.end();
    stop.release();
  }
}
