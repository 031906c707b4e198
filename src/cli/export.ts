import type { Config } from '../config.js';
import { CellportError, badInput, notFound } from '../errors.js';
import { type Area, normalizeBounds } from '../geo/bounds.js';
import { writeToFile, writeToStream } from '../ingest/export/output.js';
import { type FileFormat, formatOf } from '../ingest/read/read-file.js';
import { readMarkers } from '../ingest/export/read-markers.js';
import { readZones } from '../ingest/export/read-zones.js';
import { writeMarkers, writeZones } from '../ingest/export/write-format.js';
import { createLog } from '../log.js';
import type { Collection } from '../model/collection.js';
import { getCollections } from '../store/collection/collections.js';
import { newCall } from '../store/request/meter.js';
import { type Prefixes, hasFewPartitions, occupiedPrefixes } from '../store/cell/partition-prefixes.js';
import { type Backend, withBackend } from '../server/backend.js';
import { keepCells, leaveCells } from '../server/cells.js';
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

/** What has been written so far. */
interface Tally {
  rows: number;
  /** The part of the whole, 0 to 1; undefined where nobody knows it. */
  part: number | undefined;
}

/** Hands on what comes and counts it. */
async function* counted<T>(some: AsyncIterable<T>, count: (one: T) => void): AsyncGenerator<T> {
  for await (const one of some) {
    count(one);
    yield one;
  }
}

/** `export`: writes the markers of a collection or its zones, or those inside a rectangle, to a file or to standard output. */
export async function exportFile(config: Config, options: ExportOptions): Promise<void> {
  const { collection: key, out, zones = false } = options;
  const format = options.format ?? (out === undefined ? undefined : formatOf(out));
  if (format === undefined) throw badInput('--format', format, 'given where there is no --out whose name tells it');
  if (zones && format === 'csv') throw badInput('--format', format, 'geojson or ndjson for zones');
  const area = areaOf(options.bounds);
  warnOfUnknown(config, createLog(config.logLevel));
  const stop = onStop();
  const { signal } = stop;
  // On a terminal that takes the rows themselves, a bar would stand between them.
  const bar = out === undefined && process.stdout.isTTY ? undefined : progressBar(key);
  const began = performance.now();
  const tally: Tally = { rows: 0, part: undefined };
  const count = (some: number): void => {
    tally.rows += some;
    if (tally.part !== undefined) bar?.update({ rows: tally.rows, resumed: 0, part: tally.part });
  };

  async function piecesOf(backend: Backend, collection: Collection, as: FileFormat): Promise<AsyncIterable<string>> {
    const { database, objects } = backend;
    const call = { ...newCall(signal), unpriced: true };
    if (zones && as !== 'csv') {
      const geometryStore = { objects, inlineBytes: config.limits.inlineGeometryBytes };
      const all = readZones({ database, geometryStore, collection, area, call });
      return writeZones(
        as,
        counted(all, () => count(1)),
      );
    }
    const prefixes = await prefixesOf(config, backend, collection, signal);
    const all = readMarkers({ database, collection, area, prefixes, call, onPart: (part) => (tally.part = part) });
    return writeMarkers(
      as,
      counted(all, (some) => count(some.length)),
    );
  }

  try {
    await withBackend(config, async (backend) => {
      const [collection] = await getCollections(backend.database, [key], newCall(signal), { consistent: true });
      if (!collection) throw notFound('collection', key);
      const pieces = await piecesOf(backend, collection, format);
      if (out === undefined) await writeToStream(process.stdout, pieces, signal);
      else await writeToFile(out, pieces, signal);
      bar?.end();
      const what = `${grouped(tally.rows)} ${zones ? 'zones' : 'markers'} of ${key}`;
      const target = out === undefined ? '' : ` written to ${out}`;
      console.error(`${what}${target} in ${duration(performance.now() - began)}, ${backend.where}`);
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
