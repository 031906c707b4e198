import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { Database, Item } from '../store/database.js';
import { newMarkerItem } from '../store/marker-item.js';
import { checkImportedKey } from '../store/marker-keys.js';
import { Places } from './place.js';
import type { RejectsFile } from './rejects.js';
import type { RowSource } from './row-source.js';
import type { MarkerRow, Row } from './row.js';
import { SeenKeys } from './seen-keys.js';

/** How far the rows are checked. */
export interface CheckProgress {
  /** Rows so far. */
  readonly rows: number;
  /** The part of the source, 0 to 1. */
  readonly part: number;
}

export interface CheckJob {
  readonly database: Pick<Database, 'keys'>;
  readonly collection: Collection;
  readonly source: RowSource;
  readonly rejects: RejectsFile;
  readonly signal: AbortSignal | undefined;
  readonly onChecked: (progress: CheckProgress) => void;
}

/** What came of checking all rows. */
export interface Checked {
  /** Of the rows that are markers. */
  readonly places: Places;
  readonly rejected: number;
  /** The greatest of the keys of a collection that counts its markers; 0 without any. */
  readonly greatest: number;
}

/** The item of a row. Throws CellportError where the store would not have it; `now` is RFC 3339 in UTC. */
export function itemOf(job: Pick<CheckJob, 'database' | 'collection'>, marker: MarkerRow, now: string): Item {
  checkImportedKey(job.collection, marker.key);
  return newMarkerItem(job.database, job.collection, marker as Parameters<typeof newMarkerItem>[2], now);
}

/** Why a row is no marker of the collection, undefined where it is one. */
function faultOf(job: CheckJob, { line, content }: Row, seen: SeenKeys): string | undefined {
  if ('reason' in content) return content.reason;
  const { key } = content.marker;
  const before = seen.add(key, line);
  try {
    itemOf(job, content.marker, '');
  } catch (error) {
    if (error instanceof CellportError) return error.message;
    throw error;
  }
  return before === undefined ? undefined : `its key ${JSON.stringify(key)} stands on line ${before} already`;
}

/**
 * Reads all rows and tells which are markers; those that cannot be any, and those whose key stood on an earlier line, go to
 * the rejects file. Nothing is asked of the database. Holds 16 bytes a row when it is through, and some 40 more for each
 * key until then.
 */
export async function checkRows(job: CheckJob): Promise<Checked> {
  const counts = job.collection.idStrategy === 'SEQUENCE';
  const seen = new SeenKeys();
  const places = new Places();
  let rejected = 0;
  let greatest = 0;
  await job.rejects.begin();
  try {
    for await (const rows of job.source.scan()) {
      job.signal?.throwIfAborted();
      const rejects = rows.flatMap((row) => {
        const reason = faultOf(job, row, seen);
        if (reason === undefined) {
          places.push(row);
          if (counts && 'marker' in row.content) greatest = Math.max(greatest, Number(row.content.marker.key));
        }
        return reason === undefined ? [] : [{ line: row.line, reason, row: row.source }];
      });
      await job.rejects.write(rejects);
      rejected += rejects.length;
      const last = rows.at(-1);
      if (last !== undefined) {
        const part = (last.start + last.length) / Math.max(1, job.source.size);
        job.onChecked({ rows: places.count + rejected, part });
      }
    }
  } finally {
    await job.rejects.close();
  }
  return { places, rejected, greatest };
}
