import { stat } from 'node:fs/promises';

import type { Config } from '../config.js';
import { CellportError, badInput, notFound } from '../errors.js';
import { type ReadingCounts, importReadings } from '../ingest/readings/import-readings.js';
import { formatOf } from '../ingest/read/read-file.js';
import { readingReader } from '../ingest/readings/reading-row.js';
import { RejectsFile } from '../ingest/read/rejects.js';
import { createLog } from '../log.js';
import { getCollections } from '../store/collection/collections.js';
import { newCall } from '../store/request/meter.js';
import { checkTables } from '../store/table/table-check.js';
import { ensureTables } from '../store/table/tables.js';
import { type Backend, withBackend } from '../server/backend.js';
import { Interrupted } from './failure.js';
import type { ImportOptions } from './program.js';
import { duration, grouped, progressBar } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

async function bytesOf(path: string): Promise<number> {
  const file = await stat(path).catch((error: Error) => {
    throw badInput('file', path, `one that can be read (${error.message})`);
  });
  if (!file.isFile()) throw badInput('file', path, 'a file');
  return file.size;
}

/** `import --readings`: loads a file of readings, and prints what came of its rows. */
export async function importReadingsFile(config: Config, path: string, options: ImportOptions): Promise<void> {
  const reader = readingReader(path, options.format ?? formatOf(path), options);
  const size = await bytesOf(path);
  warnOfUnknown(config, createLog(config.logLevel));
  const rejects = new RejectsFile(options.rejects ?? `${path}.rejects.ndjson`);
  const stop = onStop();
  const bar = progressBar(options.collection);

  async function load({ database, where }: Backend): Promise<ReadingCounts> {
    const call = newCall(stop.signal);
    await ensureTables(database);
    await checkTables(database);
    const [collection] = await getCollections(database, [options.collection], call, { consistent: true });
    if (!collection) throw notFound('collection', options.collection);
    const counts = await importReadings({
      database,
      collection,
      rows: reader.rows(),
      size,
      rejects,
      now: () => new Date(),
      onProgress: ({ counts: { recorded, expired, rejected }, part }) =>
        bar.update({ rows: recorded + expired + rejected, resumed: 0, part }),
      call,
    });
    bar.end();
    console.log(`${path}, readings of collection ${collection.key}, ${where}`);
    return counts;
  }

  try {
    const began = performance.now();
    const { recorded, expired, rejected } = await withBackend(config, load);
    const all = recorded + expired + rejected;
    console.log(
      `${grouped(all)} rows in ${duration(performance.now() - began)}: ${grouped(recorded)} recorded, ${grouped(expired)} expired, ${grouped(rejected)} rejected`,
    );
    if (rejected > 0) console.log(`rejected rows, with line and reason: ${rejects.path}`);
    if (all > 0 && rejected === all) {
      throw new CellportError('BAD_USER_INPUT', `no row of ${path} is a reading; ${rejects.path} says why`);
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    throw new Interrupted(`${error.message}; the same command begins anew, and what is recorded stays as it is`);
  } finally {
    bar.end();
    stop.release();
  }
}
