import type { Database } from '../../store/database.js';
import { mapAhead } from '../../store/request/concurrency.js';
import { readMarkerKey } from '../../keys/validate.js';
import { checkImportedKey, countFrom } from '../../store/marker/marker-keys.js';
import type { Call } from '../../store/request/meter.js';
import { type ZoneDraft, draftZone, putZone } from '../../store/zone/zones.js';
import { type CheckJob, checkRows } from '../markers/check-rows.js';
import type { ImportCounts } from '../markers/import-state.js';
import { retryInBackground } from '../../store/request/retries.js';
import type { RowOffset, RowOffsets } from '../read/row-offset.js';
import { watchCollection } from '../markers/watch-collection.js';
import type { ZoneRow } from './zone-row.js';

/** Some are of megabytes. */
const AT_A_TIME = 4;

export interface ZonesJob extends Omit<CheckJob<ZoneRow>, 'signal'> {
  readonly database: Database;
  readonly now: () => Date;
  /** Called after each zone; `part` of them are done, 0 to 1. */
  readonly onProgress: (progress: { readonly counts: ImportCounts; readonly part: number }) => void;
  readonly call: Call;
}

function draftOf({ database, collection }: ZonesJob, row: ZoneRow): Promise<ZoneDraft> {
  checkImportedKey(collection, row.key);
  return draftZone(database, collection, readMarkerKey('key', row.key), row);
}

function* listed(places: RowOffsets): Generator<RowOffset> {
  for (let number = 0; number < places.count; number += 1) yield places.at(number);
}

/**
 * Imports the rows of a source as zones of a collection and gives what came of them. All rows are checked first; then each
 * is compared with what is there, and written where it differs: the same file again writes nothing, and an import that was
 * interrupted writes what is lacking. A few zones are held at a time, and some 60 bytes a row. Throttling is waited out.
 * Rejects with the signal's reason when the call is aborted.
 */
export async function importZones(job: ZonesJob): Promise<ImportCounts> {
  const { database, collection, source } = job;
  try {
    const rules = { keyOf: ({ key }: ZoneRow) => key, check: async (row: ZoneRow) => void (await draftOf(job, row)) };
    const { places, rejected, greatest } = await checkRows({ ...job, signal: job.call.signal }, rules);
    const watch = await watchCollection(database, collection, job.call);
    try {
      if (greatest > 0) await countFrom(database, collection, greatest, watch.call, 'zone');
      const counts = { created: 0, updated: 0, unchanged: 0, rejected };
      const put = async (place: RowOffset) => {
        watch.call.signal?.throwIfAborted();
        const [row] = await source.read([place]);
        if (row === undefined) throw new Error('a source gives a row for every place');
        const draft = await draftOf(job, row);
        const reference = { collection, key: row.key };
        const now = job.now().toISOString();
        return retryInBackground(() => putZone(database, reference, draft, now, watch.call), watch.call.signal);
      };
      let done = 0;
      for await (const outcome of mapAhead(listed(places), AT_A_TIME, put)) {
        counts[outcome] += 1;
        done += 1;
        job.onProgress({ counts: { ...counts }, part: done / places.count });
      }
      return counts;
    } finally {
      await watch.stop();
    }
  } finally {
    await source.close();
  }
}
