import { readMarkerKey } from '../../keys/validate.js';
import { whileCollectionExists } from '../../store/collection/watch-collection.js';
import { checkImportedKey, countFrom } from '../../store/marker/marker-keys.js';
import { mapAhead, retryInBackground } from '../../store/request/pacing.js';
import { putZone } from '../../store/zone/zone-changes.js';
import { draftZone, type ZoneDraft } from '../../store/zone/zones.js';
import { checkRows, type CheckJob } from '../check-rows.js';
import type { ImportCounts } from '../markers/import-state.js';
import type { RowOffset } from '../read/row.js';
import type { ZoneRow } from './zone-row.js';

/** A small number, because a zone can have megabytes. */
const ZONES_AT_A_TIME = 4;

export interface ZonesJob extends CheckJob<ZoneRow> {
  readonly now: () => Date;
  /** Called after each zone; `part` is the fraction completed, 0 to 1. */
  readonly onProgress: (progress: { readonly counts: ImportCounts; readonly part: number }) => void;
}

async function draftOf({ call, collection }: ZonesJob, row: ZoneRow): Promise<ZoneDraft> {
  checkImportedKey(collection, row.key);
  return draftZone(call.db, collection, readMarkerKey('key', row.key), row);
}

async function writeZone(job: ZonesJob, offset: RowOffset) {
  const { collection, source, call } = job;
  call.signal?.throwIfAborted();
  const [row] = await source.read([offset]);
  if (row === undefined) throw new Error('the source returned no row for an offset');
  const draft = await draftOf(job, row);
  const now = job.now().toISOString();
  const reference = { collection, key: row.key };
  return retryInBackground(() => putZone(call, reference, draft, now), call.signal);
}

/**
 * Imports the rows of a source as zones of a collection. All rows are checked first; then each is compared with the
 * existing zone and written if it differs. Repeating an import writes nothing, or after an interruption only what is
 * missing. Memory holds a few zones, and about 60 bytes per row. Rejects with the signal's reason on abort.
 */
export async function importZones(job: ZonesJob): Promise<ImportCounts> {
  const { source } = job;
  try {
    const { collection, offsets, rejected, greatest } = await checkRows(job, (row) => draftOf(job, row));
    const counts = { created: 0, updated: 0, unchanged: 0, rejected };
    // Without a valid row, there may be no collection.
    if (offsets.count === 0) return counts;
    return await whileCollectionExists(job.call, collection, async (call) => {
      if (greatest > 0) await countFrom(call, collection, greatest, 'zone');
      let done = 0;
      for await (const outcome of mapAhead(offsets, ZONES_AT_A_TIME, (offset) =>
        writeZone({ ...job, collection, call }, offset),
      )) {
        counts[outcome] += 1;
        done += 1;
        job.onProgress({ counts: { ...counts }, part: done / offsets.count });
      }
      return counts;
    });
  } finally {
    await source.close();
  }
}
